"""What a generation is estimated to need, and what a server then counts."""

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    Corpus,
    Document,
    DocumentId,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
    demo,
)
from rag_evaluation_framework._support.notes import collected
from rag_evaluation_framework.llms import LanguageModel
from rag_evaluation_framework.providers import track_usage
from rag_evaluation_framework.synthesis import CrossDocumentQuestions, MultiPassageQuestions, SimpleQuestions
from support.scripted_llm import PASSAGE, ScriptedModel

STRATEGIES = [SimpleQuestions(), MultiPassageQuestions(), CrossDocumentQuestions()]


def long_questions(answer, request):
    longer = " and what is to be said about it in all the cases that are told of there" * 4
    return {"questions": [{**each, "question": each["question"] + longer} for each in answer["questions"]]}


class Wordy(ScriptedModel):
    """Writes long questions, quotes all that it is shown, and explains its verdict."""

    def __init__(self):
        super().__init__(questions=long_questions, verdict=lambda question: "Yes, " + "they do say it, " * 9)

    def __call__(self, request):
        text = request.messages[-1][1]
        if "Number of questions" in text or "<excerpt>" in text:
            return super().__call__(request)
        return {"quotes": [shown for _, shown in PASSAGE.findall(text)]}


MODELS = {
    "short": lambda: ScriptedModel(questions=lambda answer, request: {"questions": []}),
    "medium": ScriptedModel,
    "maximal": Wordy,
}


def generator_of(kind, client, corpus, **options):
    model = LanguageModel(client, "a-model", price_in=2.0, price_out=8.0)
    given = {"strategies": STRATEGIES, **options}
    if kind == "chunk":
        return ChunkLevelDataGenerator(model, corpus, RecursiveCharacterChunker(chunk_size=300), **given)
    return TokenLevelDataGenerator(model, corpus, **given)


@pytest.mark.parametrize("kind", ["token", "chunk"])
@pytest.mark.parametrize("answers", MODELS)
@pytest.mark.parametrize("check_answers", [True, False])
def test_what_a_server_counts_lies_within_the_estimate(served, kind, answers, check_answers):
    corpus = demo.load_handbook().corpus
    providers, client = served(MODELS[answers]())
    generator = generator_of(kind, client, corpus, check_answers=check_answers, section_size=2000)
    estimate = generator.estimate(3)
    assert providers.exchanges == []
    with collected(), track_usage() as usage:
        generator.generate(3, upload_to_langsmith=False)
    total = usage.total
    assert total.requests == len(providers.exchanges)
    assert estimate.questions == generator.funnel.asked
    for counted, within in (
        (total.requests, estimate.calls),
        (total.input_tokens, estimate.input_tokens),
        (total.output_tokens, estimate.output_tokens),
        (total.cost, estimate.cost),
    ):
        assert within.least <= counted <= within.most
        assert within.least <= within.usual <= within.most


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


def test_texts_without_spaces_and_of_marks_are_estimated_too(served):
    texts = {"a.txt": "返金は五日以内に行われます。" * 50, "b.txt": "|---|---|\n" * 100, "c.txt": "a b c d e f. " * 100}
    corpus = Corpus(Document(DocumentId(name), text) for name, text in texts.items())
    _, client = served(ScriptedModel(questions=lambda answer, request: {"questions": []}))
    generator = TokenLevelDataGenerator(client, corpus)
    estimate = generator.estimate(1)
    with collected(), track_usage() as usage:
        generator.generate(1, upload_to_langsmith=False)
    assert estimate.input_tokens.least <= usage.total.input_tokens <= estimate.input_tokens.most
