"""Results and relevant chunks meet under the id by which the dataset knows them (R027, R028, T01, T46, T47)."""

from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    TOKEN,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    PositionAwareChunk,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    generate_chunk_id,
    generate_pa_chunk_id,
)
from rag_evaluation_framework.components import FunctionRetriever
from rag_evaluation_framework.data import Chunk, ChunkId, Hit, QueryId, QueryText
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.errors import ConfigError, DatasetError
from rag_evaluation_framework.scoring.levels.rules import ChunkIds
from rag_evaluation_framework.scoring.metrics import ALL_METRICS
from support.each import each
from support.retrievers import Listing

SENTENCES = ["Invoices come monthly.", "Refunds take five days.", "Support answers at once.", "The office is closed."]
CORPUS = Corpus([Document(DocumentId("faq.md"), " ".join(SENTENCES)), Document(DocumentId("b.md"), "Only this.")])


def pieces():
    """Return the sentences as chunks that know their place."""
    document = CORPUS["faq.md"]
    starts = [document.content.index(sentence) for sentence in SENTENCES]
    chunks = [
        PositionAwareChunk.of(document, start, start + len(sentence))
        for start, sentence in zip(starts, SENTENCES, strict=True)
    ]
    return [*chunks, PositionAwareChunk.of(CORPUS["b.md"], 0, 10)]


PIECES = pieces()


class Pieces(Listing):
    """Has all pieces."""

    def __init__(self, found=None):
        super().__init__(PIECES, found)


def dataset(*relevant, **options):
    truth = ChunkLevelGroundTruth(Query(QueryId("q"), QueryText("q")), relevant, **options)
    return Dataset([truth], CHUNK, corpus=CORPUS)


def spans(*numbers):
    places = [CharacterSpan(PIECES[n].doc_id, PIECES[n].start, PIECES[n].end) for n in numbers]
    return Dataset([TokenLevelGroundTruth(Query(QueryId("q"), QueryText("q")), places)], TOKEN, corpus=CORPUS)


def scores(questions, retriever, k=2, **options):
    result = ChunkLevelEvaluation(CORPUS, questions, **options).run(retriever=retriever, k=k)
    assert not result.failures
    return result.metrics["chunk_recall"], result.metrics["chunk_precision"]


def short(number, digits, prefix="chunk_"):
    return ChunkId(prefix + content_digest(PIECES[number].content)[:digits])


# --- ids that follow from the content ---------------------------------------------------------------------------------


@pytest.mark.parametrize("labelled", [generate_chunk_id, generate_pa_chunk_id])
@pytest.mark.parametrize("returned", [generate_chunk_id, generate_pa_chunk_id])
def test_plain_and_position_aware_ids_of_one_text_are_one_chunk(labelled, returned):
    truth = dataset(labelled(SENTENCES[0]), labelled(SENTENCES[3]))
    found = [Hit(chunk_id=returned(SENTENCES[0])), Hit(chunk_id=returned(SENTENCES[1]))]
    assert scores(truth, Pieces(found)) == (0.5, 0.5)
    assert scores(truth, lambda query, k: [{"chunk_id": returned(SENTENCES[0])}, {"chunk_id": "chunk_0"}]) == (0.5, 0.5)


@each(
    ("prefix", "digits"),
    [*((prefix, n) for prefix in ("chunk_", "pa_chunk_") for n in (6, 8, 12, 16, 64)), *(("", n) for n in (8, 12, 64))],
)
def test_ids_of_any_length_are_matched(digits, prefix):
    truth = dataset(short(0, digits, prefix), short(3, digits, prefix))
    assert scores(truth, Pieces()) == (0.5, 0.5)
    assert scores(truth, Pieces(), k=4) == (1.0, 0.5)
    assert scores(truth, lambda query, k: [SENTENCES[0], SENTENCES[1]]) == (0.5, 0.5)


