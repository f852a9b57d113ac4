"""The same question with another answer: which answers are others, and which of them is told."""

import pytest

from rag_evaluation_framework import ChunkLevelDataGenerator, Corpus, Document, DocumentId, RecursiveCharacterChunker
from rag_evaluation_framework.authoring.models import DimensionQuestions, SimpleQuestions
from rag_evaluation_framework.authoring.models.filters import Candidate, Evidence, contradicted, sifted
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.contracts import QuestionRequest, Section
from rag_evaluation_framework.data.spans import CharacterSpan
from support.scripted_llm import CHUNK, ScriptedModel

REQUEST = QuestionRequest("", (Section(DocumentId("a.md"), ()),), 1)
OF_USER = QuestionRequest("", (Section(DocumentId("a.md"), ()),), 1, given=("How long?",))
LONG = "Refunds take five working days after they were approved."
TWICE = [SimpleQuestions(), DimensionQuestions({"difficulty": ["easy"]})]


def answered(*texts, number=0, doc_id="a.md", request=REQUEST, question="How long?"):
    """Return a candidate whose answers are these texts, at places that their document and number tell."""
    spans = [CharacterSpan(DocumentId(doc_id), number, number + len(text), text) for text in texts]
    evidence = tuple(Evidence(each.text, each.doc_id, spans=(each,)) for each in spans)
    return Candidate(question, request, "", number, answers=tuple(spans), evidence=evidence)


def told(candidates):
    """Return the numbers of those that are kept, and what is told of the others."""
    rejections = []
    kept = sifted(candidates, "kept", contradicted(candidates), rejections)
    return [each.number for each in kept], [(each.reason, each.detail) for each in rejections]


def other(text):
    return "same question with another answer", text


def test_an_answer_that_another_question_contradicts_is_told_and_never_the_own_one_and_a_question_of_a_user_stays():
    candidates = [answered("5 days", number=0), answered("5 days", number=2), answered("9 days", number=500)]
    assert told(candidates) == ([], [other("9 days"), other("9 days"), other("5 days")])
    both = answered("5 days", "9 days")
    assert told([answered("5 days"), answered("9 days", number=500), both]) == (
        [],
        [other("9 days"), other("5 days"), other("9 days")],
    )
    assert told([answered(number=1), answered("5 days", number=2)]) == ([], [other("5 days"), other("no answer")])
    candidates = [answered("5 days", number=0, request=OF_USER), answered("9 days", number=500)]
    assert told(candidates) == ([0], [other("5 days")])


def test_what_agrees_with_two_that_contradict_each_other_in_its_words_is_lost_with_them():
    yes = [CharacterSpan(DocumentId(name), 0, 3, "Yes") for name in ("a.md", "b.md")]
    first, second = (
        Candidate("How long?", REQUEST, answers=(each,), evidence=(Evidence("Yes", each.doc_id, spans=(each,)),))
        for each in yes
    )
    either = Candidate("How long?", REQUEST, answers=("a",), evidence=(Evidence("Yes", "a.md", spans=tuple(yes)),))
    assert told([first, second, either]) == ([], [other("Yes")] * 3)


@pytest.mark.parametrize("chunker", [lambda text: [f"* {line}" for line in text.splitlines() if line], None])
@pytest.mark.parametrize("documents", [1, 2])
def test_the_same_chunk_is_no_other_answer(served, chunker, documents):
    """Short as it is: without a place, asked about twice, or in two documents."""

    def questions(answer, request):
        cited = [key for key, text in CHUNK.findall(request.prompt) if "two years" in text]
        return {"questions": [{"question": "How long is the warranty?", "chunk_ids": cited[:1]}]}

    text = "Warranty: two years.\n\nOther things are told here at some length, for all of {}."
    corpus = Corpus(Document(DocumentId(f"{n}.md"), text.format(n)) for n in range(documents))
    cut_by = chunker or RecursiveCharacterChunker(chunk_size=40)
    _, client = served(ScriptedModel(questions=questions))
    with collect_notes():
        generator = ChunkLevelDataGenerator(client, corpus, cut_by, embedder=None, strategies=TWICE)
        dataset = generator.generate(1, upload_to_langsmith=False)
    assert len(dataset) == 1
    assert generator.funnel.rejected["kept"] == {"same question again": 2 * documents - 1}
