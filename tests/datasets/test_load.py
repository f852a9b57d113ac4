import json
import os
import re
import tracemalloc
from functools import partial

import pytest

from rag_evaluation_framework import CHUNK, DOCUMENT, TOKEN, Corpus, Document, DocumentId, load_dataset
from rag_evaluation_framework.data.chunks import ChunkRegistry, PositionAwareChunk
from rag_evaluation_framework.errors import CorpusError, DatasetError, LevelMismatch
from support.each import each
from support.linear import assert_linear

TEXT = "The sky is blue. Grass is green."
SPAN = {"doc_id": "a.md", "start": 0, "end": 16}
NATIVE = {"id": "q", "query": "Which colour?", "relevant_spans": [SPAN]}
HEADER = {"schema_version": 1}
EXAMPLE = {"inputs": {"query": "Which colour?"}, "outputs": {"relevant_spans": [SPAN]}}
REFERENCES = json.dumps([{"content": TEXT[:16], "start_index": 0, "end_index": 16}]).replace('"', '""')

FILES = {
    "native.json": json.dumps({**HEADER, "questions": [NATIVE]}),
    "NATIVE.JSON": json.dumps({**HEADER, "questions": [NATIVE]}),
    "native.yaml": f"schema_version: 1\nquestions:\n- {json.dumps(NATIVE)}\n",
    "native.yml": f"schema_version: 1\nquestions:\n- {json.dumps(NATIVE)}\n",
    "examples.json": json.dumps([EXAMPLE]),
    "examples.jsonl": f"{json.dumps(EXAMPLE)}\n",
    "native.jsonl": f"{json.dumps(HEADER)}\n{json.dumps(NATIVE)}\n",
    "quotes.jsonl": json.dumps({"question": "Which colour?", "quote": "The sky is blue."}),
    "quotes.csv": "question,quote\nWhich colour?,The sky is blue.\n",
    "QUOTES.CSV": "question,quote\nWhich colour?,The sky is blue.\n",
    "quotes.tsv": "question\tquote\nWhich colour?\tThe sky is blue.\n",
    "quotes-old-mac.csv": "question,quote\rWhich colour?,The sky is blue.\r",
    "chunking.csv": f'question,references,corpus_id\nWhich colour?,"{REFERENCES}",a\n',
    "chunking-excel.csv": f'\ufeffquestion,references,corpus_id\r\nWhich colour?,"{REFERENCES}",a\r\n',
}


@pytest.fixture
def corpus():
    return Corpus([Document(DocumentId("a.md"), TEXT)])


@each("name", FILES)
def test_the_format_is_recognised_by_the_content(tmp_path, corpus, name):
    path = tmp_path / name
    path.write_bytes(FILES[name].encode())
    for given in (path, str(path)):
        (entry,) = load_dataset(given, corpus=corpus)
        assert entry.query.text == "Which colour?"
        assert [(span.doc_id, span.start, span.end) for span in entry.relevant] == [("a.md", 0, 16)]


@each("name", FILES)
def test_a_folder_in_place_of_a_corpus_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name].encode())
    with pytest.raises(CorpusError, match=r"corpus='docs': expected a Corpus; Corpus.from_folder\(path\) reads one"):
        load_dataset(tmp_path / name, corpus="docs")


@pytest.mark.parametrize("name", ["quotes.jsonl", "quotes.csv", "quotes.tsv", "chunking.csv"])
def test_quotes_need_the_corpus(tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    told = r"quotes have to be located in the documents.* elsewhere corpus=Corpus\.of\('path'\), on the command line --"
    with pytest.raises(DatasetError, match=f"{told}corpus$"):
        load_dataset(tmp_path / name)


ENDING = r"expected a file name ending in \.json, \.jsonl or \.csv"
EMPTY = r": (holds no questions|not valid JSON)"


@each(
    ("name", "text", "message"),
    [
        *((name, FILES["quotes.csv"], ENDING) for name in ("questions.doc", "questions", "questions.md")),
        ("d.json", "", EMPTY),
        ("d.jsonl", "", EMPTY),
        ("d.jsonl", "\n \n", EMPTY),
        ("d.jsonl", json.dumps(HEADER), EMPTY),
        ("d.json", json.dumps({**HEADER, "questions": []}), EMPTY),
        ("d.csv", "", EMPTY),
        ("d.csv", "question,quote\n", EMPTY),
        ("d.csv", "question,references,corpus_id\n", EMPTY),
        ("d.tsv", "\n", EMPTY),
        # YAML holds what JSON can hold:
        ("d.yaml", "a: [1", "cannot be parsed: .* in line"),
        ("d.yaml", "a: 1\na: 2", "cannot be parsed: .*duplicate key"),
        ("d.yaml", "day: 2026-01-02", r"\$\.day: 2026-01-02 is not a JSON value"),
        ("d.yaml", "a: 1\nb: &x [1]\nc: *x", "cannot be parsed: &x is an anchor in line 2; "),
    ],
)
def test_a_file_of_another_ending_without_questions_or_of_broken_yaml_is_refused(tmp_path, corpus, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=rf"{name}.*{message}"):
        load_dataset(tmp_path / name, corpus=corpus)


def test_a_header_that_is_far_too_large_is_told_in_short(tmp_path, corpus):
    (tmp_path / "d.csv").write_text(f"question,{'q' * 200_000}\nWhich colour?,blue\n")
    with pytest.raises(DatasetError, match=r"d\.csv: no column 'quote' among 'question', 'qqq") as refused:
        load_dataset(tmp_path / "d.csv", corpus=corpus)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "d.csv"])
