"""The estimate of a generation: as many calls as it makes, and about as many tokens."""

import pytest

from rag_evaluation_framework import ChunkLevelDataGenerator, RecursiveCharacterChunker, TokenLevelDataGenerator, demo
from rag_evaluation_framework.authoring.models import NoAnswerQuestions, RealQuestions, SimpleQuestions
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components.llms import LanguageModel
from rag_evaluation_framework.components.providers import track_usage
from support.scripted_llm import ScriptedModel, question_of, sentences


class Able(ScriptedModel):
    """Finds no answer to what it asks without one."""

    def __call__(self, request):
        if "should return nothing" in request.messages[0][1]:
            first = next(iter(sentences(request.prompt)), request.prompt[-200:])
            return {"questions": [{"question": f"Missing: {question_of(first)}"}]}
        return {"answer": "no"} if "Question: Missing" in request.prompt else super().__call__(request)


KINDS = {
    "spans": (TokenLevelDataGenerator, {}),
    "unchecked": (TokenLevelDataGenerator, {"check_answers": False}),
    "chunks": (ChunkLevelDataGenerator, {"chunker": RecursiveCharacterChunker(chunk_size=300)}),
    "users": (TokenLevelDataGenerator, {"strategies": [RealQuestions(("where are chunks cut", "recall"))]}),
    "no answer": (TokenLevelDataGenerator, {"strategies": [NoAnswerQuestions(), SimpleQuestions()]}),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_calls_are_those_that_are_made_and_the_tokens_are_about_right(served, name):
    kind, options = KINDS[name]
    providers, client = served(Able())
    generator = kind(LanguageModel(client, "a-model", price_in=1, price_out=2), demo.load_handbook().corpus, **options)
    with collect_notes(), track_usage() as usage:
        estimate = generator.estimate(1)
        assert providers.exchanges == []
        generator.generate(1, upload_to_langsmith=False)
    assert estimate.questions == generator.funnel.asked
    lost = sum(generator.funnel.rejected["verified"].values())
    assert usage.total.requests <= estimate.calls <= usage.total.requests + lost
    assert estimate.input_tokens == pytest.approx(usage.total.input_tokens, rel=0.5)
    assert estimate.cost == pytest.approx(estimate.input_tokens / 1e6 + 2 * estimate.output_tokens / 1e6)


def test_without_prices_there_is_no_cost(served, pages):
    estimate = TokenLevelDataGenerator(served()[1], pages).estimate(2)
    assert (estimate.questions, estimate.calls, estimate.cost) == (6, 3 + 6 + 6, None)