def test_ids_are_hashes_of_any_length_but_not_every_number():
    # One dataset may hold ids of several lengths:
    assert scores(dataset(short(0, 8), short(1, 16), short(2, 12)), Pieces(), k=3) == (1.0, 1.0)

    # Bare digits are matched by results that have nothing but the id of their text:
    truth = dataset(short(0, 8, ""), short(3, 12, ""), short(1, 10))
    found = [{"chunk_id": short(number, 12, prefix)} for number, prefix in ((3, "pa_chunk_"), (0, "chunk_"))]
    assert scores(truth, lambda query, k: found) == (pytest.approx(2 / 3), 1.0)

    # Fewer than eight bare digits are no hash:
    with pytest.raises(DatasetError, match="none of its 1 chunk ids"):
        scores(dataset(short(0, 7, "")), Pieces())

    # Numbers that begin like another number are another chunk:
    truth = dataset(ChunkId("10000001"), ChunkId("200000020"))
    assert scores(truth, lambda query, k: [{"chunk_id": "100000010"}, {"chunk_id": "200000020"}]) == (0.5, 0.5)

    # Numbers of one beginning are different chunks:
    for ids in (["10000001", "100000010"], ["chunk_100000", "chunk_1000001"]):
        for found in ids:
            expected = [float(unit == found) for unit in ids]
            assert recalls(lambda query, k, found=found: [{"chunk_id": found}], *ids)[0] == expected


ALIKE = ["text 859", "text 4460"]
"""Two texts whose hashes share their first eight digits."""


@pytest.mark.parametrize("prefix", ["", "chunk_"])
def test_an_id_that_matches_two_chunks_is_refused(prefix):
    alike = Corpus([Document(DocumentId(text.replace(" ", "-")), text) for text in ALIKE])
    chunks = [PositionAwareChunk.of(document, 0, len(document.content)) for document in alike]
    entry = ChunkLevelGroundTruth(Query.from_text("q"), [ChunkId(f"{prefix}b30a892c")])
    truth = Dataset([entry], CHUNK, corpus=alike)
    for retriever in (Listing(chunks), Listing(chunks, found=[]), lambda query, k: ALIKE):
        with pytest.raises(DatasetError, match=rf"'{prefix}b30a892c' of the dataset matches two chunks, .*more digits"):
            evaluate(retriever, truth, k=2)
    assert evaluate(Listing(chunks[:1]), truth, k=2).metrics["chunk_recall"] == 1.0
    longer = ChunkLevelGroundTruth(Query.from_text("q"), [ChunkId(prefix + content_digest(ALIKE[1])[:9])])
    result = evaluate(Listing(chunks), Dataset([longer], CHUNK, corpus=alike), k=[1, 2])
    assert (result.metrics["chunk_recall@1"], result.metrics["chunk_recall@2"]) == (0.0, 1.0)


@pytest.mark.parametrize("shown", ["w29009", "w116065"])
def test_an_id_that_matches_two_chunks_is_refused_with_the_text_of_the_second(shown):
    texts = sorted(["w29009", "w116065"], key=lambda text: text == shown)
    alike = Corpus([Document(DocumentId(f"{text}.md"), text) for text in texts])
    chunks = [PositionAwareChunk.of(document, 0, len(document.content)) for document in alike]
    digits = content_digest(shown)[:8]
    truth = Dataset([ChunkLevelGroundTruth(Query.from_text("q"), [ChunkId(digits)])], CHUNK, corpus=alike)
    for retriever in (Listing(sorted(chunks, key=lambda chunk: chunk.content == shown)), lambda query, k: texts):
        with pytest.raises(DatasetError, match=rf"{content_digest(shown)[:12]} \(of '{shown}'\); write more digits"):
            evaluate(retriever, truth, k=2)


