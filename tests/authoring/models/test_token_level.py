"""Questions with spans: a scripted model behind the real SDKs asks and quotes, and code finds the quotes."""

import asyncio
import json

import pytest

from rag_evaluation_framework import (
    TOKEN,
    ChunkLevelDataGenerator,
    Corpus,
    Document,
    DocumentId,
    TokenLevelDataGenerator,
)
from rag_evaluation_framework.authoring.models import Funnel, SimpleQuestions
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components.llms import AnthropicClient, LanguageModel
from rag_evaluation_framework.components.providers import track_usage
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.errors import ConfigError, CorpusError
from support.provider_clients import client_of
from support.scripted_llm import ScriptedModel, question_of

CHAT = "POST /v1/chat/completions"
CHEAP = {"upload_to_langsmith": False}


LONGER = "The warranty of all products begins on the day of delivery."
LINE = "Every request needs a token of the new kind."
GONE = f"~~{LINE}~~"
REFUND = "Refunds take five working days."
TWO_PARTS = f"{REFUND} … Invoices are sent monthly."
UNSEEN, STRUCK_OUT = "quote of text that readers do not see", "quote of text that is struck out"


def generated(client, corpus, queries_per_doc=2, **options):
    """Return a generator after it has generated, with its dataset and what was noted."""
    generator = TokenLevelDataGenerator(client, corpus, **{"embedder": None, **options})
    with collect_notes() as notes:
        dataset = generator.generate(queries_per_doc, **CHEAP)
    return generator, dataset, [*notes]


def holds(dataset, corpus):
    """Assert that every span is a slice of its document, and not empty."""
    for entry in dataset:
        assert entry.labels
        for span in entry.labels:
            assert corpus[span.doc_id].content[span.start : span.end] == span.text != ""


def adds_up(generator):
    funnel, lost = generator.funnel, [each for each in generator.rejections if each.questions]
    assert funnel.asked == funnel.kept + sum(each.questions for each in lost)
    assert funnel.asked >= funnel.parsed >= funnel.verified >= funnel.kept >= 0
    for stage, before, after in (
        ("parsed", funnel.asked, funnel.parsed),
        ("verified", funnel.parsed, funnel.verified),
        ("kept", funnel.verified, funnel.kept),
    ):
        assert before - after == sum(each.questions for each in lost if each.stage == stage)
        assert before - after == sum(funnel.rejected[stage].values())
    assert all(each.reason for each in generator.rejections)


# --- what is generated ------------------------------------------------------------------------------------------------


def test_questions_have_the_spans_that_the_model_quoted_and_the_registry_has_them_as_chunks(served, pages):
    _, client = served()
    generator, dataset, notes = generated(client, pages)
    assert [entry.query.text for entry in dataset][:2] == [
        question_of("Invoices are sent on the first day of the month."),
        question_of("Refunds take **five** days."),
    ]
    assert dataset.level is TOKEN
    assert dataset.ground_truth[1].relevant[0].text == "Refunds take **five** days."
    holds(dataset, pages)
    assert generator.funnel == Funnel(6, 6, 6, 6, {"parsed": {}, "verified": {}, "kept": {}})
    assert notes == []
    for span in (span for entry in dataset for span in entry.labels):
        (chunk,) = [chunk for chunk in generator.chunk_registry if chunk.to_span() == span]
        assert generator.chunk_registry.get_span(chunk.id).text == span.text
        assert chunk.id.startswith("pa_chunk_")


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic"])
def test_every_sdk_gives_the_same_questions(served, pages, kind, tmp_path):
    providers, client = served()
    expected = generated(client, pages, root=tmp_path / "other")[1]
    with client_of(kind, providers.url) as other:
        other = AnthropicClient(client=other) if "Anthropic" in kind else other
        dataset = generated(other, pages, model="a-model")[1]
    assert dataset.content_hash == expected.content_hash


