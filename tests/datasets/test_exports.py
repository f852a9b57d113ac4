"""Questions as other tools export them, read as they are: `exports/` has a file of each, as the tool writes it."""

import json
import shutil
from pathlib import Path

import pytest

from rag_evaluation_framework import CHUNK, DOCUMENT, TOKEN, Corpus, Document, DocumentId, load_dataset
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.datasets.load import questions_of
from rag_evaluation_framework.errors import DatasetError, LevelMismatch

EXPORTS = Path(__file__).with_name("exports")
FIRST, FIVE = "Invoices are sent on the first day of the month.", "Refunds take five working days."
HELP = "Write to the help desk."
CORPUS = Corpus(
    [
        Document(DocumentId("billing.md"), f"# Billing\n\n{FIRST}\n{FIVE}\n"),
        Document(DocumentId("docs/support.md"), f"# Support\n\n{HELP}\n"),
    ]
)
TWO = [[[FIRST], [FIVE]], [[HELP]]]
NAMES = [  # beside langsmith.jsonl
    "ragas.jsonl",
    "ragas.csv",
    "deepeval.json",
    "deepeval.jsonl",
    "deepeval.csv",
    "llama_index_pairs.json",
    "llama_index_rag.json",
]


def places(dataset):
    """The texts of the places of each answer of each question."""
    return [
        [["".join(span.text for span in place) for place in answer.places] for answer in entry.answers]
        for entry in dataset
    ]


def read(name, level=TOKEN, corpus=CORPUS):
    with collect_notes():
        return load_dataset(EXPORTS / name, level, corpus=corpus)


@pytest.mark.parametrize("name", NAMES)
def test_contexts_that_are_ground_truth_are_quotes(name):
    assert places(read(name)) == TWO


def test_what_a_system_retrieved_and_said_is_metadata_and_ids_of_pairs_are_those_of_questions():
    first = read("ragas.jsonl").queries[0]
    assert first.metadata["retrieved_contexts"] == [HELP]
    assert first.metadata["reference"] == "On the first; five days."
    assert read("deepeval.json").queries[0].metadata["actual_output"] == "On the first."
    assert [query.id for query in read("llama_index_pairs.json").queries] == ["6e0c1f8a", "b1"]


@pytest.mark.parametrize("name", ["squad.json", "squad_rows.jsonl"])
def test_answers_of_squad_are_places_within_their_context(name):
    dataset = read(name)
    assert places(dataset) == [[["the first day", "first day of the month"]], [["five"]], []]
    assert [query.id for query in dataset.queries] == ["56be4db0", "56be4db1", "5ad3d560"]
    assert dataset.queries[0].metadata == {"title": "Billing"}


SQUAD = {"question": "Q?", "context": "One and one and one."}


@pytest.mark.parametrize(
    ("text", "at", "starts"),
    [
        ("One and one and one.\n", 8, [8]),
        ("> One and\n> one and one.\n", 8, [12]),  # not verbatim: the nearest to where it should be
        ("> One and\n> one and one.\n", 16, [20]),
        ("> One and\n> one and one.\n", 10**400, [20]),
        ("None and one.\n", 8, None),
    ],
)
def test_an_answer_of_squad_is_where_its_context_is(text, at, starts):
    asked = {**SQUAD, "answers": {"text": ["one"], "answer_start": [at]}}
    corpus = Corpus([Document(DocumentId("a.md"), f"one\n\n{text}")])
    with collect_notes():
        if starts is None:
            with pytest.raises(DatasetError, match="missing    its context: "):
                questions_of([asked], corpus, TOKEN)
            return
        (entry,) = questions_of([asked], corpus, TOKEN)
    assert [span.start - 5 for span in entry.relevant] == starts


def test_objects_of_tools_are_read_as_their_files_and_a_dataset_as_itself():
    class Model:  # as pydantic's models
        def __init__(self, value):
            self.value = value

        def model_dump(self):
            return self.value

    class Goldens:
        goldens = tuple(Model(row) for row in json.loads((EXPORTS / "deepeval.json").read_text()))

    class Samples:
        def to_list(self):
            return [json.loads(line) for line in (EXPORTS / "ragas.jsonl").read_text().splitlines()]

    pairs = Model(json.loads((EXPORTS / "llama_index_pairs.json").read_text()))
    for given in (Goldens(), Samples(), pairs):
        with collect_notes():
            dataset = questions_of(given, CORPUS, TOKEN)
            assert places(dataset) == TWO
            assert questions_of(dataset, CORPUS, TOKEN) is dataset