def test_texts_and_offsets_are_matched_by_their_hash():
    # Texts without offsets are matched by hash even without a list of chunks:
    truth = dataset(short(1, 12), short(2, 12))
    for found in (
        [SENTENCES[1], "lost"],
        [{"text": SENTENCES[1]}, {"text": "lost"}],
        [Chunk(generate_chunk_id(SENTENCES[1]), SENTENCES[1], DocumentId("faq.md")), "lost"],
    ):
        assert scores(truth, lambda query, k, found=found: found) == (0.5, 0.5)
        assert scores(truth, Pieces(found)) == (0.5, 0.5)

    # A text that is not in the corpus is matched by its own hash:
    truth = dataset(generate_chunk_id("A summary."), short(1, 12))
    assert scores(truth, lambda query, k: ["A summary.", SENTENCES[0]]) == (0.5, 0.5)

    # Offsets alone are matched by the text they enclose:
    found = [{"doc_id": "faq.md", "start": piece.start, "end": piece.end} for piece in PIECES[:2]]
    assert scores(dataset(short(0, 8)), lambda query, k: found) == (1.0, 0.5)

    # One text at two places is one chunk:
    twice = Corpus([Document(DocumentId("a"), "Same. Other. Same.")])
    same, other, again = (PositionAwareChunk.of(twice["a"], *place) for place in ((0, 5), (6, 12), (13, 18)))
    truth = dataset(generate_chunk_id("Same.")).with_corpus(twice)
    result = evaluate(Listing([same, again, other]), truth, k=[2, 3])
    assert result.metrics["chunk_precision@2"] == 1.0
    assert result.metrics["chunk_precision@3"] == 0.5
    assert result.metrics["chunk_recall@2"] == 1.0
    ranks = evaluate(Listing([other, same, again]), truth, k=3, metrics=[ALL_METRICS["precision"], ALL_METRICS["map"]])
    assert ranks.metrics["precision"] == pytest.approx(1 / 3)  # three results were paid for
    assert ranks.metrics["map"] == 0.5


@pytest.mark.parametrize(
    "returned",
    [
        lambda number: SENTENCES[number],
        lambda number: {"chunk_id": generate_pa_chunk_id(SENTENCES[number])},
        lambda number: {"doc_id": "faq.md", "start": PIECES[number].start, "end": PIECES[number].end},
    ],
    ids=["texts", "ids", "places"],
)
def test_each_k_of_a_retriever_that_is_not_prefix_stable_is_matched_on_its_own_ranking(returned):
    def search(query, k):  # asked for one result, it finds the third sentence, and for three, that one at the end
        return [returned(number) for number in ([2] if k == 1 else [0, 1, 2])]

    truth = dataset(short(2, 12))
    result = ChunkLevelEvaluation(CORPUS, truth).run(retriever=FunctionRetriever(search, stable=False), k=[1, 3])
    found = {name: result.metrics[name] for name in ("chunk_recall@1", "chunk_precision@1", "chunk_precision@3")}
    assert found == {"chunk_recall@1": 1.0, "chunk_precision@1": 1.0, "chunk_precision@3": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    "nothing",
    [
        {"doc_id": "faq.md", "start": 500, "end": 600},
        {"doc_id": "gone.md", "start": 0, "end": 50},
        {"doc_id": "gone.md"},
        {"doc_id": "faq.md", "start": 5, "end": 5},
        {"text": ""},
    ],
    ids=["beyond the document", "of an unknown document", "an unknown document", "of no length", "an empty text"],
)
def test_results_without_a_text_are_no_chunk_and_keep_their_ranks(nothing):
    found = Pieces([nothing] * 9 + PIECES[:1])
    result = evaluate(found, dataset(PIECES[0].id), k=10, budgets=[], metrics=["mrr", "chunk_precision"])
    assert result.metrics["mrr@10"] == result.metrics["chunk_precision@10"] == 0.1
    assert result.counts["unlocated_hits"] == 9
    assert result.queries[0].first_relevant == 10


# --- ids of the retriever's own ---------------------------------------------------------------------------------------

OWN = {
    "uuid": ["0b9d5d0e-6f0a-4b6b-9a50-1f3d3d4cbb1c", "1c", "2d", "3e", "4f"],
    "sequential": ["0", "1", "2", "3", "4"],
    "composite": ["faq.md:0", "faq.md:1", "faq.md:2", "faq.md:3", "b.md:0"],
}