def test_the_metadata_says_where_a_question_comes_from(served, pages):
    _, client = served()
    _, dataset, _ = generated(client, pages, model="some-model")
    told = dataset.queries[0].metadata
    versions = told["prompt_versions"]
    assert {key: value for key, value in told.items() if key != "prompt_versions"} == {
        "source_docs": ["billing.md"],
        "generation_model": "some-model",
        "generation_type": "synthetic",
        "strategy": "SimpleQuestions",
    }
    assert [version.split("@")[0] for version in versions] == ["simple", "questions", "quotes", "answerable"]
    generation = dataset.metadata["generation"]
    assert generation["funnel"]["kept"] == len(dataset)
    assert generation["filters"] == {"embedder": None}
    assert generation["strategies"] == [
        {"type": "rag_evaluation_framework.authoring.models.strategies:SimpleQuestions"}
    ]
    assert json.loads(json.dumps(generation)) == generation


def test_what_stands_in_several_documents_has_each_as_a_place(served, pages):
    _, client = served(ScriptedModel())
    _, dataset, _ = generated(client, pages, queries_per_doc=3)
    (answer,) = next(entry for entry in dataset if "support" in entry.query.text).answers
    assert isinstance(answer, Answer)
    assert [place[0].doc_id for place in answer.places] == ["guides/start.md", "guides/stop.md"]


def test_two_runs_give_the_same_also_side_by_side_and_the_second_asks_for_nothing(served, pages, tmp_path):
    providers, client = served()
    first, dataset, _ = generated(client, pages, max_concurrency=1)
    asked = len(providers.exchanges)
    with track_usage() as usage:
        second, again, _ = generated(client, pages, max_concurrency=1)
    assert (dataset, first.funnel, first.rejections) == (again, second.funnel, second.rejections)
    assert dataset.metadata == again.metadata
    assert [query.id for query in dataset.queries] == [query.id for query in again.queries]
    assert (usage.total.requests, len(providers.exchanges)) == (0, asked)
    assert asked == 3 + 6 + 6
    providers.fault(CHAT, delay=0.05, times=3)
    _, together, _ = generated(client, pages, root=tmp_path / "together", max_concurrency=8)
    assert (together, together.metadata) == (dataset, dataset.metadata)
    generator = TokenLevelDataGenerator(client, pages, root=tmp_path / "other", embedder=None)
    assert asyncio.run(generator.agenerate(2, upload_to_langsmith=False)) == dataset


def test_a_long_document_is_asked_about_to_its_end(served):
    text = "\n\n".join(f"The value of setting number {number} is {number * 7}." for number in range(2000))
    assert len(text) > 70_000
    corpus = Corpus([Document(DocumentId("long.txt"), text)])
    _, client = served()
    _, dataset, _ = generated(client, corpus, queries_per_doc=6)
    starts = [entry.relevant[0].start for entry in dataset]
    assert starts[0] < 10_000
    assert starts[-1] > 50_000
    holds(dataset, corpus)


# --- what is not taken ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quote", "reason", "detail"),
    [
        ("Refunds take six **days**.", "quote not in the documents", "nearest passage"),
        ("Restart the server once.", "quote not in what was shown", ""),
        ("", "no quote", ""),
        ("   ", "no quote", ""),
    ],
)
def test_a_question_without_a_quote_that_is_found_is_rejected_with_the_reason(served, pages, quote, reason, detail):
    _, client = served(
        ScriptedModel(lambda sentence, request: {"quotes": [quote if "Refunds" in sentence else sentence]})
    )
    generator, dataset, notes = generated(client, pages)
    assert question_of("Refunds take **five** days.") not in [query.text for query in dataset.queries]
    (rejection,) = generator.rejections
    assert (rejection.stage, rejection.reason, rejection.questions) == ("verified", reason, 1)
    assert detail in rejection.detail
    assert ("Refunds take **five** days." in rejection.detail) is bool(detail)
    assert rejection.doc_ids == ("billing.md",)
    assert notes == [f"asked 6, parsed 6, verified 5, kept 5 (not kept: 1 {reason})"]
    adds_up(generator)


