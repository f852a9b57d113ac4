"""Quotes that occur more than once, and quotes of a question that share text."""

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId, TokenLevelDataGenerator
from rag_evaluation_framework.authoring.models.generator import distinct
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.data import Answer

TEXT = "Basic plan.\nAnswered within 2 days.\n\nGold plan.\nAnswered within 2 days.\n\nHotline.\nAnswered at once.\n"
SENTENCE = "Letters of all customers are answered within two working days."


def generated(served, quotes, text=TEXT):
    def model(request):
        last = request.messages[-1][1]
        if "Number of questions" in last:
            return {"questions": [{"question": "How soon are letters of gold customers answered?"}]}
        return {"answer": "yes"} if "<excerpt" in last else {"quotes": [*quotes]}

    _, client = served(model)
    generator = TokenLevelDataGenerator(client, Corpus([Document(DocumentId("plans.md"), text)]))
    with collect_notes():
        return generator, generator.generate(1, upload_to_langsmith=False)


def test_a_short_quote_that_stands_there_twice_is_rejected_with_the_number_of_its_places(served):
    generator, dataset = generated(served, ["within 2 days"])
    assert len(dataset) == 0
    assert generator.path is None
    assert generator.funnel.rejected["verified"] == {"ambiguous quote": 1}
    assert generator.rejections[0].detail == "2 places in what was shown: within 2 days"


def test_a_long_text_that_occurs_twice_is_answered_by_either_place_with_or_without_emphasis(served):
    for second in (SENTENCE, SENTENCE.replace("two", "**two**")):
        _, dataset = generated(served, [SENTENCE], f"Basic plan.\n\n{SENTENCE}\n\nGold plan.\n\n{second}\n")
        (answer,) = dataset.ground_truth[0].answers
        assert [place[0].start for place in answer.places] == [13, 89]


def test_a_quote_and_a_part_of_it_are_one_answer(served):
    _, dataset = generated(served, ["Answered at once.", "at once", "Hotline.\nAnswered at once."])
    assert [each.text for each in dataset.ground_truth[0].relevant] == ["Hotline.\nAnswered at once."]


def span(start, end, text=TEXT):
    return Answer.any_of(CharacterSpan(DocumentId("plans.md"), start, end, text[start:end]))


def test_labels_that_overlap_or_touch_are_one_and_parts_of_others_none():
    corpus = Corpus([Document(DocumentId("plans.md"), TEXT)])
    assert distinct([span(0, 10), span(2, 5)], corpus) == [span(0, 10)]
    assert distinct([span(2, 5), span(0, 10)], corpus) == [span(0, 10)]
    assert distinct([span(0, 10), span(8, 20), span(40, 50)], corpus) == [span(0, 20), span(40, 50)]
    assert distinct([span(0, 10), span(10, 20)], corpus) == [span(0, 20)]
    assert distinct([span(0, 10), span(11, 20)], corpus) == [span(0, 10), span(11, 20)]
    both = Answer.any_of(*span(2, 5).units, *span(42, 45).units)
    assert distinct([both, span(0, 10)], corpus) == [span(0, 10)]
    assert distinct([both, span(5, 10)], corpus) == [both, span(5, 10)]
    assert distinct([], corpus) == []