@pytest.mark.parametrize("ids", OWN.values(), ids=OWN.keys())
def test_own_ids_of_the_retriever_are_matched_and_scored_on_hashed_truth(ids):
    # Ids of the retriever are matched unchanged:
    named = [replace(piece, id=chunk_id) for piece, chunk_id in zip(PIECES, ids, strict=True)]
    truth = dataset(ChunkId(ids[0]), ChunkId(ids[3]))
    assert scores(truth, Listing(named)) == (0.5, 0.5)
    assert scores(truth, Listing(named), k=4) == (1.0, 0.5)
    by_place = [Hit(piece.doc_id, piece.start, piece.end) for piece in PIECES]
    assert scores(truth, Listing(named, found=by_place)) == (0.5, 0.5)  # the list says which chunk stands there
    by_id = [Hit(chunk_id=chunk_id) for chunk_id in ids]
    assert scores(truth, Listing(named, found=by_id)) == (0.5, 0.5)
    assert scores(truth, lambda query, k: [{"chunk_id": ids[0]}, {"id": ids[1], "text": "x"}]) == (0.5, 0.5)

    # A retriever with ids of its own is scored on hashed truth and on spans:
    named = [replace(piece, id=chunk_id) for piece, chunk_id in zip(PIECES, ids, strict=True)]
    assert scores(dataset(short(0, 12), short(3, 8)), Listing(named)) == (0.5, 0.5)
    assert scores(spans(0, 3), Listing(named)) == (0.5, 0.5)
    assert scores(spans(0, 3), Listing(named, found=[SENTENCES[0], {"chunk_id": ids[1]}])) == (0.5, 0.5)


def test_a_list_of_chunks_may_be_a_generator_with_numbers_and_several_ids_of_a_place():
    # One place may be listed under several ids:
    twice = [replace(PIECES[0], id="text-0"), replace(PIECES[0], id="summary-0"), replace(PIECES[1], id="text-1")]
    truth = dataset(ChunkId("text-0"), ChunkId("summary-0"))
    assert scores(truth, Listing(twice)) == (1.0, 1.0)
    assert scores(truth, Listing(twice, found=twice[::2])) == (0.5, 0.5)
    assert scores(spans(0), Listing(twice)) == (1.0, 1.0)  # as text of the corpus the two are one chunk

    # Chunks may be listed by a generator:
    class Lazy(Pieces):
        def chunks(self):
            yield from self.listed

    assert scores(dataset(short(0, 12), short(3, 12)), Lazy()) == (0.5, 0.5)
    assert scores(spans(0, 3), Lazy()) == (0.5, 0.5)

    # Numeric ids are read as text:
    assert scores(dataset(ChunkId("7")), lambda query, k: [{"chunk_id": 7}]) == (1.0, 1.0)


# --- ids by a function of the user's ----------------------------------------------------------------------------------


def composite(chunk, number):
    return f"{chunk.doc_id}:{number}"


def test_a_function_names_chunks():
    # A function names chunks by their number within their document:
    truth = dataset(ChunkId("faq.md:0"), ChunkId("faq.md:3"), ChunkId("b.md:0"))
    assert scores(truth, Pieces(), chunk_id=composite) == (pytest.approx(1 / 3), 0.5)
    assert scores(truth, Pieces(), k=5, chunk_id=composite) == (1.0, 0.6)
    shuffled = Listing(PIECES, found=PIECES[::-1])  # the number is that of the list, whatever the rank
    assert scores(truth, shuffled, chunk_id=composite) == (pytest.approx(2 / 3), 1.0)

    # A function replaces both hashes and ids of the retriever:
    named = [replace(piece, id=f"faq.md:{9 - number}") for number, piece in enumerate(PIECES)]
    assert scores(dataset(ChunkId("faq.md:0")), Listing(named), k=1, chunk_id=composite) == (1.0, 1.0)
    truth = dataset(ChunkId("faq.md:1"), short(0, 12))
    assert scores(truth, Pieces(), k=1, chunk_id=composite) == (0.0, 0.0)

    # A function names the chunks that hold spans:
    result = ChunkLevelEvaluation(CORPUS, spans(0, 3), chunk_id=composite).run(retriever=Pieces(), k=2)
    assert result.queries[0].relevant == ("faq.md:0", "faq.md:3")
    assert result.metrics["chunk_recall"] == 0.5
    assert result.config["chunk_id"].endswith(":composite")

    # Of equal texts that have no place the first gives the name, as nothing tells them apart:
    plain = [Chunk("twice", "It is not in the corpus.", DocumentId("faq.md"))] * 2
    assert scores(dataset(ChunkId("faq.md:0")), Listing(plain), k=1, chunk_id=composite) == (1.0, 1.0)

    # A function that names chunks names each by one id:
    truth = dataset(ChunkId("0"), short(0, 12))
    assert scores(truth, Pieces(), k=1, chunk_id=lambda chunk, number: f"{number}" * (chunk.doc_id == "faq.md")) == (
        0.5,
        1.0,
    )


