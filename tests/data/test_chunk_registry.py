import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CharacterSpan,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    FixedTokenChunker,
    PositionAwareChunk,
    Query,
    RecursiveCharacterChunker,
    SpanIoU,
    SpanPrecision,
    SpanRecall,
    TokenLevelGroundTruth,
    generate_chunk_id,
    generate_pa_chunk_id,
)
from rag_evaluation_framework.data import Chunk
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.errors import DatasetError
from support.each import each

FOOTER = "Support answers within one day."


def plain(content, doc_id="a.md", **metadata):
    return Chunk(generate_chunk_id(content), content, DocumentId(doc_id), metadata)


def placed(content, start=0, doc_id="a.md", **metadata):
    return PositionAwareChunk(
        generate_pa_chunk_id(content), content, DocumentId(doc_id), start, start + len(content), metadata
    )


def footers(corpus):
    """The footer that two documents of the corpus share, as chunks."""
    places = [(document, document.content.find(FOOTER)) for document in corpus]
    return [PositionAwareChunk.of(document, at, at + len(FOOTER)) for document, at in places if at >= 0]


# --- finding ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_kind", [True, False])
def test_each_kind_is_found_by_its_id(by_kind):
    registry = ChunkRegistry()
    (registry.register_chunk if by_kind else registry.register)(plain("Hello"))
    (registry.register_pa_chunk if by_kind else registry.register)(placed("World", 6))
    assert list(registry) == [plain("Hello"), placed("World", 6)]
    assert registry.get_chunk("chunk_185f8db32271") == plain("Hello")
    assert registry.get_pa_chunk(generate_pa_chunk_id("World")) == placed("World", 6)
    assert registry.get_span(generate_pa_chunk_id("World")) == CharacterSpan(DocumentId("a.md"), 6, 11)
    assert registry.get_span(generate_pa_chunk_id("World")).text == "World"


def test_chunks_come_in_the_order_in_which_they_were_registered():
    chunks = [placed("b", 3), plain("z"), placed("a", 0), placed("b", 1)]
    registry = ChunkRegistry(iter(chunks))
    registry.register_pa_chunk(placed("b", 3, note="seen again at its place"))
    assert list(registry) == chunks
    assert all(chunk in registry for chunk in chunks)
    assert placed("b", 2) not in registry
    assert 7 not in registry
    assert repr(registry) == "ChunkRegistry(4 chunks, 3 ids)"


def test_registering_while_iterating_does_not_go_on_forever():
    registry = ChunkRegistry([placed("a")])
    for number, chunk in enumerate(registry, start=1):
        registry.register(placed(chunk.content, number * 5))
    assert len(registry) == 2


@pytest.mark.parametrize("wrong", ["chunk_1", None, {"id": "chunk_1"}, CharacterSpan(DocumentId("a.md"), 0, 5)])
def test_anything_but_a_chunk_is_refused(wrong):
    registry = ChunkRegistry()
    for register in (registry.register, registry.register_chunk, registry.register_pa_chunk):
        with pytest.raises(DatasetError, match="expected a "):
            register(wrong)
    assert len(registry) == 0


def test_an_id_stands_for_one_text():
    registry = ChunkRegistry([PositionAwareChunk("c1", "one", DocumentId("a.md"), 0, 3)])
    with pytest.raises(DatasetError, match="the id 'c1' is used for 'one' and for 'two'"):
        registry.register(PositionAwareChunk("c1", "two", DocumentId("b.md"), 0, 3))
    assert len(registry) == 1


TEXTS = st.sampled_from(["", "a", "ab", "é", "😀"])
CHUNKS = st.builds(placed, TEXTS, st.integers(0, 3), st.sampled_from(["a.md", "b.md"])) | st.builds(
    plain, TEXTS, st.sampled_from(["a.md", "b.md"])
)