def test_quotes_are_found_as_readers_see_them_and_one_that_is_not_found_is_left_out_beside_one_that_is(served, pages):
    def quote(sentence, request):
        shown = sentence.replace("**", "").replace(" ", "\n", 1).upper()
        return {"quotes": [shown, "Nothing of the kind is here."]}

    _, client = served(ScriptedModel(quote))
    generator, dataset, notes = generated(client, pages)
    assert len(dataset) == 6
    assert all(len(entry.answers) == 1 for entry in dataset)
    assert dataset.ground_truth[1].relevant[0].text == "Refunds take **five** days."
    holds(dataset, pages)
    assert generator.funnel.quotes == {"quote not in the documents": 6}
    assert len(generator.rejections) == 6
    assert notes == ["asked 6, parsed 6, verified 6, kept 6; left out of questions: 6 quote not in the documents"]
    adds_up(generator)


@pytest.mark.parametrize(
    ("texts", "quote", "labels", "rejected"),
    [
        ([f"<p>Shown to everybody here.</p><!-- {REFUND} -->"], REFUND, [], [("a.md", UNSEEN)]),
        ([f"<p>{REFUND}</p><!-- Invoices are sent monthly. --><p>No more.</p>"], TWO_PARTS, [], [("a.md", UNSEEN)]),
        ([f"<p>Shown here.</p><p><del>{REFUND}</del></p>"], REFUND, [], [("a.md", STRUCK_OUT)]),
        ([f"{REFUND}\n\n~~Invoices are sent monthly.~~\n"], TWO_PARTS, [], [("a.md", STRUCK_OUT)]),
        # and a copy is no other place of an answer
        ([LINE, f"<p>Else.</p><!-- {LINE} --><p>More.</p>"], LINE, [("a.md", 0)], [("b.md", UNSEEN)]),
        ([f"{LINE}\n\nElse.\n\n{GONE}\n", f"{GONE}\n\nElse.\n"], LINE, [("a.md", 0)], [("b.md", STRUCK_OUT)]),
    ],
    ids=["hidden", "a part hidden", "struck out", "a part struck out", "a hidden copy", "copies that are struck out"],
)
def test_what_readers_do_not_see_or_is_struck_out_answers_nothing(served, texts, quote, labels, rejected):
    corpus = Corpus([Document(DocumentId(f"{name}.md"), text) for name, text in zip("ab", texts, strict=False)])
    _, client = served(ScriptedModel(lambda sentence, request: {"quotes": [quote]}))
    generator, dataset, _ = generated(client, corpus, queries_per_doc=1, check_answers=False)
    assert [(span.doc_id, span.start) for entry in dataset for span in entry.labels] == labels
    assert [(*each.doc_ids, each.reason) for each in generator.rejections] == rejected


def test_no_question_is_lost_to_one_that_is_not_kept_itself(served):
    text = "Bills are stored for {} years here. They are kept in {}."
    texts = {"a.md": text.format("ten", "Berlin"), "b.md": text.format("7", "Rome")}
    corpus = Corpus([Document(DocumentId(name), content) for name, content in texts.items()])

    def answered(request):
        last = request.messages[-1][1]
        if "Number of questions" in last:
            return {"questions": [{"question": "How long?"}]}
        if "<excerpt" in last:
            return {"answer": "no" if "ten" in last else "yes"}
        return {"quotes": [f"Bills are stored for {'ten' if 'ten' in last else '7'} years here."]}

    _, client = served(answered)
    generator, dataset, _ = generated(client, corpus, queries_per_doc=1)
    assert [entry.labels[0].doc_id for entry in dataset] == ["b.md"]
    assert generator.funnel.rejected["kept"] == {"not answered": 1}


