import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    PositionAwareChunk,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
)
from rag_evaluation_framework.data import Answer, QueryId, QueryText, generate_query_id
from rag_evaluation_framework.datasets import (
    ChunkLevelDatasetExample,
    ChunkLevelRunOutput,
    DocumentLevelDatasetExample,
    TokenLevelDatasetExample,
    TokenLevelRunOutput,
    dataset_from_examples,
    to_example,
)
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch
from support.each import each

REFUNDS = "Refunds take five working days."
FOOTER = "Support answers within one day."


def place(corpus, doc_id, text):
    start = corpus[doc_id].content.index(text)
    return CharacterSpan(DocumentId(doc_id), start, start + len(text), text)


def example(outputs, text="How long?", **fields):
    return {"inputs": {"query": text}, "outputs": outputs, **fields}


def written(folder, *examples, name="set.json"):
    path = folder / name
    rows = list(examples)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) if name.endswith("l") else json.dumps(rows))
    return path


def only(*examples, level=TOKEN, **options):
    (entry,) = dataset_from_examples(examples, level, **options)
    return entry


# --- what examples look like ------------------------------------------------------------------------------------------


def test_examples_have_the_shapes_that_are_declared(corpus):
    query = Query(QueryId("q1"), QueryText("How long?"), {"sourceDocs": ["a.md"]})
    span, bare = CharacterSpan(DocumentId("a.md"), 0, 5, "Hello"), CharacterSpan(DocumentId("billing.md"), 2, 9)
    chunk: ChunkLevelDatasetExample = to_example(ChunkLevelGroundTruth(query, ["chunk_1"]))
    token: TokenLevelDatasetExample = to_example(TokenLevelGroundTruth(query, [span, bare]))
    document: DocumentLevelDatasetExample = to_example(DocumentLevelGroundTruth(query, ["a.md"]))
    around = {"inputs": {"query": "How long?"}, "metadata": {"sourceDocs": ["a.md"], "query_id": "q1"}}
    assert chunk == {**around, "outputs": {"relevant_chunk_ids": ["chunk_1"]}}
    spans = [
        {"doc_id": "a.md", "start": 0, "end": 5, "text": "Hello"},
        {"doc_id": "billing.md", "start": 2, "end": 9},
    ]
    assert token == {**around, "outputs": {"relevant_spans": spans}}
    assert document == {**around, "outputs": {"relevant_document_ids": ["a.md"]}}
    assert query.metadata == {"sourceDocs": ["a.md"]}
    known = to_example(TokenLevelGroundTruth(query, [bare]), corpus)  # with the corpus every span carries its text
    assert known["outputs"]["relevant_spans"] == [{**spans[1], "text": "Billing"}]
    for shape in (ChunkLevelDatasetExample, TokenLevelDatasetExample, DocumentLevelDatasetExample):
        assert set(shape.__annotations__) == {"inputs", "outputs", "metadata"}
        assert shape.__optional_keys__ == {"metadata"}
    assert set(ChunkLevelRunOutput.__annotations__) == {"retrieved_chunk_ids"}
    assert set(TokenLevelRunOutput.__annotations__) == {"retrieved_spans", "retrieved_chunk_ids"}


QUERY = Query(QueryId("q1"), QueryText("How – long 😀?"), {"persona": "new", "nested": {"a": [1]}})
PAGE, COPY, SECOND = (CharacterSpan(DocumentId(d), start, start + 3) for d, start in (("a", 0), ("b", 9), ("b", 20)))
TRUTHS = [
    DocumentLevelGroundTruth(QUERY, ["a.md", "b.md", "a.md"], ["c/"], {"a.md": 2.5, "c/*": 3}),
    DocumentLevelGroundTruth(QUERY, []),
    ChunkLevelGroundTruth(QUERY, ["chunk_1", "pa_chunk_2"], {"chunk_2": 0.5}),
    ChunkLevelGroundTruth(Query.from_text("How?"), []),
    TokenLevelGroundTruth(
        QUERY, [CharacterSpan(DocumentId("a.md"), 3, 9), CharacterSpan(DocumentId("b.md"), 0, 1, "x")]
    ),
    TokenLevelGroundTruth(QUERY, []),
    TokenLevelGroundTruth(QUERY, [PAGE, Answer.any_of(PAGE, [COPY, SECOND])]),
    ChunkLevelGroundTruth(QUERY, [Answer.any_of("chunk_1", ["chunk_2", "chunk_3"]), "chunk_4"], {"chunk_1": 2.0}),
    DocumentLevelGroundTruth(QUERY, [Answer.any_of("a.md", "b.md"), "c.md"], ["d/"], {"d/*": 3}),
]