def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path, corpus, name):
    with pytest.raises(DatasetError, match=f"{name}: cannot be read"):
        load_dataset(tmp_path / name, corpus=corpus)
    (tmp_path / name).mkdir()
    with pytest.raises(DatasetError, match=f"{name}: cannot be read"):
        load_dataset(tmp_path / name, corpus=corpus)


CHUNKS = {"id": "q", "query": "?", "relevant_chunk_ids": ["chunk_1"]}
DOCUMENTS = {"id": "q", "query": "?", "relevant_document_ids": ["a.md"]}
HARNESS = {"version": "1", "id": "h", "queries": [{"id": "q", "query": "?", "relevant": {"sourceIds": ["a.md"]}}]}


def native(evaluation_type, row):
    return json.dumps({**HEADER, "evaluation_type": evaluation_type, "questions": [row]})


def native_lines(evaluation_type, row):
    return f"{json.dumps({**HEADER, 'evaluation_type': evaluation_type})}\n{json.dumps(row)}\n"


def example(**outputs):
    return json.dumps([{"inputs": {"query": "?"}, "outputs": outputs}])


OF_LEVEL = {
    TOKEN: {
        **{name: text for name, text in FILES.items() if name.islower()},
        "excerpts.json": example(excerpts=["The sky is blue."]),
    },
    CHUNK: {
        "native.json": native("chunk-level", CHUNKS),
        "native.jsonl": native_lines("chunk-level", CHUNKS),
        "examples.json": example(chunk_ids=["chunk_1"]),
    },
    DOCUMENT: {
        "native.json": native("document-level", DOCUMENTS),
        "native.jsonl": native_lines("document-level", DOCUMENTS),
        "examples.json": example(sourceIds=["a.md"]),
        "harness.json": json.dumps(HARNESS),
        "harness.yaml": json.dumps(HARNESS),
    },
}


@each("expected", OF_LEVEL)
@each(("held", "name"), [(level, name) for level, files in OF_LEVEL.items() for name in files])
def test_a_file_is_read_at_its_own_level_and_no_other(tmp_path, corpus, held, name, expected):
    path = tmp_path / name
    path.write_bytes(OF_LEVEL[held][name].encode())
    if expected is held:
        assert load_dataset(path, expected, corpus=corpus).level is expected
        return
    with pytest.raises(LevelMismatch) as caught:
        load_dataset(path, expected, corpus=corpus)
    message = str(caught.value)
    assert name in message
    assert re.search(f" has ({held.evaluation_type} ground truth|chunk ids), expected ", message)
    assert expected.evaluation_type in message
    advice = {
        TOKEN: {CHUNK: "ChunkLevelEvaluation projects it", DOCUMENT: "DocumentLevelEvaluation projects it"}.get(
            expected
        ),
        CHUNK: "load_dataset(path, CHUNK)",
        DOCUMENT: "load_dataset(path, DOCUMENT)",
    }[held]
    assert advice in message


@pytest.mark.parametrize("level", ["chunk-level", None, 5])
def test_anything_but_a_level_is_refused(tmp_path, level):
    path = tmp_path / "d.json"
    path.write_text(FILES["native.json"])
    with pytest.raises(LevelMismatch, match=f"level={level!r}: expected TOKEN, CHUNK or DOCUMENT"):
        load_dataset(path, level)


