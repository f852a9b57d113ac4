import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data import LabelContexts

TEXT = "".join(chr(ord("a") + number % 26) for number in range(100))
CORPUS = Corpus([Document(DocumentId("a.md"), TEXT), Document(DocumentId("b.md"), "Nobody labelled this.")])
EDITED = Corpus([Document(DocumentId("a.md"), f"{TEXT}!")])
MIDDLE, WHOLE = (CharacterSpan(DocumentId("a.md"), *place) for place in ((40, 50), (0, 100)))
RECORDED = LabelContexts({MIDDLE: ("before", "after")})


def dataset(*spans, **options):
    return Dataset([TokenLevelGroundTruth(Query.from_text("A?"), spans)], TOKEN, **options)


def test_contexts_are_32_characters_before_and_after_each_span_and_fewer_at_the_ends_of_a_document():
    near = CharacterSpan(DocumentId("a.md"), 5, 90)
    contexts = dataset(MIDDLE, WHOLE, near, corpus=CORPUS).contexts
    assert contexts.around == {MIDDLE: (TEXT[8:40], TEXT[50:82]), WHOLE: ("", ""), near: (TEXT[:5], TEXT[90:])}
    assert {len(text) for text in contexts.around[MIDDLE]} == {32}


def test_ids_have_no_contexts():
    assert dataset(corpus=CORPUS).contexts == LabelContexts()
    asked = DocumentLevelGroundTruth(Query.from_text("A?"), [DocumentId("a.md")])
    assert Dataset([asked], DOCUMENT, corpus=CORPUS).contexts == LabelContexts()


@pytest.mark.parametrize(
    "given",
    [
        dataset(MIDDLE, recorded=RECORDED),
        dataset(MIDDLE, recorded=RECORDED, corpus_hash=CORPUS.content_hash).with_corpus(EDITED),
    ],
    ids=["no corpus", "another corpus"],
)
def test_without_the_labelled_corpus_contexts_are_as_they_were_recorded(given):
    assert given.contexts == RECORDED
    assert dataset(MIDDLE).contexts == LabelContexts()


def test_the_labelled_corpus_tells_contexts_whatever_was_recorded():
    given = dataset(MIDDLE, recorded=RECORDED, corpus=CORPUS)
    assert given.contexts == dataset(MIDDLE, corpus=CORPUS).contexts


def test_a_span_of_a_document_that_is_not_there_has_no_context():
    lost = CharacterSpan(DocumentId("lost.md"), 0, 5)
    assert dataset(lost, corpus=CORPUS).contexts == LabelContexts()


def test_contexts_are_no_part_of_what_a_dataset_is():
    recorded, silent = dataset(MIDDLE, recorded=RECORDED), dataset(MIDDLE)
    assert recorded == silent
    assert recorded.content_hash == silent.content_hash
    with pytest.raises(TypeError, match="read-only"):
        dataset(MIDDLE, corpus=CORPUS).texts["b.md"] = "0" * 64