@pytest.mark.parametrize("name", ["set.json", "set.jsonl"])
@pytest.mark.parametrize("entry", TRUTHS)
def test_what_was_written_is_read_back_equal(tmp_path, entry, name):
    read = only(to_example(entry), level=entry.level)
    (again,) = load_dataset(written(tmp_path, to_example(entry), name=name), entry.level)
    assert read == again == entry
    assert (read.answers, again.query.metadata) == (entry.answers, entry.query.metadata)
    assert Dataset([read], entry.level).content_hash == Dataset([entry], entry.level).content_hash


@given(st.lists(st.tuples(st.sampled_from(["a.md", "b.md"]), st.integers(0, 9), st.integers(1, 9)), max_size=5))
def test_any_spans_are_read_back_equal(spans):
    entry = TokenLevelGroundTruth(QUERY, [CharacterSpan(DocumentId(d), start, start + n) for d, start, n in spans])
    assert only(to_example(entry)) == entry


# --- the names that are known -----------------------------------------------------------------------------------------


@each("key", ["relevant_document_ids", "relevantDocumentIds", "source_ids", "sourceIds"])
@each("prefixes", ["relevant_prefixes", "relevantPrefixes", "anyOfSourceIdPrefixes"])
def test_document_ids_are_read_under_their_usual_names(key, prefixes):
    entry = only(example({key: ["a.md"], prefixes: ["b/"], "gains": {"b/*": 2}}), level=DOCUMENT)
    assert entry == DocumentLevelGroundTruth(entry.query, ["a.md"], ["b/"], {"b/*": 2.0})


CHUNK_IDS = ["chunk_a3f2b1c8d9e0", "pa_chunk_7d9e4f2a", "0a1b2c3d", "a.md:3"]
BARE = ("chunk_a3f2b1c8d9e0", "chunk_7d9e4f2a", "0a1b2c3d", "a.md:3")
PLACES = [{"spans": [{"docId": "a", "start": 0, "end": 3}, {"docId": "a", "start": 5, "end": 6}]}]
BILLING = (CharacterSpan(DocumentId("billing.md"), 2, 9),)


@pytest.mark.parametrize(
    ("level", "key", "labels", "relevant"),
    [
        (CHUNK, "relevant_chunk_ids", CHUNK_IDS, BARE),
        (CHUNK, "relevantChunkIds", CHUNK_IDS, BARE),
        (CHUNK, "chunk_ids", CHUNK_IDS, BARE),
        (CHUNK, "chunkIds", CHUNK_IDS, BARE),
        (TOKEN, "relevant_spans", [{"doc_id": "billing.md", "start": 2, "end": 9, "text": "Billing"}], BILLING),
        (TOKEN, "relevantSpans", [{"docId": "billing.md", "start": 2, "end": 9, "text": "Billing"}], BILLING),
        (TOKEN, "excerpts", [{"docId": "billing.md", "start": 2, "end": 9}], BILLING),
        (TOKEN, "answers", [{"places": PLACES}], (PAGE, CharacterSpan(DocumentId("a"), 5, 6))),
    ],
)
def test_labels_are_read_under_their_usual_names_and_as_they_are(level, key, labels, relevant):
    assert only(example({key: labels}), level=level).relevant == relevant


