"""What a generation is estimated to need, and what a server then counts."""

import json
import random
from pathlib import Path

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    Corpus,
    Document,
    DocumentId,
    LsaEmbedder,
    OpenAIEmbedder,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
    demo,
)
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.embedders import CachedEmbedder
from rag_evaluation_framework.llms import LanguageModel
from rag_evaluation_framework.llms.language_model import strict_schema
from rag_evaluation_framework.providers import track_usage
from rag_evaluation_framework.synthesis import (
    CrossDocumentQuestions,
    MultiPassageQuestions,
    NoAnswerQuestions,
    RealQuestions,
    SimpleQuestions,
)
from rag_evaluation_framework.synthesis.asking import (
    AskedQuestions,
    CitedChunks,
    CitedQuestions,
    Numbers,
    Quotes,
    Verdict,
)
from rag_evaluation_framework.synthesis.generation import Steps
from rag_evaluation_framework.synthesis.token_level import TokenLabeller
from support.nightly import first_of, nightly
from support.scripted_llm import CHUNK, PASSAGE, ScriptedModel

STRATEGIES = [
    SimpleQuestions(),
    MultiPassageQuestions(),
    CrossDocumentQuestions(),
    NoAnswerQuestions(),
    RealQuestions(("the same is told about", "when are refunds made", "word7")),
]
WORDS = "and what is to be said about it in all of the cases that are told of there "


def no_questions(answer, request):
    return {"questions": []}


class Wordy(ScriptedModel):
    """Writes questions of a hundred words, quotes or names all that it is shown, and explains its verdict."""

    def __init__(self, pieces):
        def verdict(question):
            answer = "no" if "open question" in question else "yes"
            return {"missing": "Nothing that they say. " * 30, "answer": answer}

        super().__init__(verdict=verdict, numbers=lambda question, request: {"numbers": [*range(60)]})
        self.pieces = pieces

    def __call__(self, request):
        text = request.messages[-1][1]
        ids = [chunk_id for chunk_id, _ in CHUNK.findall(text)]
        if "<excerpt" in text:
            return super().__call__(request)
        if "Number of questions" not in text:
            quotes = [piece for _, shown in PASSAGE.findall(text) for piece in self.pieces(shown)]
            return {"chunk_ids": ids} if ids else {"quotes": quotes}
        count = int(text.rpartition(":")[2])
        name = text.split("\n")[0] + (" open" if "should return nothing" in request.prompt else "")
        asked = [f"{name} question {number}: {WORDS * 5}?" for number in range(count)]
        return {"questions": [{"question": question, "chunk_ids": ids} for question in asked]}