MANY = 30_000
FLAWED = {
    "spans": (TOKEN, {"schema_version": 1, "questions": [{"id": "q", "query": "?", "relevant_spans": [1] * MANY}]}),
    "questions": (TOKEN, {"schema_version": 1, "questions": [1] * MANY}),
    "prefixes": (
        DOCUMENT,
        {
            "schema_version": 1,
            "evaluation_type": "document-level",
            "questions": [{"id": "q", "query": "?", "relevantDocumentIds": [], "relevantPrefixes": [1] * MANY}],
        },
    ),
    "examples": (TOKEN, [{"inputs": {"query": "?"}, "outputs": {"relevant_spans": [1] * MANY}}]),
}


@pytest.mark.parametrize("flaw", FLAWED)
def test_of_very_many_flaws_no_more_is_kept_than_is_told(tmp_path, flaw):
    level, content = FLAWED[flaw]
    path = tmp_path / "d.json"
    path.write_text(json.dumps(content))
    tracemalloc.start()
    try:
        with pytest.raises(DatasetError) as caught:
            load_dataset(path, level)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 4_100
    assert peak < 60 * path.stat().st_size


def harness(*wanted, prefixes=()):
    return {
        "version": "1",
        "id": "h",
        "queries": [
            {"id": str(number), "query": "?", "relevant": {"sourceIds": ids, "anyOfSourceIdPrefixes": [*prefixes]}}
            for number, ids in enumerate(wanted)
        ],
    }


def many_documents(count, text=""):
    return Corpus(Document(DocumentId(f"{number}/README.md"), text) for number in range(count))


def native(level, **labels):
    head = {"schema_version": 1, "evaluation_type": level.evaluation_type}
    return {**head, "questions": [{"id": "q", "query": "?", **labels}]}


@pytest.mark.no_cover
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("level", "content"),
    [
        (DOCUMENT, lambda count: harness(*[["README.md"]] * count)),
        (DOCUMENT, lambda count: harness(*[[f"{number}/README.md"] for number in range(count)])),
        (DOCUMENT, lambda count: harness(*[[]] * count, prefixes=[f"{count - 1}/R"])),
        (
            DOCUMENT,
            lambda count: native(
                DOCUMENT,
                relevantDocumentIds=[f"{number}/README.md" for number in range(count)],
                relevantPrefixes=[f"{number}/R" for number in range(count)],
            ),
        ),
        (CHUNK, lambda count: native(CHUNK, relevant_chunk_ids={f"c{number}": 2 for number in range(count)})),
    ],
    ids=["one name for all", "a name for each", "prefixes of questions", "prefixes of one question", "gains"],
)
def test_labels_cost_no_more_for_there_being_many_of_them(tmp_path, level, content):
    def loading(count):
        (tmp_path / "d.json").write_text(json.dumps(content(count)))
        return partial(load_dataset, tmp_path / "d.json", level, corpus=many_documents(count))

    assert_linear(loading, 2_500)


def test_wrong_references_of_any_length_cost_little(tmp_path):
    def refused(corpus, count):
        with pytest.raises(DatasetError, match=f"{count} problems"):
            load_dataset(tmp_path / "d.csv", corpus=corpus)

    def long(count):  # as many references as there are characters in a thousandth of their document
        corpus = Corpus([Document(DocumentId("a.md"), "x y " * 250 * count)])
        references = f'"[{{""content"": ""x"", ""start_index"": 0, ""end_index"": {1_000 * count - 1}}}]"'
        (tmp_path / "d.csv").write_text("question,references,corpus_id\n" + f"Which?,{references},a\n" * count)
        return partial(refused, corpus, count)

    assert_linear(long, 2_000)


def test_an_id_of_many_places_may_be_repeated(tmp_path):
    def repeated(count):
        chunks = (PositionAwareChunk("pa_chunk_a", "x", "a.md", start, start + 1) for start in range(count))
        example = {"inputs": {"query": "?"}, "outputs": {"chunk_ids": ["pa_chunk_a"] * count}}
        (tmp_path / "d.json").write_text(json.dumps([example]))
        return partial(load_dataset, tmp_path / "d.json", registry=ChunkRegistry(chunks))

    assert len(repeated(1_000)().ground_truth[0].relevant) == 1_000
    assert_linear(repeated, 2_500)


@pytest.mark.parametrize("name", ["native.jsonl", "examples.jsonl", "chunking.csv", "native.json"])
def test_a_pipe_is_read_once(tmp_path, corpus, name):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    pipe.write_text(FILES[name])  # kept in the pipe, as there is a reader
    assert len(load_dataset(pipe, corpus=corpus)) == 1
    os.close(reader)