def test_excerpts_are_located_in_the_corpus_also_if_they_are_cut_within_words_or_their_document_is_named(corpus):
    excerpts = [REFUNDS, "Export your  data first.", f"“{REFUNDS}”", REFUNDS[3:-4]]
    assert only(example({"excerpts": excerpts}), corpus=corpus).relevant == (
        place(corpus, "billing.md", REFUNDS),
        place(corpus, "guides/stop.md", "Export your data first."),
        place(corpus, "billing.md", REFUNDS),
        place(corpus, "billing.md", REFUNDS[3:-4]),
    )
    outputs = {"chunk_ids": ["chunk_1"], "excerpts": [FOOTER], "metadata": {"doc_id": "stop", "relevance_score": 0.8}}
    entry = only(example(outputs), corpus=corpus)
    assert entry.relevant == (place(corpus, "guides/stop.md", FOOTER),)
    assert entry.query.metadata == {"chunk_ids": ["chunk_1"], "doc_id": "stop", "relevance_score": 0.8}
    assert only(example(outputs), level=CHUNK).relevant == ("chunk_1",)


def test_labels_of_both_levels_are_written_as_they_are_read(corpus):
    """R192: an example that has chunks and quotes has both again, whichever was read."""
    outputs = {"chunk_ids": ["chunk_1"], "excerpts": [REFUNDS], "metadata": {"doc_id": "billing.md"}}
    given = {"inputs": {"query": "Whom do I ask?"}, "outputs": outputs}
    first = [dataset_from_examples([given], level, corpus=corpus) for level in (CHUNK, TOKEN)]
    for dataset in first:
        written = [json.loads(json.dumps(to_example(entry, corpus))) for entry in dataset]
        again = [dataset_from_examples(written, level, corpus=corpus) for level in (CHUNK, TOKEN)]
        assert [one.ground_truth[0].relevant for one in again] == [one.ground_truth[0].relevant for one in first]


def chunks_of(corpus):
    spans = [
        place(corpus, "billing.md", REFUNDS),
        *(place(corpus, f"guides/{n}.md", FOOTER) for n in ("start", "stop")),
    ]
    return [PositionAwareChunk.of(corpus[span.doc_id], span.start, span.end) for span in spans]


@pytest.mark.parametrize("key", ["relevant_chunk_ids", "relevantChunkIds", "chunk_ids"])
def test_ids_of_position_aware_chunks_become_their_spans(corpus, key):
    chunks = chunks_of(corpus)
    registry = ChunkRegistry(chunks)
    entry = only(example({key: [chunks[0].id, chunks[1].id], "excerpts": ["nowhere"]}), registry=registry)
    assert entry.relevant == tuple(chunk.to_span() for chunk in chunks)  # the footer stands at two places
    assert entry == TokenLevelGroundTruth.of_chunks(entry.query, [chunks[0].id, chunks[1].id], registry)
    assert only(example({key: []}), registry=ChunkRegistry()).relevant == ()


def test_an_id_unknown_to_the_registry_or_none_at_all_is_refused_with_its_location(corpus):
    rows = [
        example({"relevant_chunk_ids": [chunks_of(corpus)[0].id, "pa_chunk_no"]}),
        example({"relevant_spans": 7}, "b"),
        example({"chunk_ids": [{"type": "bm25"}]}, "c"),
    ]
    with pytest.raises(DatasetError) as caught:
        dataset_from_examples(rows, TOKEN, registry=ChunkRegistry(chunks_of(corpus)))
    assert "$[0].outputs.relevant_chunk_ids: " in str(caught.value)
    assert "unknown position of 'pa_chunk_no'" in str(caught.value)
    assert "$[1].outputs.relevant_spans: expected a list, got 7" in str(caught.value)
    assert re.search(r"\$\[2\]\.outputs\.chunk_ids: .*{'type': 'bm25'}; expected a list of ids", str(caught.value))


def test_utf_16_offsets_are_converted(tmp_path):
    path = written(tmp_path, example({"relevantSpans": [{"docId": "billing.md", "start": 3, "end": 10}]}))
    emoji = Corpus([Document(DocumentId("billing.md"), "\U0001f600 Billing")])
    (entry,) = load_dataset(path, corpus=emoji, utf16_offsets=True)
    assert entry.relevant == (CharacterSpan(DocumentId("billing.md"), 2, 9),)


# --- names of one's own -----------------------------------------------------------------------------------------------