def whole(shown):
    return [shown[: len(shown) * 8 // 10]]  # of more it is plain that it is no answer


def sentence_by_sentence(shown):
    return [piece for line in shown.splitlines() for piece in line.replace("。", ".").split(".") if piece.strip()]


MODELS = {
    "none": lambda: ScriptedModel(questions=no_questions),
    "short": lambda: ScriptedModel(verdict=lambda question: {"answer": "no"}),
    "medium": ScriptedModel,
    "all at once": lambda: Wordy(whole),
    "all in pieces": lambda: Wordy(sentence_by_sentence),
}


def hashes(seed):
    draw = random.Random(seed)
    return "\n".join(f"{draw.getrandbits(160):040x}.{draw.getrandbits(40)}" for _ in range(12))


TEXTS = {
    "Japanese": "返金は五日以内に行われます。\n請求書は毎月一日に送られます。\n" * 5,
    "emoji": "👩‍👩‍👧‍👦 pays 💶 at once 🎉.\nNobody 🙅🏽‍♀️ waits ⏳ for it 🏁.\n" * 5,
    "Arabic": "تُرسل الفواتير في اليوم الأول من الشهر.\nالاسترداد خلال خمسة أيام.\n" * 5,
    "marks": "|---|:-:|{}[]<>/\\\"'`~!@#$%^&*()_+=|\n" * 8,
    "hashes": hashes(1),
    "lines of one word": "\n".join(f"word{number}." for number in range(40)),
}


def corpora():
    yield "handbook", Corpus(demo.load_handbook().corpus.documents[:5])
    for name, text in TEXTS.items():
        other = f"The same is told about {name}. {text[: len(text) // 2]}"
        yield name, Corpus([Document(DocumentId("a.txt"), text), Document(DocumentId("b.txt"), other)])


CORPORA = dict(corpora())


def generator_of(kind, client, corpus, max_tokens=None, **options):
    model = LanguageModel(client, "a-model", price_in=2.0, price_out=8.0, max_tokens=max_tokens)
    given = {"strategies": STRATEGIES, "section_size": 1000, **options}
    if kind == "chunk":
        return ChunkLevelDataGenerator(model, corpus, RecursiveCharacterChunker(chunk_size=300), **given)
    return TokenLevelDataGenerator(model, corpus, **given)


def check_within(counted, within):
    assert within.least <= counted <= within.most
    assert within.least <= within.usual <= within.most


def check_counts(served, kind, model, corpus, **options):
    """Generate, and check that what the server counted lies within what was estimated before."""
    providers, client = served(MODELS[model]())
    embedder = OpenAIEmbedder("an-embedding-model", client=client, price_in=0.5)
    generator = generator_of(kind, client, corpus, embedder=embedder, copied_share=None, **options)
    with collected():  # users' questions of which no document has a word are noted
        estimate = generator.estimate(3)
    assert providers.exchanges == []
    with collected(), track_usage() as usage:
        generator.generate(3, upload_to_langsmith=False)
    assert usage.total.requests == len(providers.exchanges)
    assert estimate.questions == generator.funnel.asked
    used = {each.model: each for each in usage.models}
    asked, embedded = used["a-model"], used.get("an-embedding-model")
    check_within(asked.requests, estimate.calls)
    check_within(asked.input_tokens, estimate.input_tokens)
    check_within(asked.output_tokens, estimate.output_tokens)
    check_within(0 if embedded is None else embedded.input_tokens, estimate.embedded_tokens)
    check_within(asked.cost + (0 if embedded is None else embedded.cost), estimate.cost)
    return generator


@pytest.mark.parametrize("kind", ["token", "chunk"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", first_of(TEXTS, 2))
def test_what_a_server_counts_lies_within_the_estimate_whatever_the_text(served, kind, model, name):
    check_counts(served, kind, model, CORPORA[name])


@pytest.mark.parametrize("kind", ["token", "chunk"])
@pytest.mark.parametrize("model", ["none", "medium", "all at once"])
@pytest.mark.parametrize("options", [{}, nightly({"check_answers": False}), nightly({"max_tokens": 20_000})])
def test_what_a_server_counts_lies_within_the_estimate_of_many_documents(served, kind, model, options):
    strategies = [each for each in STRATEGIES if "check_answers" not in options or each != NoAnswerQuestions()]
    check_counts(served, kind, model, CORPORA["handbook"], strategies=strategies, **options)


def test_the_longest_answers_are_verified_and_judged(served):
    """Else the tests above would bound what is never asked."""
    generator = check_counts(served, "token", "all in pieces", CORPORA["lines of one word"])
    assert generator.funnel.verified > 0
    generator = check_counts(served, "chunk", "all at once", CORPORA["Japanese"])
    assert generator.funnel.verified > 0


@pytest.mark.parametrize("form", [AskedQuestions, CitedChunks, CitedQuestions, Numbers, Quotes, Verdict])
def test_the_schema_of_a_form_is_in_what_is_counted_around_it(form):
    assert len(json.dumps(strict_schema(form))) < 800


def test_an_embedder_that_is_not_paid_for_is_not_estimated(served, pages):
    _, client = served()
    for embedder in (None, LsaEmbedder()):
        generator = generator_of("token", client, pages, embedder=embedder, strategies=[SimpleQuestions()])
        assert generator.estimate(2).embedded_tokens is None


def test_figures_of_design_need_no_calibration(served, pages):
    _, client = served()
    strategies = [SimpleQuestions(), NoAnswerQuestions()]
    own, other = (
        generator_of("token", client, pages, embedder=OpenAIEmbedder(name, client=client), strategies=strategies)
        .estimate(2)
        .embedded_tokens
        for name in ("text-embedding-3-small", "an-embedding-model")
    )
    given = generator_of(
        "token",
        client,
        pages,
        strategies=strategies,
        embedder=OpenAIEmbedder("an-embedding-model", client=client),
        relevance_threshold=0.3,
        dedup_threshold=0.9,
    )
    assert given.estimate(2).embedded_tokens == own
    assert own.most < other.most


def test_of_questions_that_are_given_the_length_is_known(served, pages):
    _, client = served()
    short, long = (
        generator_of("token", client, pages, strategies=[RealQuestions(texts)], embedder=embedder).estimate(1)
        for embedder in (OpenAIEmbedder("a-model", client=client),)
        for texts in (("refunds", "agent", "data"), ("refunds " * 900, "agent " * 900, "data " * 900))
    )
    for figure in ("input_tokens", "embedded_tokens"):
        least, most = getattr(short, figure), getattr(long, figure)
        assert most.usual - least.usual > 2 * 900
        assert most.most - least.most > 2 * 900 * len("data ")
    assert long.embedded_tokens.usual - short.embedded_tokens.usual < 3 * 900 * len("refunds ") / 2


@pytest.mark.parametrize("copies", [1, 9])
def test_passages_that_repeat_are_embedded_once(served, copies):
    _, client = served(ScriptedModel(verdict=lambda question: {"answer": "no"}))
    text = "Refunds take five days. Invoices are sent in May. " * 20
    corpus = Corpus(Document(DocumentId(f"{n}.txt"), text) for n in range(copies))
    embedder = OpenAIEmbedder("text-embedding-3-small", client=client)
    generator = generator_of("token", client, corpus, embedder=embedder, strategies=[NoAnswerQuestions()])
    estimate = generator.estimate(1).embedded_tokens
    with collected(), track_usage() as usage:
        generator.generate(1, upload_to_langsmith=False)
    (embedded,) = (each for each in usage.models if each.model == embedder.model)
    check_within(embedded.input_tokens, estimate)


def test_the_widest_mark_of_the_documents_counts(served, pages):
    """Of a question without an answer any document may be shown; of another, those that it is about."""
    steps = Steps(TokenLabeller(pages, 1000), True)
    named = Corpus([*pages, Document(DocumentId("n" * 200 + ".md"), "# Long\n\nA word.")])
    wide = Steps(TokenLabeller(named, 1000), True)
    request, other = (
        TokenLevelDataGenerator(served()[1], pages, strategies=[each]).plan(1)[0][1]
        for each in (NoAnswerQuestions(), SimpleQuestions())
    )
    assert wide._mark(request).most > steps._mark(request).most + 150
    assert wide._mark(other).most == steps._mark(other).most


def test_of_usual_answers_the_usual_figure_is_near(served):
    corpus = demo.load_handbook().corpus
    _, client = served()
    generator = generator_of("token", client, corpus, strategies=[SimpleQuestions()])
    estimate = generator.estimate(3)
    with collected(), track_usage() as usage:
        generator.generate(3, upload_to_langsmith=False)
    assert estimate.calls.usual == pytest.approx(usage.total.requests, rel=0.2)
    assert estimate.input_tokens.usual == pytest.approx(usage.total.input_tokens, rel=0.25)


def test_a_limit_of_tokens_bounds_what_is_written(served, pages):
    _, client = served()
    free = TokenLevelDataGenerator(LanguageModel(client, "a-model"), pages).estimate(2)
    bound = TokenLevelDataGenerator(LanguageModel(client, "a-model", max_tokens=10), pages).estimate(2)
    assert bound.output_tokens.most == 10 * bound.calls.most < free.output_tokens.most
    assert free.cost is None


def test_each_step_is_a_part_of_the_estimate(served, pages):
    """The bounds are wide, so that they would not tell of a call that is left out."""
    _, client = served()
    calls = {
        strategy: generator_of("token", client, pages, strategies=[strategy]).estimate(1).calls
        for strategy in (SimpleQuestions(), MultiPassageQuestions(), NoAnswerQuestions())
    }
    simple, several, none = calls.values()
    asked, places = 3, 9
    assert (simple.usual, simple.most) == (asked * 3, asked * 3 + places)  # questions, quotes, and whether they answer
    assert (several.usual, several.most) == (simple.usual + asked, simple.most + asked)
    assert none.most == asked * 2
    many = Corpus(Document(DocumentId(f"{n}.txt"), f"{n} " * 200) for n in range(60))
    steps = Steps(TokenLabeller(many, 1000), True)
    assert len(steps.most_found) == 40


@pytest.mark.parametrize("is_cached", [False, True])
def test_vectors_of_a_provider_are_paid_for_once(served, pages, tmp_path, is_cached):
    providers, client = served(ScriptedModel(verdict=lambda question: {"answer": "no"}))
    own = OpenAIEmbedder("text-embedding-3-small", client=client)
    embedder = CachedEmbedder(own, tmp_path / "own") if is_cached else own
    options = {"strategies": [NoAnswerQuestions()], "root": tmp_path / "root"}

    def asked():
        before = len(providers.exchanges)
        generator = generator_of("token", client, pages, embedder=embedder, **options)
        with collected():
            dataset = generator.generate(2, upload_to_langsmith=False)
        return len(providers.exchanges) - before, dataset

    (first, one), (again, other) = asked(), asked()
    assert first > again == 0
    assert one.content_hash == other.content_hash
    assert "cached" not in str(one.metadata["generation"]["filters"]["embedder"])
    assert [(tmp_path / name / "cache" / "embeddings").exists() for name in ("own", "root")] == [
        is_cached,
        not is_cached,
    ]
    assert not Path(".rag-eval").exists()
