import pytest

from rag_evaluation_framework import (
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data import ChunkId, QueryId, QueryText
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN
from rag_evaluation_framework.errors import DatasetError, LevelMismatch

SPAN = CharacterSpan(DocumentId("a.md"), 0, 5)
QUERY = Query.from_text("Which?")
OF_EACH_LEVEL = [
    (DocumentLevelGroundTruth, DOCUMENT, DocumentId("a.md")),
    (ChunkLevelGroundTruth, CHUNK, ChunkId("chunk_0123456789ab")),
    (TokenLevelGroundTruth, TOKEN, SPAN),
]
LEVEL_NAMES = ["document-level", "chunk-level", "token-level"]


def truth(text, *spans, query_id=None):
    query = Query.from_text(text) if query_id is None else Query(QueryId(query_id), QueryText(text))
    return TokenLevelGroundTruth(query, spans)


@pytest.mark.parametrize(("kind", "level", "unit"), OF_EACH_LEVEL, ids=LEVEL_NAMES)
def test_truth_keeps_its_units_as_a_tuple_and_knows_its_level(kind, level, unit):
    units = [unit]
    entry = kind(QUERY, units)
    units.clear()
    assert entry.relevant == (unit,)
    assert entry.level is level
    assert entry == kind(QUERY, (unit,)) == kind(QUERY, iter([unit]))
    assert hash(entry) == hash(kind(QUERY, (unit,)))


@pytest.mark.parametrize(("kind", "level", "unit"), OF_EACH_LEVEL, ids=LEVEL_NAMES)
@pytest.mark.parametrize("other", [DOCUMENT, CHUNK, TOKEN], ids=LEVEL_NAMES)
def test_a_dataset_holds_one_level_only(kind, level, unit, other):
    if other is level:
        assert Dataset([kind(QUERY, [unit])], other).level is level
        return
    with pytest.raises(LevelMismatch, match=f"{QUERY.id}.*{level.evaluation_type}.*{other.evaluation_type}"):
        Dataset([kind(QUERY, [unit])], other)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([truth("A?", query_id="q"), truth("B?", query_id="q")], "'mine': duplicate question id 'q'"),
        ([truth("A?", query_id="q")] * 2, r"duplicate question id 'q', of 'A\?'; ids must be unique"),
    ],
    ids=["two wordings", "one question twice"],
)
def test_two_questions_of_one_id_are_refused(entries, message):
    with pytest.raises(DatasetError, match=message):
        Dataset(entries, TOKEN, name="mine")


def test_a_dataset_is_its_questions_in_order():
    entries = [truth("B?", SPAN), truth("A?", query_id="p"), truth("A?", query_id="q")]
    dataset = Dataset(iter(entries), TOKEN)
    assert list(dataset) == entries
    assert len(dataset) == 3
    assert [(query.id, query.text) for query in dataset.queries][1:] == [("p", "A?"), ("q", "A?")]


BASE = Dataset([truth("A?", SPAN)], TOKEN)


def quoting(text, start=0, doc_id="a.md"):
    return CharacterSpan(DocumentId(doc_id), start, start + len(text), text)


NOTED = Query(Query.from_text("A?").id, QueryText("A?"), {"t": 1})
REWORDED = Query(Query.from_text("A?").id, QueryText("B?"))
PAIR = Dataset([truth("A?", SPAN), truth("B?", SPAN)], TOKEN)
QUOTED = Dataset([truth("A?", quoting("Hello  you"))], TOKEN)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (BASE, Dataset([truth("A?", SPAN)], TOKEN, name="another"), True),
        (BASE, Dataset([truth("A?", SPAN)], TOKEN, metadata={"author": "me"}), True),
        (BASE, Dataset([truth("A?", SPAN)], TOKEN, corpus_hash="0" * 64), True),
        (BASE, Dataset([TokenLevelGroundTruth(NOTED, [SPAN])], TOKEN), True),
        (BASE, Dataset([TokenLevelGroundTruth(REWORDED, [SPAN])], TOKEN), False),
        (BASE, Dataset([truth("A?", SPAN, query_id="q")], TOKEN), False),
        (BASE, Dataset([truth("A?")], TOKEN), False),
        (BASE, Dataset([truth("A?", CharacterSpan(DocumentId("a.md"), 0, 6))], TOKEN), False),
        (BASE, Dataset([truth("A?", CharacterSpan(DocumentId("b.md"), 0, 5))], TOKEN), False),
        (BASE, Dataset([truth("A?", SPAN), truth("B?")], TOKEN), False),
        (PAIR, Dataset(PAIR.ground_truth[::-1], TOKEN), False),
        # of what spans quote, and not of where it is
        (QUOTED, Dataset([truth("A?", quoting("Hello  you", 7))], TOKEN), True),
        (QUOTED, Dataset([truth("A?", quoting("Hello\r\nyou", 7))], TOKEN), True),
        (QUOTED, Dataset([truth("A?", quoting("Hello you"))], TOKEN), True),
        (QUOTED, Dataset([truth("A?", quoting("Hello  You"))], TOKEN), False),
        (QUOTED, Dataset([truth("A?", quoting("Hello  you", doc_id="b.md"))], TOKEN), False),
        (QUOTED, Dataset([truth("A?", CharacterSpan(DocumentId("a.md"), 0, 10))], TOKEN), False),
    ],
    ids=[
        *("name", "metadata", "corpus hash", "metadata of a question"),
        *("wording", "id", "no truth", "place", "document", "one more", "order"),
        *("moved", "wrapped anew", "tidied", "another text", "text in another document", "no text"),
    ],
)
def test_the_hash_sees_what_changes_a_score_and_nothing_else(one, other, same):
    assert (one.content_hash == other.content_hash) is same