def test_other_names_of_fields_can_be_given_and_are_the_only_ones_that_are_read(tmp_path, corpus, recwarn):
    def row(**outputs):
        return {"inputs": {"question": "How long?"}, "outputs": outputs}

    names = {"query_key": "question", "ground_truth_key": "gold"}
    (entry,) = load_dataset(written(tmp_path, row(gold=["chunk_1"])), CHUNK, **names)
    assert (entry.query.text, entry.relevant) == ("How long?", ("chunk_1",))
    assert only(row(gold={"a.md": 2}), level=DOCUMENT, **names).gains == {"a.md": 2.0}
    span = {"doc_id": "billing.md", "start": 2, "end": 9}
    assert only(row(gold=[span]), **names).relevant == (CharacterSpan(DocumentId("billing.md"), 2, 9),)
    assert only(row(gold=[REFUNDS]), corpus=corpus, **names).relevant == (place(corpus, "billing.md", REFUNDS),)
    chunks = chunks_of(corpus)
    assert only(row(gold=[chunks[0].id]), registry=ChunkRegistry(chunks), **names).relevant == (chunks[0].to_span(),)
    assert not recwarn.list
    for key, told in {
        "ground_truth_key": r"\$\[0\]\.outputs: expected the ground truth under 'mine', got 'chunk_ids'",
        "query_key": r"\$\[0\]\.inputs: expected the question under 'mine', got 'query'; or",
    }.items():
        with pytest.raises(DatasetError, match=told):
            only(example({"chunk_ids": ["chunk_1"]}), level=CHUNK, **{key: "mine"})


# --- ids and metadata -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "query_id", "metadata"),
    [
        ({"id": "0f9e", "metadata": {"query_id": "q7", "a": 1}}, "q7", {"a": 1}),
        ({"metadata": {"queryId": "q7"}}, "q7", {}),
        ({"id": "0a1b2c3d"}, "0a1b2c3d", {}),
        ({}, generate_query_id("How long?"), {}),
        ({"metadata": {"query_id": 7}}, generate_query_id("How long?"), {"query_id": 7}),
    ],
    ids=["its own", "in camel case", "of the example", "of the wording", "no id"],
)
def test_the_id_of_a_question_is_its_own_or_that_of_the_example_or_follows_from_its_wording(fields, query_id, metadata):
    entry = only(example({"chunk_ids": []}, **fields), level=CHUNK)
    assert (entry.query.id, entry.query.metadata) == (query_id, metadata)


NOTED = {"rag_eval": {"evaluation_type": "chunk-level", "position": 3}, "dataset_split": ["base"], "tag": 1}
STORED = dict.fromkeys(("dataset_id", "created_at", "modified_at", "source_run_id", "attachments"), "x")
OUTPUTS = {"source_docs": ["a.md"], "generation_model": "m"}


@pytest.mark.parametrize(
    ("outputs", "fields", "kept"),
    [
        ({"metadata": OUTPUTS}, {"metadata": {"generationType": "new"}}, {**OUTPUTS, "generationType": "new"}),
        ({}, {**STORED, "metadata": None}, {}),
        ({}, {"metadata": NOTED}, {"tag": 1}),
        ({}, {"metadata": {"dataset_split": ["test"]}}, {"dataset_split": ["test"]}),
    ],
    ids=["of example and outputs", "where LangSmith keeps it", "what a push noted", "the split"],
)
def test_metadata_is_kept_but_for_what_was_noted_of_the_example(outputs, fields, kept):
    assert only(example({"chunk_ids": ["c"], **outputs}, **fields), level=CHUNK).query.metadata == kept


def test_unknown_keys_are_kept_with_a_warning_each_also_answers_that_are_texts():
    row = example({"chunk_ids": ["c"], "answer": "5 days", "answers": ["five days"]}, split="test")
    row["inputs"]["history"] = []
    with pytest.warns(UserWarning, match="unknown key") as caught:
        (entry, _) = dataset_from_examples([row, {**row, "id": "other"}], CHUNK)
    assert len(caught) == 4
    assert entry.relevant == ("c",)
    assert entry.query.metadata == {"answer": "5 days", "answers": ["five days"], "split": "test", "history": []}