def test_what_a_function_or_a_list_cannot_name_is_counted():
    # With a function results that match no chunk have no id and are counted:
    found = [Hit(DocumentId("faq.md"), 0, 3), PIECES[0]]
    truth = dataset(ChunkId("faq.md:0"))
    result = ChunkLevelEvaluation(CORPUS, truth, chunk_id=composite).run(retriever=Pieces(found), k=2)
    assert result.counts["unlocated_hits"] == 1
    assert result.metrics["chunk_precision"] == 0.5
    assert "1 of 2 results (50%) have no chunk id" in repr(result)

    # A list of chunks without places is of use for chunks and not for spans:
    plain = [Chunk(generate_chunk_id(sentence), sentence, DocumentId("faq.md")) for sentence in SENTENCES]
    assert scores(dataset(short(0, 12)), Listing(plain), k=1) == (1.0, 1.0)
    result = ChunkLevelEvaluation(CORPUS, spans(0)).run(retriever=Listing(plain), k=1)
    assert result.metrics["chunk_recall"] == 0.0
    assert "4 of 4 chunks have no place, and cannot be relevant to a span" in result.notes


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (lambda chunk, number: None, "chunk_id of faq.md.0:22., chunk 0 of its document: got None; expected a text"),
        (lambda chunk, number: number, "got 0; expected a text"),
        (lambda chunk, number: chunk.metadata["n"], r"KeyError: 'n'; expected a function \(chunk, number\) -> id"),
        (lambda chunk: chunk.id, "TypeError: .* expected a function"),
        (lambda chunk, number: "x", "chunk_id gives 'x' to '.*' and to '.*': every text needs its own id"),
    ],
    ids=["None", "number", "raises", "one argument", "one id for all"],
)
@pytest.mark.parametrize("truth", [dataset(ChunkId("faq.md:0")), spans(0)], ids=["chunks", "spans"])
def test_a_function_that_fails_or_returns_no_text_is_refused(truth, name, message):
    with pytest.raises(ConfigError, match=message):
        ChunkLevelEvaluation(CORPUS, truth, chunk_id=name).run(retriever=Pieces())


@pytest.mark.parametrize("wrong", ["text", Hit(text="x"), None])
def test_a_list_of_anything_but_chunks_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"Listing\.chunks returned .* as a chunk; expected chunks"):
        ChunkLevelEvaluation(CORPUS, dataset(short(0, 12))).run(retriever=Listing([wrong]))


# --- retrievers that rewrite what they return -------------------------------------------------------------------------

REWRITTEN = {
    "longer": lambda text: f"From the FAQ: {text}",
    "shorter": lambda text: text.split()[0],
    "other": lambda text: text.upper(),
}


@pytest.mark.parametrize("rewrite", REWRITTEN.values(), ids=REWRITTEN.keys())
@pytest.mark.parametrize("keeps_id", [True, False])
def test_a_contextual_retriever_is_scored_by_the_original_text_at_its_offsets(rewrite, keeps_id):
    rewritten = [
        replace(
            piece,
            content=rewrite(piece.content),
            id=piece.id if keeps_id else generate_pa_chunk_id(rewrite(piece.content)),
        )
        for piece in PIECES
    ]
    for truth in (dataset(short(0, 12), short(3, 12)), dataset(short(0, 8), short(3, 8)), spans(0, 3)):
        assert scores(truth, Listing(rewritten)) == (0.5, 0.5)
        assert scores(truth, Listing(PIECES, found=rewritten)) == (0.5, 0.5)