@pytest.mark.parametrize(
    ("quoted", "kept"),
    [
        ({"1": ["1 years"], "2": ["2 years"]}, 0),  # short texts, which say something else of each
        ({"1": ["one year"], "2": ["one year"]}, 0),  # the same words, of another product
        ({"1": [LONGER], "2": [LONGER]}, 1),
        ({"1": [LONGER, "1 years"], "2": [LONGER, "2 years"]}, 1),
        ({"1": ["1 years"], "2": ["2 years", LONGER], "3": [LONGER]}, 0),  # two of them differ, so all go
    ],
)
def test_the_same_words_are_the_same_question_only_if_the_same_text_answers_them(served, quoted, kept):
    text = "Product {0} has {0} years, and never less than one year in all.\n\n" + LONGER
    corpus = Corpus([Document(DocumentId(f"{n}.md"), text.format(n)) for n in quoted])

    def answered(request):
        last = request.messages[-1][1]
        if "Number of questions" in last:
            return {
                "questions": [
                    {"question": "How long is the warranty?" if '"1.md"' in last else "HOW LONG is the warranty"}
                ]
            }
        return {"answer": "yes"} if "<excerpt" in last else {"quotes": quoted[last.split('"')[1][0]]}

    _, client = served(answered)
    generator, dataset, _ = generated(client, corpus, queries_per_doc=1)
    assert len(dataset) == kept
    reason = "same question again" if kept else "same question with another answer"
    assert generator.funnel.rejected["kept"] == {reason: len(quoted) - kept}
    adds_up(generator)


@pytest.mark.parametrize(("said", "reason"), [("partly", "answered only in part"), ("no", "not answered")])
def test_what_the_excerpts_do_not_answer_in_full_is_rejected_by_the_second_call(served, pages, said, reason):
    _, client = served(ScriptedModel(verdict=lambda question: {"answer": said if "refunds" in question else "yes"}))
    generator, dataset, _ = generated(client, pages)
    assert len(dataset) == 5
    assert generator.funnel.rejected["kept"] == {reason: 1}
    adds_up(generator)


def test_the_second_call_sees_the_excerpts_and_nothing_else_of_the_documents_and_can_be_left_out(served, pages):
    providers, client = served()
    _, dataset, _ = generated(client, pages, check_answers=False)
    assert (len(dataset), len(providers.exchanges)) == (6, 3 + 6)
    assert dataset.metadata["generation"]["check_answers"] is False
    generated(client, pages)
    checks = [exchange.request.json for exchange in providers.exchanges if "<excerpt" in str(exchange.request.json)]
    assert len(checks) == 6
    refunds = next(check["messages"][1]["content"] for check in checks if "Refunds" in str(check))
    assert "Invoices" not in refunds


@pytest.mark.parametrize(
    ("written", "kept", "lost"),
    [
        (lambda asked: [*asked, {"question": "And what is more?"}], 6, {}),
        (lambda asked: asked[:1], 3, {"fewer written than asked for": 3}),
    ],
    ids=["more", "fewer"],
)
def test_what_is_written_beyond_what_was_asked_for_is_not_used_and_what_is_not_is_counted(
    served, pages, written, kept, lost
):
    _, client = served(ScriptedModel(questions=lambda answer, request: {"questions": written(answer["questions"])}))
    generator, dataset, _ = generated(client, pages)
    assert (len(dataset), generator.funnel.asked) == (kept, 6)
    assert generator.funnel.rejected["parsed"] == lost
    adds_up(generator)


# --- what fails -------------------------------------------------------------------------------------------------------


