"""Quotes that occur more than once: a call that sees what is around them tells which is meant."""

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId, TokenLevelDataGenerator
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.data import Answer
from rag_evaluation_framework.synthesis.token_level import MOST_PLACES, distinct
from support.scripted_llm import ScriptedModel

TEXT = "Basic plan.\nAnswered within 2 days.\n\nGold plan.\nAnswered within 2 days.\n\nHotline.\nAnswered at once.\n"
QUOTE = "within 2 days"
QUESTION = "How soon are letters of gold customers answered?"


def generated(client, text=TEXT, **options):
    corpus = Corpus([Document(DocumentId("plans.md"), text)])
    generator = TokenLevelDataGenerator(client, corpus, embedder=None, copied_share=None, **options)
    with collected():
        return generator, generator.generate(1, upload_to_langsmith=False)


def model(numbers, quotes=(QUOTE,), seen=None):
    def choose(question, request):
        if seen is not None:
            seen.append(request.messages[-1][1])
        return numbers

    class Model(ScriptedModel):
        def __call__(self, request):
            text = request.messages[-1][1]
            if "Number of questions" in text:
                return {"questions": [{"question": QUESTION}]}
            return super().__call__(request) if "<excerpt" in text else {"quotes": [*quotes]}

    return Model(numbers=choose)


def test_the_place_that_is_meant_is_the_label(served):
    seen = []
    _, client = served(model({"numbers": [2]}, seen=seen))
    generator, dataset = generated(client)
    (span,) = dataset.ground_truth[0].relevant
    assert (span.start, span.text) == (TEXT.rindex(QUOTE), QUOTE)
    assert generator.funnel.kept == 1
    (shown,) = seen
    assert "Gold plan.\nAnswered ⟦within 2 days⟧." in shown
    assert '<excerpt number="2" document="plans.md">' in shown
    assert "places@" in str(dataset.queries[0].metadata["prompt_versions"])


def test_several_places_that_answer_are_alternatives(served):
    _, client = served(model({"numbers": [2, 1, 2, 9, 0]}))
    _, dataset = generated(client)
    (answer,) = dataset.ground_truth[0].answers
    assert isinstance(answer, Answer)
    assert sorted(place[0].start for place in answer.places) == [TEXT.index(QUOTE), TEXT.rindex(QUOTE)]


@pytest.mark.parametrize("numbers", [{"numbers": []}, {"numbers": [7]}, "none of them", {"numbers": ["two"]}])
def test_where_it_cannot_be_told_the_quote_is_rejected(served, numbers):
    _, client = served(model(numbers))
    generator, dataset = generated(client)
    assert len(dataset) == 0
    assert generator.funnel.rejected["verified"] == {"ambiguous quote": 1}
    assert "2 places in what was shown: within 2 days" in generator.rejections[0].detail


def test_of_more_places_than_can_be_shown_nothing_is_asked(served):
    providers, client = served(model({"numbers": [1]}))
    generator, _ = generated(client, "".join(f"Plan {n}.\nAnswered within 2 days.\n\n" for n in range(MOST_PLACES + 1)))
    assert generator.funnel.rejected["verified"] == {"ambiguous quote": 1}
    assert len(providers.exchanges) == 2


def test_a_long_text_that_occurs_twice_needs_no_question(served):
    sentence = "Letters of all customers are answered within two working days."
    text = f"Basic plan.\n\n{sentence}\n\nGold plan.\n\n{sentence}\n"
    providers, client = served(model({"numbers": [1]}, [sentence]))
    _, dataset = generated(client, text)
    assert len(dataset.ground_truth[0].answers[0].places) == 2
    assert len(providers.exchanges) == 3


def test_emphasis_makes_no_other_text(served):
    sentence = "Letters of all customers are answered within two working days."
    text = f"Basic plan.\n\n{sentence}\n\nGold plan.\n\n{sentence.replace('two', '**two**')}\n"
    providers, client = served(model({"numbers": [1]}, [sentence]))
    _, dataset = generated(client, text)
    assert len(dataset.ground_truth[0].answers[0].places) == 2
    assert len(providers.exchanges) == 3


def test_a_quote_of_two_parts_is_not_taken_if_one_is_struck_out(served):
    text = "Refunds take five days.\n\n~~Invoices are sent monthly.~~\n"
    _, client = served(model({"numbers": []}, ["Refunds take five days. … Invoices are sent monthly."]))
    generator, _ = generated(client, text)
    assert generator.funnel.rejected["verified"] == {"quote of text that is struck out": 1}


# --- quotes that share text -------------------------------------------------------------------------------------------


def span(start, end, text=TEXT):
    return CharacterSpan(DocumentId("plans.md"), start, end, text[start:end])


def test_labels_that_overlap_or_touch_are_one_and_parts_of_others_none():
    corpus = Corpus([Document(DocumentId("plans.md"), TEXT)])
    assert distinct([span(0, 10), span(2, 5)], corpus) == [span(0, 10)]
    assert distinct([span(2, 5), span(0, 10)], corpus) == [span(0, 10)]
    assert distinct([span(0, 10), span(8, 20), span(40, 50)], corpus) == [span(0, 20), span(40, 50)]
    assert distinct([span(0, 10), span(10, 20)], corpus) == [span(0, 20)]
    assert distinct([span(0, 10), span(11, 20)], corpus) == [span(0, 10), span(11, 20)]
    both = Answer.any_of(span(2, 5), span(42, 45))
    assert distinct([both, span(0, 10)], corpus) == [span(0, 10)]
    assert distinct([both, span(5, 10)], corpus) == [both, span(5, 10)]
    assert distinct([], corpus) == []


def test_a_quote_and_a_part_of_it_are_one_answer(served):
    _, client = served(model({"numbers": []}, ["Answered at once.", "at once", "Hotline.\nAnswered at once."]))
    _, dataset = generated(client)
    assert [each.text for each in dataset.ground_truth[0].relevant] == ["Hotline.\nAnswered at once."]