@given(st.lists(CHUNKS))
@example([plain("a"), placed("a")])
@example([placed("a"), plain("a")])
@example([placed("a")])
@example([plain("a")])
@example([placed("a", 1, "b.md"), placed("a", 3, "a.md"), placed("a", 0, "a.md")])
@example([plain("a"), placed("a"), placed("a", 9), plain("a", "b.md"), plain("a", section="1")] * 2)
def test_it_finds_what_a_search_through_all_chunks_finds(chunks):
    registry = ChunkRegistry(chunks)
    kept = [chunk for number, chunk in enumerate(chunks) if chunk not in chunks[:number]]
    assert list(registry) == kept
    assert len(registry) == len(kept)
    for text in ("", "a", "ab", "é", "😀", "never"):
        of_text = [chunk for chunk in kept if chunk.content == text]
        of_kind = {
            generate_chunk_id(text): [chunk for chunk in of_text if isinstance(chunk, Chunk)],
            generate_pa_chunk_id(text): [chunk for chunk in of_text if isinstance(chunk, PositionAwareChunk)],
        }
        without, with_place = of_kind.values()
        spans = tuple(chunk.to_span() for chunk in with_place)
        for chunk_id, exact in of_kind.items():
            other = next(found for key, found in of_kind.items() if key != chunk_id)
            assert registry.get(chunk_id) == next(iter(exact or other), None)
            assert registry.get_chunk(chunk_id) == next(iter(without), None)
            assert registry.get_pa_chunk(chunk_id) == next(iter(with_place), None)
            assert registry.get_span(chunk_id) == next(iter(spans), None)
            assert registry.get_spans(chunk_id) == spans
            assert (chunk_id in registry) == bool(of_text)


# --- the fingerprint --------------------------------------------------------------------------------------------------


def test_the_fingerprint_is_the_digest_of_the_sorted_places_and_texts():
    registry = ChunkRegistry([placed("b", 5, "b.md"), placed("a", 10), placed("c", 2), plain("d")])
    a, b, c, d = (hashlib.sha256(text.encode()).hexdigest() for text in "abcd")
    places = json.dumps([["a.md", -1, -1, d], ["a.md", 2, 3, c], ["a.md", 10, 11, a], ["b.md", 5, 6, b]])
    assert registry.fingerprint == hashlib.sha256(places.encode()).hexdigest()


def test_one_chunking_of_one_corpus_has_one_fingerprint(corpus):
    def chunks(chunker, documents):
        return [chunk for document in documents for chunk in chunker.chunk_with_positions(document)]

    chunker = RecursiveCharacterChunker(chunk_size=40)
    one = ChunkRegistry(chunks(chunker, corpus))
    assert one.fingerprint == ChunkRegistry(reversed(chunks(chunker, corpus))).fingerprint
    plainly = [Chunk(chunk.id.removeprefix("pa_"), chunk.content, chunk.doc_id) for chunk in one]
    assert one.fingerprint == ChunkRegistry([*plainly, *one, *one]).fingerprint
    unplaced = [
        ChunkRegistry([*one, *map(plain, texts)]).fingerprint for texts in (["x"], ["y"], ["x", "y"], ["y", "x"])
    ]
    assert len({one.fingerprint, *unplaced}) == 4
    others = [
        chunks(RecursiveCharacterChunker(chunk_size=20), corpus),
        chunks(chunker, corpus.documents[1:]),
        chunks(chunker, [Document(DocumentId(f"x/{document.id}"), document.content) for document in corpus]),
        [],
    ]
    assert len({one.fingerprint, *(ChunkRegistry(other).fingerprint for other in others)}) == 5


def test_the_fingerprint_takes_numbers_of_numpy_and_lone_surrogates():
    exotic = PositionAwareChunk("c", "a", DocumentId("\udc80.md"), np.int64(0), np.int64(1))
    ordinary = PositionAwareChunk("c", "a", DocumentId("\udc80.md"), 0, 1)
    assert ChunkRegistry([exotic]).fingerprint == ChunkRegistry([ordinary]).fingerprint


# --- files ------------------------------------------------------------------------------------------------------------

MIXED = [
    placed("Zeile eins\nzwei 😀", 3, "übung.md", section="Eins", index=4),
    plain("ohne Ort"),
    placed("lone \udc80 surrogate"),
    placed(""),
    placed("Zeile eins\nzwei 😀", 90),
]


@pytest.mark.parametrize("chunks", [MIXED, []], ids=["mixed", "empty"])
def test_what_was_saved_is_loaded_equal(tmp_path, chunks):
    registry = ChunkRegistry(chunks)
    path = registry.save(tmp_path / "deep" / "chunks.jsonl")
    again = ChunkRegistry.load(str(path))
    assert list(again) == chunks
    assert again.fingerprint == registry.fingerprint
    assert [path.name for path in path.parent.iterdir()] == ["chunks.jsonl"]