def test_a_span_without_text_quotes_the_corpus_that_was_labelled_and_no_other():
    labelled = Corpus([Document(DocumentId("a.md"), "Hello  you.")])
    edited = Corpus([Document(DocumentId("a.md"), "Dear you, hello.")])
    span = CharacterSpan(DocumentId("a.md"), 0, 10)
    silent = Dataset([truth("A?", span)], TOKEN, corpus=labelled)
    assert silent.quoted(span).text == "Hello  you"
    assert silent.content_hash == QUOTED.content_hash
    elsewhere = silent.with_corpus(edited)
    assert elsewhere.quoted(span).text == ""
    assert elsewhere.content_hash == Dataset([truth("A?", span)], TOKEN).content_hash != QUOTED.content_hash
    assert silent.with_corpus(Corpus(labelled.documents)).content_hash == QUOTED.content_hash


@pytest.mark.parametrize("place", [("b.md", 0, 5), ("a.md", 2, 9)], ids=["no such document", "ends after it"])
def test_a_span_that_is_not_in_the_corpus_quotes_nothing(place):
    corpus = Corpus([Document(DocumentId("a.md"), "Hello")])
    span = CharacterSpan(*place)
    assert Dataset([truth("A?", span)], TOKEN, corpus=corpus).quoted(span).text == ""


def test_ids_quote_themselves():
    query = Query.from_text("A?")
    for kind, level, unit in OF_EACH_LEVEL[:2]:
        assert Dataset([kind(query, [unit])], level).quoted(unit) == unit


def test_the_hash_tells_the_levels_apart_even_without_any_truth():
    query = Query.from_text("A?")
    hashes = {Dataset([kind(query, [])], level).content_hash for kind, level, _ in OF_EACH_LEVEL}
    assert len(hashes) == 3


def test_the_hash_is_64_hexadecimal_digits_even_of_a_lone_surrogate():
    content_hash = Dataset([truth("lone \udc80 surrogate", SPAN)], TOKEN).content_hash
    assert len(content_hash) == len(bytes.fromhex(content_hash)) * 2 == 64


def test_the_repr_says_how_many_questions_have_no_answer():
    assert repr(Dataset([truth("A?", SPAN), truth("B?")], TOKEN, name="faq")) == (
        "Dataset('faq', token-level, 2 questions, 1 without an answer)"
    )
    assert repr(BASE) == "Dataset('dataset', token-level, 1 questions)"


def test_the_corpus_gives_the_hash_of_what_was_labelled_unless_that_is_known():
    corpus = Corpus([Document(DocumentId("a.md"), "Hello!")])
    changed = Corpus([Document(DocumentId("a.md"), "Hello, you!")])
    dataset = Dataset([truth("A?", SPAN)], TOKEN, corpus=corpus, name="faq", metadata={"author": "me"})
    assert dataset.corpus_hash == corpus.content_hash
    moved = dataset.with_corpus(changed)
    assert moved.corpus is changed
    assert moved.corpus_hash == corpus.content_hash
    assert (moved.name, moved.metadata, moved.ground_truth) == ("faq", {"author": "me"}, dataset.ground_truth)
    assert moved == dataset  # the documents at hand are no part of what a dataset is


def test_one_chunk_must_not_have_two_gains():
    ids = [ChunkId("pa_chunk_a"), ChunkId("chunk_a")]
    with pytest.raises(DatasetError, match=r"'chunk_a' has two gains, 2.0 and 5.0; keep one"):
        ChunkLevelGroundTruth(QUERY, ids, gains={ids[0]: 2.0, ids[1]: 5.0})
    assert ChunkLevelGroundTruth(QUERY, ids, gains=dict.fromkeys(ids, 2.0)).gains == {"chunk_a": 2.0}


@pytest.mark.parametrize("kind", [DocumentLevelGroundTruth, ChunkLevelGroundTruth])
@pytest.mark.parametrize(
    ("gains", "message"),
    [
        ([2.0], r"gains=\[2\.0\]; expected a dict of ids and gains"),
        *(
            ({"a": gain}, "expected a number above 0")
            for gain in (1e101, 10**400, float("inf"), float("nan"), 0, -1, True, "1", None)
        ),
    ],
)
def test_gains_that_are_none_or_could_not_be_summed_are_refused(kind, gains, message):
    with pytest.raises(DatasetError, match=message):
        kind(QUERY, ["a"], gains=gains)
