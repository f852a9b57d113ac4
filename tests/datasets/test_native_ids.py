"""The native format at document and chunk level: ids, prefixes and gains."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from support.each import each

ENDINGS = [".json", ".jsonl"]
GRADED = {"billing.md": 2.5, "guides/start.md": 1e-300}


def query(number=1, **metadata):
    return Query(QueryId(f"q{number}"), QueryText(f"Which of 😀 {number}?"), metadata)


def documents():
    return Dataset(
        [
            DocumentLevelGroundTruth(query(1, tags=["x"]), ["billing.md", "guides/start.md"], (), GRADED),
            DocumentLevelGroundTruth(query(2), ["guides/stop.md"], ["guides/", "bill"], {"guides/*": 3}),
            DocumentLevelGroundTruth(query(3), []),
            DocumentLevelGroundTruth(query(4), ["billing.md", "billing.md"]),
        ],
        DOCUMENT,
        name="by hand",
        metadata={"author": "Zoë"},
    )


def chunks():
    return Dataset(
        [
            ChunkLevelGroundTruth(
                query(1), ["chunk_a3f2b1c8d9e0", "pa_chunk_7d9e4f2a1b3c"], {"chunk_7d9e4f2a1b3c": 1e100}
            ),
            ChunkLevelGroundTruth(query(2), ["chunk_0a1b2c3d", "0a1b2c3d", "a.md:7", "7"]),
            ChunkLevelGroundTruth(query(3), []),
        ],
        CHUNK,
        name="cited",
        chunking="f" * 64,
    )


def written(folder, level, *questions, ending=".json", **header):
    path = folder / f"data{ending}"
    header = {"schema_version": 1, "evaluation_type": level.evaluation_type, **header}
    if ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in (header, *questions)))
    else:
        path.write_text(json.dumps({**header, "questions": list(questions)}))
    return path


def asked(**truth):
    return {"id": "q1", "query": "Which?", **truth}


# --- round trip -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("with_corpus", [True, False], ids=["corpus", "no corpus"])
@pytest.mark.parametrize("dataset", [documents(), chunks()], ids=["documents", "chunks"])
def test_what_was_saved_is_read_back_equal(tmp_path, corpus, dataset, with_corpus, ending):
    given = corpus if with_corpus else None
    saved = save_dataset(dataset if given is None else dataset.with_corpus(given), tmp_path / f"d{ending}")
    again = load_dataset(saved, dataset.level, corpus=given)
    assert again.ground_truth == load_dataset(saved, dataset.level).ground_truth == dataset.ground_truth
    assert given is not None or again == dataset
    assert again.content_hash == dataset.content_hash
    assert again.chunking == dataset.chunking
    assert [entry.gains for entry in again] == [entry.gains for entry in dataset]


IDS = st.text(min_size=1).filter(str.strip)
GAINS = st.floats(min_value=0, max_value=1e100, exclude_min=True)


@st.composite
def graded(draw, kind):
    ids = draw(st.lists(IDS, max_size=4))
    bare = kind(query(), ids)
    gains = {unit: draw(GAINS) for unit in bare.relevant if draw(st.booleans())}
    return kind(query(), ids, gains=gains)


@given(graded(DocumentLevelGroundTruth) | graded(ChunkLevelGroundTruth), st.sampled_from(ENDINGS))
def test_any_ids_and_gains_are_read_back_equal(tmp_path_factory, entry, ending):
    dataset = Dataset([entry], entry.level)
    again = load_dataset(save_dataset(dataset, tmp_path_factory.mktemp("d") / f"d{ending}"), entry.level)
    assert again.ground_truth == dataset.ground_truth
    assert again.content_hash == dataset.content_hash


def test_a_chunk_level_file_says_which_chunking_was_labelled_even_if_that_is_not_known(tmp_path):
    for number, chunking in enumerate(["f" * 64, None]):
        dataset = Dataset(chunks().ground_truth, CHUNK, chunking=chunking)
        path = save_dataset(dataset, tmp_path / f"{number}.json")
        assert json.loads(path.read_text())["chunking"] == chunking
        assert load_dataset(path, CHUNK).chunking == chunking
    assert "chunking" not in json.loads(save_dataset(documents(), tmp_path / "d.json").read_text())


def test_labels_that_are_not_in_the_corpus_are_not_saved(tmp_path, corpus):
    entry = DocumentLevelGroundTruth(query(), ["billing.md", "prices.md"], ["guides/", "faq/"])
    with pytest.raises(DatasetError) as caught:
        save_dataset(Dataset([entry], DOCUMENT, name="mine", corpus=corpus), tmp_path / "d.json")
    assert str(caught.value).splitlines() == [
        "dataset 'mine': 2 problems:",
        "  question 'q1': the corpus has no document 'prices.md'",
        "  question 'q1': no document in the corpus starts with 'faq/'",
    ]
    assert list(tmp_path.iterdir()) == []


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_camel_case_is_read(tmp_path, ending):
    row = asked(relevantDocumentIds=["a.md"], relevantPrefixes=["b/"], gains={"b/*": 2})
    (entry,) = load_dataset(written(tmp_path, DOCUMENT, row, ending=ending), DOCUMENT)
    assert entry == DocumentLevelGroundTruth(entry.query, ["a.md"], ["b/"], {"b/*": 2.0})
    row = asked(relevantChunkIds=["chunk_1"])
    (entry,) = load_dataset(written(tmp_path, CHUNK, row, ending=ending, chunking="f"), CHUNK)
    assert entry.relevant == ("chunk_1",)


@pytest.mark.parametrize(("level", "key"), [(DOCUMENT, "relevant_document_ids"), (CHUNK, "relevant_chunk_ids")])
def test_gains_may_be_given_with_the_ids_and_in_any_order(tmp_path, level, key):
    apart = asked(**{key: ["x", "y"]}, gains={"y": 2, "x": 0.5})
    rows = apart, dict(reversed(apart.items())), asked(**{key: {"x": 0.5, "y": 2}})
    datasets = [load_dataset(written(tmp_path, level, row), level) for row in rows]
    assert datasets[0] == datasets[1] == datasets[2]
    (entry,) = datasets[0]
    assert entry.relevant == ("x", "y")
    assert [entry.gain(unit) for unit in entry.relevant] == [0.5, 2.0]


def test_with_the_corpus_documents_may_be_named_by_their_stem(tmp_path, corpus):
    row = asked(relevant_document_ids=["billing", "start.md"], relevant_prefixes=["guides/st"], gains={"billing": 2})
    (entry,) = load_dataset(written(tmp_path, DOCUMENT, row), DOCUMENT, corpus=corpus)
    assert entry.relevant_document_ids == ("billing.md", "guides/start.md")
    assert entry.relevant == ("billing.md", "guides/st*")
    assert entry.gains == {"billing.md": 2.0}


def test_documents_that_the_corpus_lacks_or_has_twice_are_refused_with_their_location(tmp_path):
    corpus = Corpus(Document(DocumentId(name), "x") for name in ("a/faq.md", "b/faq.md"))
    row = asked(relevant_document_ids=["prices.md", "faq"], relevant_prefixes=["a/", "faq/"])
    path = written(tmp_path, DOCUMENT, row)
    with pytest.raises(DatasetError) as caught:
        load_dataset(path, DOCUMENT, corpus=corpus)
    first, *lines = str(caught.value).splitlines()
    place = "  $.questions[0].relevant"
    assert first == f"{path}: 3 problems:"
    assert [line.partition(";")[0] for line in sorted(lines)] == [
        f"{place}_document_ids[0]: the corpus has no document 'prices.md' (it has a/faq.md, b/faq.md)",
        f"{place}_document_ids[1]: document 'faq' is ambiguous: a/faq.md or b/faq.md",
        f"{place}_prefixes[1]: no document in the corpus starts with 'faq/'",
    ]


# --- strictness -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "gain",
    ["0", "-1", "-0.0", "1" + "0" * 400, "true", "false", "null", '"2"', "[1]", "{}", "[" * 500 + "]" * 500],
    ids=lambda text: text[:8],
)
@pytest.mark.parametrize(("level", "key"), [(DOCUMENT, "relevant_document_ids"), (CHUNK, "relevant_chunk_ids")])
@pytest.mark.parametrize("apart", [True, False], ids=["apart", "at once"])
def test_a_gain_is_a_finite_number_above_zero(tmp_path, level, key, gain, apart, ending):
    truth = {key: ["u"], "gains": {"u": "GAIN"}} if apart else {key: {"u": "GAIN"}}
    path = written(tmp_path, level, asked(**truth), ending=ending)
    path.write_text(path.read_text().replace('"GAIN"', gain))
    with pytest.raises(
        DatasetError, match=rf"{'gains' if apart else key}\.u: expected a gain \(a finite number above 0\)"
    ):
        load_dataset(path, level)


@each(
    ("truth", "message"),
    [
        ({}, r"\$\.questions\[0\]\.relevant_document_ids: Field required"),
        ({"relevant_document_ids": None}, r"relevant_document_ids: expected a list of ids .* got None"),
        ({"relevant_document_ids": "a.md"}, r"relevant_document_ids: expected a list of ids .* got 'a.md'"),
        ({"relevant_document_ids": ["a.md", 7]}, r"relevant_document_ids\[1\]: expected an id, got 7"),
        ({"relevant_document_ids": [["a.md"]]}, r"relevant_document_ids\[0\]: expected an id, got \['a.md'\]"),
        ({"relevant_document_ids": [""]}, r"relevant_document_ids\[0\]: is blank"),
        ({"relevant_document_ids": {" ": 1}}, r"relevant_document_ids\[' '\]: is blank"),
        ({"relevant_document_ids": [], "relevant_prefixes": "a"}, r"relevant_prefixes: .*valid list"),
        ({"relevant_document_ids": [], "relevant_prefixes": [7]}, r"relevant_prefixes\[0\]: .*valid string"),
        ({"relevant_document_ids": [], "relevant_prefixes": ["a", ""]}, r"relevant_prefixes\[1\]: an empty prefix"),
        ({"relevant_document_ids": ["a"], "gains": [1]}, r"gains: expected an object {id: gain}, got \[1\]"),
        ({"relevant_document_ids": ["a"], "gains": {"b": 1}}, r"gains: .*'b' has a gain, but is not among"),
        ({"relevant_document_ids": ["a"], "gains": {"a*": 1}}, r"gains: .*'a\*' has a gain, but is not among"),
        (
            {"relevant_document_ids": ["a/x"], "relevant_prefixes": ["a/"], "gains": {"a/x": 2}},
            r"gains: .*'a/x' has a gain, but is not among",
        ),
        ({"relevant_document_ids": {"a": 1}, "gains": {"a": 2}}, r"gains\.a: 'a' has two gains, 1 and 2; keep one"),
    ],
)
def test_a_bad_value_is_named_by_its_json_path(tmp_path, truth, message):
    with pytest.raises(DatasetError, match=message) as caught:
        load_dataset(written(tmp_path, DOCUMENT, asked(**truth)), DOCUMENT)
    assert "data.json: $.questions[0]" in str(caught.value)


def test_two_names_of_one_chunk_or_document_cannot_have_two_gains(tmp_path, corpus):
    path = written(tmp_path, CHUNK, asked(relevant_chunk_ids={"chunk_1": 1, "pa_chunk_1": 2}))
    with pytest.raises(DatasetError, match=r"pa_chunk_1: 'chunk_1' has two gains, 1 and 2"):
        load_dataset(path, CHUNK)
    path = written(tmp_path, DOCUMENT, asked(relevant_document_ids={"billing": 1, "billing.md": 2}))
    with pytest.raises(DatasetError, match=r"'billing\.md' has two gains, 1 and 2"):
        load_dataset(path, DOCUMENT, corpus=corpus)


def test_all_problems_are_reported_at_once(tmp_path):
    rows = [asked(relevant_chunk_ids=["", 7]), asked(relevant_chunk_ids={"a": 0}, query="  ")]
    with pytest.raises(DatasetError) as caught:
        load_dataset(written(tmp_path, CHUNK, *rows, ending=".jsonl"), CHUNK)
    first, *lines = str(caught.value).splitlines()
    assert first.endswith("5 problems:")
    for place in (
        "line 2: $.relevant_chunk_ids[0]",
        "line 2: $.relevant_chunk_ids[1]",
        "line 3: $.query: is blank",
        "line 3: $.id: 'q1' is already the id of an earlier question",
        "line 3: $.relevant_chunk_ids.a",
    ):
        assert any(line.strip().startswith(place) for line in lines), place


@pytest.mark.parametrize("kind", [DocumentLevelGroundTruth, ChunkLevelGroundTruth])
def test_a_lone_surrogate_of_an_id_survives_and_of_a_question_is_refused(tmp_path, kind):
    entry = kind(query(), ["caf\udce9.md"])  # as names of files that are no UTF-8 arrive
    again = load_dataset(save_dataset(Dataset([entry], entry.level), tmp_path / "d.json"), entry.level)
    assert again.ground_truth == (entry,)
    odd = kind(Query(QueryId("odd"), QueryText("\udc80")), [])
    with pytest.raises(DatasetError, match="question 'odd': contains a lone surrogate"):
        save_dataset(Dataset([odd], odd.level), tmp_path / "e.json")


@pytest.mark.parametrize("where", ["id", "query", "relevant_document_ids", "gains", "metadata"])
def test_values_that_are_nested_very_deeply_do_not_break_the_message(tmp_path, where):
    path = written(tmp_path, DOCUMENT, asked(**{"relevant_document_ids": [], where: "DEEP"}))
    path.write_text(path.read_text().replace('"DEEP"', "[" * 900 + "]" * 900))
    with pytest.raises(DatasetError, match=rf"\$\.questions\[0\]\.{where}(\[0\])?: ") as caught:
        load_dataset(path, DOCUMENT)
    assert len(str(caught.value)) < 500


# --- which level a file is of ---------------------------------------------------------------------------------------

SPAN = {"doc_id": "a.md", "start": 0, "end": 5}
TRUTHS = {
    DOCUMENT: [{"relevant_document_ids": ["a.md"]}, {"relevantDocumentIds": []}],
    CHUNK: [{"relevant_chunk_ids": ["chunk_1"]}, {"relevantChunkIds": {"chunk_1": 2}}],
    TOKEN: [{"relevant_spans": [SPAN]}, {"relevantSpans": []}],
}
LEVELS_AND_TRUTHS = [(level, truth) for level, truths in TRUTHS.items() for truth in truths]
NAMES = {DOCUMENT: "DOCUMENT", CHUNK: "CHUNK"}


def test_a_header_without_a_type_is_of_token_level(tmp_path):
    head = {"schema_version": 1, "questions": [asked(relevant_chunk_ids=["a"])]}
    path = tmp_path / "data.json"
    path.write_text(json.dumps(head))
    with pytest.raises(LevelMismatch, match="has token-level ground truth"):
        load_dataset(path, CHUNK)
    with pytest.raises(DatasetError, match="relevant_spans: Field required"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"schema_version": 3}, "$.schema_version: Input should be 1 or 2, got 3"),
        ({"schemaVersion": 3}, "$.schema_version: Input should be 1 or 2, got 3"),
        ({"schema_version": 1, "name": 5}, "$.name: Input should be a valid string, got 5"),
    ],
)
def test_a_broken_header_is_the_only_problem_of_a_file_of_another_level(tmp_path, head, message):
    head = {**head, "evaluation_type": "chunk-level"}
    path = tmp_path / "data.json"
    path.write_text(json.dumps({**head, "questions": [asked(relevant_chunk_ids=["a"])]}))
    with pytest.raises(DatasetError) as caught:
        load_dataset(path)
    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("level", "missing", "key"),
    [
        (DOCUMENT, "relevant_document_ids", "relevant_doc_ids"),
        (DOCUMENT, "relevant_document_ids", "relevantDocIds"),
        (DOCUMENT, "relevant_document_ids", "relevant_documents_ids"),
        (CHUNK, "relevant_chunk_ids", "relevantChunksIds"),
    ],
)
def test_a_misspelt_key_is_named_with_the_key_that_is_missing(tmp_path, level, missing, key):
    with pytest.raises(DatasetError) as caught:
        load_dataset(written(tmp_path, level, {"id": "q", "query": "?" * 99, key: ["a"]}), level)
    got = f"Field required, got the keys 'id', 'query', '{key}'; if '{key}' means this, rename it"
    assert str(caught.value).endswith(f"$.questions[0].{missing}: {got}")


def test_where_a_key_is_missing_a_few_of_the_others_are_shown(tmp_path):
    many = {f"note {number}": number for number in range(20)}
    with pytest.raises(DatasetError) as caught:
        load_dataset(written(tmp_path, DOCUMENT, {}, {"id": "q", "query": "?", **many}), DOCUMENT)
    first, *_, last = str(caught.value).splitlines()[1:]
    assert first.endswith("$.questions[0].id: Field required, got an empty object")
    assert last.endswith(
        ", got the keys 'id', 'query', 'note 0', 'note 1', 'note 2', 'note 3', 'note 4', 'note 5' and 14 more"
    )


def test_unknown_keys_and_those_of_other_levels_below_metadata_are_metadata(tmp_path):
    metadata = {"gains": 1, "relevant_spans": []}
    path = written(tmp_path, CHUNK, asked(relevant_chunk_ids=[], difficulty="hard", metadata=metadata))
    with pytest.warns(UserWarning, match="unknown key 'difficulty' is kept as metadata"):
        dataset = load_dataset(path, CHUNK)
    assert dataset.queries[0].metadata == {**metadata, "difficulty": "hard"}


# --- stars of prefixes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_corpus", [True, False])
def test_a_prefix_with_a_star_is_refused_with_the_fix_unless_ids_have_it(tmp_path, corpus, with_corpus):
    path = written(tmp_path, DOCUMENT, asked(relevant_document_ids=[], relevant_prefixes=["bill", "guides/*"]))
    with pytest.raises(DatasetError) as caught:
        load_dataset(path, DOCUMENT, corpus=corpus if with_corpus else None)
    place = "$.questions[0].relevant_prefixes[1]"
    assert str(caught.value) == f"{path}: {place}: 'guides/*': remove the star; write the prefix as 'guides/'"
    starred = Corpus([Document(DocumentId("a*b.md"), "x")])  # of which a star is a part
    path = written(tmp_path, DOCUMENT, asked(relevant_document_ids=[], relevant_prefixes=["a*"]))
    assert load_dataset(path, DOCUMENT, corpus=starred).ground_truth[0].relevant == ("a**",)


def test_an_id_that_is_also_a_prefix_may_be_listed(tmp_path):
    row = asked(relevant_document_ids=["billing.md"], relevant_prefixes=["billing.md"], gains={"billing.md*": 2})
    (entry,) = load_dataset(written(tmp_path, DOCUMENT, row), DOCUMENT)
    assert (entry.relevant, entry.gains) == (("billing.md*",), {"billing.md*": 2.0})