def test_another_process_finds_the_same_spans(tmp_path, corpus):
    chunks = [chunk for document in corpus for chunk in FixedTokenChunker(tokens=5).chunk_with_positions(document)]
    registry = ChunkRegistry(chunks)
    path = registry.save(tmp_path / "chunks.jsonl")
    script = (
        "import sys; from rag_evaluation_framework import ChunkRegistry; r = ChunkRegistry.load(sys.argv[1]);"
        "print(r.fingerprint, [r.get_span(chunk.id) for chunk in r])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{registry.fingerprint} {[registry.get_span(chunk.id) for chunk in chunks]}"


def test_saving_never_overwrites(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text("mine")
    with pytest.raises(DatasetError, match="already exists and is not overwritten"):
        ChunkRegistry(MIXED).save(path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object(), np.float32(1)])
def test_metadata_that_is_not_json_is_refused_and_nothing_is_written(tmp_path, value):
    with pytest.raises(DatasetError, match=r"c\.jsonl: the metadata of a chunk cannot be written as JSON"):
        ChunkRegistry([placed("a"), placed("b", score=value)]).save(tmp_path / "c.jsonl")
    assert list(tmp_path.iterdir()) == []


HEADER = '{"schema_version": 1, "type": "chunk-registry", "chunks": 1, "fingerprint": "f"}'
GOOD = '{"id": "c", "content": "a", "doc_id": "a.md", "start": 0, "end": 1}'


@each(
    ("text", "message"),
    [
        ("", "is not a registry of chunks"),
        ("[]", "is not a registry of chunks"),
        ('{"schema_version": 1, "questions": []}', "is not a registry of chunks"),
        ('{"schema_version": 2, "type": "chunk-registry"}', "schema_version is 2; this version reads 1"),
        ('{"schema_version": true, "type": "chunk-registry"}', "schema_version is True"),
        ('{"type": "chunk-registry"}', "schema_version is None"),
        (f"{HEADER}\n7", "line 2: expected an object, got 7"),
        (f"{HEADER}\n{GOOD}\n{{", "line 3: not valid JSON"),
        (f"{HEADER}\n" + GOOD.replace('"c"', "7"), "line 2: PositionAwareChunk: id=7 is of type int"),
        (
            f"{HEADER}\n" + GOOD.replace('"doc_id": "a.md", ', ""),
            "line 2: has the keys .*; expected id, content, doc_id",
        ),
        (
            f"{HEADER}\n" + GOOD.replace('"a",', '"a", "metadata": [],'),
            "line 2: PositionAwareChunk: metadata=.* expected a dict",
        ),
        (f"{HEADER}\n" + GOOD.replace('"a",', '"a", "colour": 1,'), "line 2: has the keys .*'colour'.*; expected"),
        (f"{HEADER}\n" + GOOD.replace('"start": 0, ', ""), "line 2: has the keys .*; expected .* start and end"),
        (f"{HEADER}\n" + GOOD.replace(": 0", ": false"), "line 2: PositionAwareChunk: start=False is of type bool"),
        (f"{HEADER}\n" + GOOD.replace(": 0", ": 0.0"), "line 2: PositionAwareChunk: start=0.0 is of type float"),
        (f"{HEADER}\n" + GOOD.replace(": 0", ": 2"), r"line 2: chunk \[2:1\]"),
        (f"{HEADER}\n" + GOOD.replace(": 0", ': 0, "start": 0'), "line 2: .*duplicate key 'start'"),
        (f"{HEADER}\n{GOOD}\n" + GOOD.replace('"a",', '"b",'), "line 3: the id 'c' is used for"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(tmp_path, text, message):
    path = tmp_path / "c.jsonl"
    path.write_text(text)
    with pytest.raises(DatasetError, match=message) as caught:
        ChunkRegistry.load(path)
    assert "c.jsonl" in str(caught.value)


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_file_that_ends_after_any_of_its_lines_is_refused(tmp_path, kept):
    path = ChunkRegistry([plain("a"), placed("b"), placed("b", 7)]).save(tmp_path / "c.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: kept + 1]))
    message = rf"c\.jsonl: its {kept} chunks are not those of its header \(3\); it was truncated or edited"
    with pytest.raises(DatasetError, match=message):
        ChunkRegistry.load(path)


def test_an_edited_position_is_refused(tmp_path):
    path = ChunkRegistry([placed("a"), placed("b", 5)]).save(tmp_path / "c.jsonl")
    path.write_text(path.read_text().replace('"start": 5, "end": 6', '"start": 6, "end": 7'))
    with pytest.raises(DatasetError, match="its 2 chunks are not those of its header"):
        ChunkRegistry.load(path)


@pytest.mark.parametrize(
    "changed",
    [{"chunks": None}, {"fingerprint": None}, {"chunks": "1"}, {"fingerprint": 7}],
)
def test_a_header_without_number_and_fingerprint_is_refused(tmp_path, changed):
    path = ChunkRegistry([placed("a")]).save(tmp_path / "c.jsonl")
    header, rest = path.read_text().split("\n", 1)
    fields = {key: value for key, value in (json.loads(header) | changed).items() if value is not None}
    path.write_text(f"{json.dumps(fields)}\n{rest}")
    with pytest.raises(DatasetError, match=r"its 1 chunks are not those of its header"):
        ChunkRegistry.load(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="cannot be read"):
        ChunkRegistry.load(tmp_path / "c.jsonl")


# --- ground truth by chunk ids ----------------------------------------------------------------------------------------

QUERY = Query.from_text("When does support answer?")


@pytest.mark.parametrize(
    ("chunks", "ids", "relevant"),
    [
        (
            [placed("one"), placed("two", 10), placed("three", 20)],
            ["three", "one"],
            [placed("three", 20), placed("one")],
        ),
        ([placed("one"), placed("one", 9, "b.md")], ["one"], [placed("one"), placed("one", 9, "b.md")]),
        ([placed("one"), plain("one")], ["one", "one"], [placed("one")]),
        ([], [], []),
    ],
    ids=["in their order", "a text that occurs twice", "repeated ids", "no ids"],
)
@pytest.mark.parametrize("forms", [[generate_pa_chunk_id], [generate_chunk_id, generate_pa_chunk_id]])
def test_ids_of_chunks_become_their_spans(chunks, ids, relevant, forms):
    given_ids = (form(text) for text in ids for form in forms)
    entry = TokenLevelGroundTruth.of_chunks(QUERY, given_ids, ChunkRegistry(chunks))
    assert entry == TokenLevelGroundTruth(QUERY, [chunk.to_span() for chunk in relevant])
    assert [span.text for span in entry.relevant] == [chunk.content for chunk in relevant]


@pytest.mark.parametrize(
    ("ids", "named"),
    [
        ([placed("one").id, plain("two").id, "pa_chunk_nowhere"], f"'{plain('two').id}', 'pa_chunk_nowhere';"),
        ([f"c{number}" for number in range(8)], "'c0', 'c1', 'c2', 'c3', 'c4' and 3 more;"),
    ],
)
def test_ids_without_a_known_position_are_refused_and_five_are_named(ids, named):
    with pytest.raises(DatasetError, match=f"{QUERY.id}.*: unknown position of {named}"):
        TokenLevelGroundTruth.of_chunks(QUERY, ids, ChunkRegistry([placed("one"), plain("two")]))


@given(st.sets(st.integers(0, 8)), st.sets(st.integers(0, 8)))
def test_ids_and_spans_give_equal_metrics(relevant, retrieved):
    text = "".join(f"Sentence {number} stands here. " for number in range(9))
    document = Document(DocumentId("a.md"), text)
    width = len(text) // 9
    chunks = [PositionAwareChunk.of(document, number * width, (number + 1) * width) for number in range(9)]
    by_ids = TokenLevelGroundTruth.of_chunks(QUERY, [chunks[n].id for n in sorted(relevant)], ChunkRegistry(chunks))
    by_spans = TokenLevelGroundTruth(QUERY, [chunks[number].to_span() for number in sorted(relevant)])
    found = [chunks[number].to_span() for number in sorted(retrieved)]
    for metric in (SpanRecall(), SpanPrecision(), SpanIoU()):
        assert metric.calculate(found, by_ids.relevant) == metric.calculate(found, by_spans.relevant)
    corpus = Corpus([document])
    one, other = (Dataset([entry], TOKEN, corpus=corpus) for entry in (by_ids, by_spans))
    assert one.content_hash == other.content_hash