def test_the_question_of_an_example_of_langsmith_has_a_usual_name():
    dataset = read("langsmith.jsonl")
    assert (places(dataset), dataset.queries[0].text, dataset.queries[0].metadata) == ([[[HELP]]], "Who helps?", {})
    examples = [{"inputs": {"query": "Who helps?"}, "outputs": {"excerpts": [HELP]}}]
    assert places(questions_of(examples, CORPUS, TOKEN)) == [[[HELP]]]
    twice = [{"inputs": {"question": "a", "input": "b"}, "outputs": {"excerpts": [HELP]}}]
    with pytest.raises(DatasetError, match=r"expected the question under 'query', got 'question', 'input'"):
        questions_of(twice, CORPUS, TOKEN)


@pytest.mark.parametrize(
    "value",
    [
        {"data": [{"paragraphs": [{"context": "x"}]}]},
        {"data": [5]},
        {"data": 5},
        {"queries": {"q": "Q?"}, "corpus": {}, "relevant_docs": {"q": ["a"]}},
        {"queries": [], "corpus": {}, "relevant_docs": {}},
        {"examples": 5},
        [{"question": "Q?", "context": "x", "answers": 5}],
        [{"question": "Q?", "context": "x", "answers": {"text": [5], "answer_start": ["x"]}}],
        [5],
    ],
)
def test_what_only_looks_like_an_export_is_refused(tmp_path, value):
    (tmp_path / "q.json").write_text(json.dumps(value))
    with collect_notes(), pytest.raises(DatasetError, match=r"q\.json: "):
        load_dataset(tmp_path / "q.json", corpus=CORPUS)


BEIR = Corpus([Document(DocumentId("d1"), f"{FIRST} {FIVE}"), Document(DocumentId("d2"), HELP)])


@pytest.fixture
def beir(tmp_path):
    return shutil.copytree(EXPORTS / "beir", tmp_path / "beir")


@pytest.mark.parametrize("corpus", [None, BEIR])
def test_a_split_of_beir_is_a_dataset_of_documents_with_gains(beir, corpus):
    dataset = load_dataset(beir / "qrels" / "test.tsv", DOCUMENT, corpus=corpus)
    assert [(entry.query.id, entry.relevant, dict(entry.gains)) for entry in dataset] == [
        ("q1", ("d1",), {"d1": 2}),
        ("q2", ("d2",), {"d2": 1}),
    ]
    assert (dataset.name, dataset.queries[0].metadata) == ("beir-test", {"url": "x"})


def test_of_several_splits_of_beir_one_is_named(beir):
    for path in (beir, beir / "queries.jsonl"):
        with pytest.raises(
            DatasetError, match=r"qrels: has dev\.tsv, test\.tsv; expected one split, or name it .*test\.tsv"
        ):
            load_dataset(path, DOCUMENT)
    (beir / "qrels" / "dev.tsv").unlink()
    assert len(load_dataset(beir, DOCUMENT)) == len(load_dataset(str(beir / "queries.jsonl"), DOCUMENT)) == 2
    (beir / "qrels" / "test.tsv").unlink()
    with pytest.raises(DatasetError, match=r"qrels: has no \.tsv file; expected one split"):
        load_dataset(beir, DOCUMENT)


def test_beir_that_does_not_fit_together_or_the_level_is_refused(beir):
    split = beir / "qrels" / "test.tsv"
    for level in (TOKEN, CHUNK):  # it has no labels of text
        with pytest.raises(LevelMismatch):
            load_dataset(split, level, corpus=BEIR)
    with pytest.raises(DatasetError, match=r"d1.*the corpus has no document"):
        load_dataset(split, DOCUMENT, corpus=Corpus([Document(DocumentId("d2"), HELP)]))
    split.write_text("query-id\tcorpus-id\tscore\nq9\td1\t1\n")
    with pytest.raises(DatasetError, match=r"test\.tsv: judges questions that .*queries\.jsonl does not have: q9"):
        load_dataset(split, DOCUMENT)
    (beir / "queries.jsonl").write_text('{"id": "q9"}\n')
    with pytest.raises(DatasetError, match=r"queries\.jsonl: line 1: expected an object with '_id' and 'text'"):
        load_dataset(split, DOCUMENT)