def test_any_iterable_of_examples_is_read_and_not_changed_and_equal_generated_ids_are_told_apart():
    wordings = ["Why?", "What is said in section 70272?", "What is said in section 80025?"]
    rows = [example({"chunkIds": []}, text, metadata={"a": [1]}) for text in wordings]
    before = json.dumps(rows)
    dataset = dataset_from_examples(iter(rows), CHUNK, name="made")
    assert (len(dataset), dataset.name) == (3, "made")
    assert [query.id for query in dataset.queries[1:]] == ["query_de826fd4", "query_de826fd48121ad7e"]
    assert json.dumps(rows) == before
    rows[0]["metadata"]["late"] = 1
    assert dataset.queries[0].metadata == {"a": [1]}


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "level", "message"),
    [
        (
            example({"relevant_spans": []}),
            CHUNK,
            r"outputs.* has token-level .*expected chunk-level: .*ChunkLevelEvaluation projects it",
        ),
        (example({"excerpts": ["x"]}), DOCUMENT, "outputs.* has token-level .*DocumentLevelEvaluation projects it"),
        (example({"sourceIds": ["x"]}), TOKEN, r"outputs.* has document-level .*load_dataset\(path, DOCUMENT\)"),
        (example({"sourceIds": ["x"]}), CHUNK, r"outputs.* has document-level .*load_dataset\(path, DOCUMENT\)"),
        (example({"chunk_ids": ["x"]}), DOCUMENT, r"outputs.* has chunk-level .*load_dataset\(path, CHUNK\)"),
        (
            example({"chunk_ids": ["pa_chunk_1"]}),
            TOKEN,
            r"outputs.* pass registry= .*, or read it .*: load_dataset\(path, CHUNK\)",
        ),
        (  # what push_dataset noted
            example({"answers": [{"places": ["a"]}]}, metadata={"rag_eval": {"evaluation_type": "document-level"}}),
            CHUNK,
            "has document-level ground truth, expected chunk-level",
        ),
    ],
)
def test_another_level_than_that_of_the_examples_is_refused(tmp_path, row, level, message):
    with pytest.raises(LevelMismatch, match=message) as caught:
        load_dataset(written(tmp_path, row), level)
    assert "set.json: $[0]" in str(caught.value)


@each(
    ("row", "message"),
    [
        ("text", r"\$\[1\]: "),
        ({"outputs": {}}, r"\$\[1\]\.inputs: "),
        ({"inputs": "text", "outputs": {}}, r"\$\[1\]\.inputs: "),
        (
            {"inputs": {"gefragt": "Wie?", "user": 1}, "outputs": {"chunk_ids": []}},
            r"\$\[1\]\.inputs: expected the question under 'query', got 'gefragt', 'user'; or pass query_key=, "
            "on the command line --query-key$",
        ),
        ({"inputs": {}, "outputs": {}}, r"\$\[1\]\.inputs: expected the question under 'query', got nothing; "),
        ({"inputs": {"query": 7}, "outputs": {}}, r"\$\[1\]\.inputs\.query: expected the question as a string, got 7"),
        (example({"chunk_ids": []}, "  "), r"\$\[1\]\.query: is blank"),
        (example({"chunk_ids": []}, "\ud800"), r"\$\[1\]: the question contains a lone surrogate"),
        (example({"chunk_ids": []}, "First?"), r"\$\[1\]\.id: 'query_\w+' is already the id of an earlier question"),
        (example({"chunk_ids": []}, id=7), r"\$\[1\]\.id: "),
        (example({"chunk_ids": []}, metadata=[]), r"\$\[1\]\.metadata: "),
        (example(None), r"\$\[1\]\.outputs: expected the ground truth under 'relevant_chunk_ids' or .*got nothing"),
        (
            example({"answer": "x"}),
            r"\$\[1\]\.outputs: expected the ground truth .*got 'answer'; .*ground_truth_key=, .* --ground-truth-key$",
        ),
        (example([]), r"\$\[1\]\.outputs: "),
        (example({"chunk_ids": None}), r"\$\[1\]\.outputs\.chunk_ids: expected a list of ids"),
        (example({"chunk_ids": "c"}), r"\$\[1\]\.outputs\.chunk_ids: expected a list of ids"),
        (example({"chunk_ids": [7]}), r"\$\[1\]\.outputs\.chunk_ids\[0\]: expected an id, got 7"),
        (example({"chunk_ids": ["c"], "gains": {"c": True}}), r"\$\[1\]\.outputs\.gains\.c: expected a gain"),
        (example({"chunk_ids": ["c"], "gains": {"d": 1}}), r"\$\[1\]\.outputs\.gains: .*not among the relevant"),
        (
            example({"chunk_ids": ["c"], "answers": [{"places": ["c"]}]}),
            r"\$\[1\]\.outputs\.chunk_ids: beside `answers`; expected one of the two",
        ),
        (example({"chunk_ids": [], "metadata": 7}), r"\$\[1\]\.outputs\.metadata: expected an object, got 7"),
    ],
)
def test_a_bad_example_is_named_by_its_json_path(tmp_path, row, message):
    with pytest.raises(DatasetError, match=message):
        load_dataset(written(tmp_path, example({"chunk_ids": []}, "First?"), row), CHUNK)