def test_ids_of_the_retriever_are_of_use_where_they_tell_texts_apart():
    # Rewritten text is also matched by the id of the retriever:
    rewritten = [
        replace(piece, content=f"FAQ: {piece.content}", id=generate_pa_chunk_id(f"FAQ: {piece.content}"))
        for piece in PIECES
    ]
    truth = dataset(generate_chunk_id(f"FAQ: {SENTENCES[0]}"))
    assert scores(truth, Listing(rewritten)) == (1.0, 0.5)

    # Ids that are unique only within a document are ignored in favour of the hash:
    truth = TokenLevelGroundTruth(Query(QueryId("q"), QueryText("q")), [CharacterSpan(DocumentId("a"), 0, 3)])
    questions = Dataset([truth], TOKEN, corpus=PAGES)
    for found, recall in ((NUMBERED[2:], 0.0), (NUMBERED[:1], 1.0)):
        result = ChunkLevelEvaluation(PAGES, questions).run(retriever=Listing(NUMBERED, found), k=2)
        assert result.metrics["chunk_recall"] == recall
        assert result.queries[0].relevant == (generate_chunk_id("one"),)

    # Ground truth with an id that the retriever gives to several texts is refused:
    truth = ChunkLevelGroundTruth(Query(QueryId("q"), QueryText("q")), [ChunkId("0")])
    with pytest.raises(ConfigError, match="gives the id '0', which the dataset names, to several texts"):
        ChunkLevelEvaluation(PAGES, Dataset([truth], CHUNK, corpus=PAGES)).run(retriever=Listing(NUMBERED))

    # Likewise of chunks without places:
    plain = [Chunk(piece.id, piece.content, piece.doc_id) for piece in NUMBERED]
    with pytest.raises(ConfigError, match="gives the id '0', which the dataset names, to several texts"):
        ChunkLevelEvaluation(PAGES, Dataset([truth], CHUNK, corpus=PAGES)).run(retriever=Listing(plain))


# --- ids that the retriever gives twice -------------------------------------------------------------------------------

PAGES = Corpus([Document(DocumentId("a"), "one|two"), Document(DocumentId("b"), "six|ten")])
NUMBERED = [
    PositionAwareChunk(name, PAGES[doc_id].content[start : start + 3], DocumentId(doc_id), start, start + 3)
    for doc_id in ("a", "b")
    for name, start in (("0", 0), ("1", 4))
]


def test_of_several_ids_of_a_chunk_the_best_is_taken():
    # Ids are tried by length and those with their prefix first:
    digits = content_digest("one")
    known = [ChunkId(prefix + digits[:length]) for length in (8, 9, 10, 11, 13) for prefix in ("", "chunk_")]
    forms = ChunkIds(known, (), None, lambda hit: hit.text or "").forms
    assert forms == [(prefix, length) for length in (8, 9, 10, 11) for prefix in ("chunk_", "")] + [
        ("chunk_", 12),
        ("chunk_", 13),
        ("", 13),
    ]

    # Of two ids of one chunk the first counts and the other is missing:
    own = replace(PIECES[0], id="doc-7")
    for units in (["doc-7", short(0, 12)], [short(0, 8, ""), short(0, 8), short(0, 12)]):
        found, notes = recalls(Listing([own, *PIECES[1:]]), *units)
        assert sum(found) == 1.0
        assert any(f"of the relevant chunk ids are in the index (1 of {len(units)})" in text for text in notes)


# --- a dataset that names one chunk twice -----------------------------------------------------------------------------


def recalls(retriever, *units, corpus=CORPUS):
    truth = [ChunkLevelGroundTruth(Query.from_text(f"q {number}"), [unit]) for number, unit in enumerate(units)]
    result = evaluate(retriever, Dataset(truth, CHUNK, corpus=corpus), k=1)
    assert not result.failures
    return [one.scores["chunk_recall@1"] for one in result.queries], result.notes


def test_texts_are_not_confused_where_one_is_the_changed_form_of_another():
    corpus = Corpus([Document(DocumentId("a.md"), "Beta two\n\nbeta two")])
    changed = replace(PositionAwareChunk.of(corpus["a.md"], 0, 8), content="beta two", id="1")
    lower = replace(PositionAwareChunk.of(corpus["a.md"], 10, 18), id="2")
    units = generate_chunk_id("Beta two"), generate_chunk_id("beta two")
    assert recalls(Listing([changed, lower]), *units, corpus=corpus)[0] == [1.0, 0.0]
    assert recalls(Listing([lower, changed]), *units, corpus=corpus)[0] == [0.0, 1.0]