def test_a_failed_request_for_questions_loses_one_document_and_one_for_quotes_or_a_check_one_question(served, pages):
    def questions(answer, request):
        return "I am sorry." if "Install" in request.prompt else answer

    def quote(sentence, request):
        return "prose" if "Refunds" in sentence else {"quotes": [sentence]}

    def verdict(question):
        return {"answer": "perhaps" if "account" in question else "Yes."}

    _, client = served(ScriptedModel(quote, questions=questions, verdict=verdict))
    generator, dataset, _ = generated(client, pages)
    assert [query.metadata["source_docs"] for query in dataset.queries] == [["billing.md"], ["guides/stop.md"]]
    told = {each.reason: (each.questions, each.doc_ids) for each in generator.rejections}
    assert told == {
        "request failed": (2, ("guides/start.md",)),
        "request for quotes failed": (1, ("billing.md",)),
        "could not be checked": (1, ("guides/stop.md",)),
    }
    assert "no JSON in 'I am sorry.'" in generator.rejections[0].detail
    adds_up(generator)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": " "}, "expected the name of a model"),
        ({"strategies": []}, r"expected a list, such as \[SimpleQuestions"),
        ({"strategies": ["simple"]}, "expected an instance of QuestionStrategy"),
        ({"strategies": "simple"}, "expected a list"),
        ({"section_size": 0}, "section_size=0"),
        ({"max_concurrency": 0}, "max_concurrency=0"),
        ({"check_answers": "no"}, "expected True or False"),
        ({"embedder": "lsa"}, "embedder"),
        ({"relevance_threshold": 2}, "relevance_threshold"),
        ({"dedup_threshold": "high"}, "dedup_threshold"),
        ({"dedup_threshold": True}, "dedup_threshold"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_asked(served, pages, options, message):
    providers, client = served()
    with pytest.raises(ConfigError, match=message):
        TokenLevelDataGenerator(client, pages, **options)
    assert providers.exchanges == []


@pytest.mark.parametrize("name", ["", "a/b", "..", "questions.json", 3])
def test_a_name_that_no_dataset_can_have_is_refused(served, pages, name):
    providers, client = served()
    with pytest.raises(ConfigError, match="dataset_name"):
        TokenLevelDataGenerator(client, pages).generate(dataset_name=name)
    assert providers.exchanges == []


def test_what_is_no_client_or_no_corpus_is_refused_and_only_chunks_depend_on_a_chunker(served, pages):
    _, client = served()
    with pytest.raises(ConfigError, match="expected a client"):
        TokenLevelDataGenerator("gpt", pages)
    with pytest.raises(CorpusError):
        TokenLevelDataGenerator(client, Corpus([]))
    with pytest.raises(ConfigError, match="name of one of Anthropic's models"):
        TokenLevelDataGenerator(AnthropicClient(), pages)
    with pytest.raises(ConfigError, match="give one"):
        TokenLevelDataGenerator(LanguageModel(client, "one"), pages, model="two")
    with pytest.raises(TypeError, match="chunker"):
        TokenLevelDataGenerator(client, pages, chunker=None)
    with pytest.raises(TypeError, match="chunker"):
        ChunkLevelDataGenerator(client, pages)


def test_a_language_model_brings_its_own_settings(served, pages):
    providers, client = served()
    model = LanguageModel(client, "a-model", max_tokens=77, structure="json_object")
    assert len(generated(model, pages, strategies=[SimpleQuestions()])[1]) == 6
    bodies = [exchange.request.json for exchange in providers.exchanges]
    assert {(body["model"], body["max_completion_tokens"]) for body in bodies} == {("a-model", 77)}
    assert {body["response_format"]["type"] for body in bodies} == {"json_object"}


def test_braces_and_dollars_of_documents_reach_the_model_unchanged(served):
    text = "Use {wish} and {count} and ${HOME} as they are written here, and {} too.\n"
    providers, client = served()
    corpus = Corpus([Document(DocumentId("a{b}.txt"), text)])
    _, dataset, _ = generated(client, corpus, queries_per_doc=1)
    assert dataset.ground_truth[0].relevant[0].text == text.strip()
    assert text.strip() in providers.exchanges[0].request.json["messages"][1]["content"]