PLACE = r"\$\[0\]\.outputs\.answers\[0\]\.places\[1\]"


@pytest.mark.parametrize(
    ("level", "outputs", "message"),
    [
        (TOKEN, {"relevant_spans": [7]}, r"relevant_spans\[0\]: "),
        (TOKEN, {"relevant_spans": [{"doc_id": "a.md", "start": 0}]}, r"relevant_spans\[0\]\.end: "),
        (TOKEN, {"relevant_spans": [{"doc_id": "a", "start": True, "end": 2}]}, r"relevant_spans\[0\]\.start: "),
        (TOKEN, {"relevant_spans": [{"doc_id": "a", "start": 2, "end": 2}]}, r"relevant_spans\[0\]: .*is empty"),
        (TOKEN, {"relevant_spans": [{"doc_id": "a", "start": 0, "end": 2, "text": "x"}]}, r"\[0\]: .*its text has 1"),
        (
            TOKEN,
            {"relevant_spans": ["quote"]},
            r"relevant_spans\[0\]: a quote has to be located in the documents; pass corpus=.* --corpus$",
        ),
        (TOKEN, {"relevant_spans": [" "]}, r"relevant_spans\[0\]: is blank"),
        (DOCUMENT, {"sourceIds": [], "relevant_prefixes": "b/"}, r"outputs\.relevant_prefixes: expected a list of str"),
        (DOCUMENT, {"sourceIds": [], "relevant_prefixes": [7]}, r"outputs\.relevant_prefixes: expected a list of str"),
        (TOKEN, {"answers": [{"places": [7, 7]}]}, PLACE),
        (CHUNK, {"answers": [{"places": [7, 7]}]}, PLACE),
        (DOCUMENT, {"answers": [{"places": [7, 7]}]}, PLACE),
    ],
)
def test_a_label_that_is_not_valid_is_named_by_its_json_path(level, outputs, message):
    with pytest.raises(DatasetError, match=message):
        only(example(outputs), level=level)


def test_excerpts_that_do_not_occur_exactly_once_and_spans_of_no_document_are_refused_with_advice(corpus):
    with pytest.raises(DatasetError) as caught:
        only(example({"excerpts": [FOOTER, "Refunds take 5 working days.", ""]}), corpus=corpus)
    message = str(caught.value)
    assert f"$[0].outputs.excerpts[0]: the quote '{FOOTER}' is ambiguous: guides/start.md:3:45 (" in message
    assert ": name the document" in message
    assert "$[0].outputs.excerpts[1]: the quote 'Refunds take 5 working days.' is missing: nearest passage" in message
    assert "$[0].outputs.excerpts[2]: is blank" in message
    told = r"\$\[0\]\.outputs\.relevantSpans\[0\]: the corpus has no document 'prices.md'"
    with pytest.raises(DatasetError, match=told):
        only(example({"relevantSpans": [{"docId": "prices.md", "start": 0, "end": 2}]}), corpus=corpus)


def test_lines_are_named_in_jsonl(tmp_path):
    path = written(tmp_path, example({"chunk_ids": []}), example({"chunk_ids": [7]}, "b"), name="set.jsonl")
    with pytest.raises(DatasetError, match=r"set\.jsonl: line 2: \$\.outputs\.chunk_ids\[0\]: expected an id"):
        load_dataset(path, CHUNK)


def test_an_unknown_option_is_refused():
    options: Any = {"corpsu": None}
    with pytest.raises(ConfigError, match=r"^corpsu: unknown key; did you mean corpus\?$"):
        dataset_from_examples([], DOCUMENT, **options)
