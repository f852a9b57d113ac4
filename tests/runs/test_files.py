"""The files of a result: what each is for and what happens without it."""

import gzip
import json
import shutil
from pathlib import Path

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
    SpanRecall,
    SpanU,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.runs import result as results
from support.pages import table
from support.results import saved_rows, without_clocks

GOLDEN = Path(__file__).parent / "golden"
CORPUS = Corpus([Document(DocumentId("d"), "0123456789" * 10), Document(DocumentId("e"), "abc")])
QUESTIONS = ("one", "two", "none", "bad")


def search(query, k):
    if query == "bad?":
        raise ConnectionError("gone away")
    found = [{"doc_id": "d", "start": 10 * rank, "end": 10 * rank + 10, "score": 1 / (rank + 1)} for rank in range(3)]
    return [*found, "lost"][:k]


def dataset(**spans):
    given = {"one": [(0, 5), (20, 30)], "two": [(50, 60)], "none": [], "bad": [(0, 1)], **spans}
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(name), QueryText(f"{name}?")), [CharacterSpan(DocumentId("d"), *place) for place in places]
        )
        for name, places in given.items()
    ]
    return Dataset(entries, TOKEN, name="numbers", corpus=CORPUS)


def run(**spans):
    return evaluate(search, dataset(**spans), k=[4, 1], budgets=["12ch"], experiment_name="mine")


@pytest.fixture
def folder(tmp_path):
    return run().save(tmp_path / "run")


@pytest.fixture
def folder_of_many(tmp_path, monkeypatch):
    """A run whose questions are too many for its report."""
    monkeypatch.setattr(results, "_MOST_IN_REPORT", 3)
    return run().save(tmp_path / "many")


def hits_of(result):
    return [query.hits for query in result.queries]


def lines(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


# --- what the files hold ----------------------------------------------------------------------------------------------


def test_a_report_holds_its_questions_whole(folder):
    rows = saved_rows(folder)
    assert [(row["query_id"], row["status"], row["answerable"]) for row in rows] == [
        ("one", "scored", True),
        ("two", "scored", True),
        ("none", "no-answer", False),
        ("bad", "failed", True),
    ]
    assert rows[0]["scores"]["span_recall@4"] == 1.0
    assert rows[0]["text"] == "one?"
    assert rows[0]["relevant"][1] == {"doc_id": "d", "start": 20, "end": 30, "text": "0123456789"}
    assert list(rows[0]["stages"]) == ["retrieve"]
    assert rows[2]["scores"] == rows[3]["scores"] == {}
    assert rows[3]["failures"] == [{"stage": "retrieve", "kind": "ConnectionError", "message": "gone away"}]
    assert repr(load_result(folder).queries) == "QueryResults(queries: 4)"


def test_rankings_hold_hits_in_columns_without_those_that_say_nothing(folder):
    with gzip.open(folder / "rankings.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert rows[0] == {
        "query_id": "one",
        "doc_id": ["d", "d", "d", None],
        "start": [0, 10, 20, None],
        "end": [10, 20, 30, None],
        "text": [None, None, None, "lost"],
        "score": [1.0, 0.5, 1 / 3, None],
        "more": True,
    }
    assert rows[3] == {"query_id": "bad", "doc_id": [], "failed": True}


def test_equal_runs_are_equal_bytes_but_for_times(tmp_path):
    folders = [without_clocks(run()).save(tmp_path / name) for name in ("one", "other")]
    one, other = ((folder / "rankings.jsonl.gz").read_bytes() for folder in folders)
    assert one == other
    assert one[4:8] == bytes(4)  # gzip has no time in it
    one, other = map(saved_rows, folders)
    assert one == other


def test_a_metric_of_budgets_has_no_cell_at_numbers_of_results_and_is_read_back(tmp_path):
    result = evaluate(search, dataset(), k=[4, 2], budgets=["20ch"], metrics=[SpanRecall(), SpanU()])
    assert result.score_names[3:] == ("span_u@20ch",)
    assert result.notes == ("span_u is scored at budgets only: @20ch",)
    assert result.metrics["span_u"] == result.metrics["span_u@20ch"] > 0
    rows = table(result.summary(), "Scores").rows
    assert [row[0] for row in rows] == ["span_recall@4", "span_recall@2", "span_recall@20ch", "span_u@20ch"]
    assert rows[3][1] == f"{result.metrics['span_u']:.3f}"
    folder = result.save(tmp_path / "run")
    assert load_result(folder) == result
    assert load_result(folder / "report.json").metrics == result.metrics
    assert not result.compare(load_result(folder)).changed


# --- a report alone ---------------------------------------------------------------------------------------------------


def test_a_report_alone_is_enough_to_compare_with(tmp_path, folder):
    (tmp_path / "kept").mkdir()
    shutil.copy(folder / "report.json", tmp_path / "kept" / "report.json")
    alone = load_result(tmp_path / "kept")
    candidate = run(two=[(0, 1)])
    for baseline in (alone, load_result(folder)):
        comparison = baseline.compare(candidate)
        assert comparison.changed == ("two",)
        assert comparison.deltas["span_recall@4"] == {"one": 0.0}
        assert comparison.questions["one"] == "one?"
        assert candidate.compare(baseline).questions["one"] == "one?"
    assert (alone.metrics, alone.counts, alone.per_query("span_recall@4")) == (
        run().metrics,
        run().counts,
        run().per_query("span_recall@4"),
    )
    assert alone.queries.identities == run().queries.identities
    whole = load_result(folder)
    assert [(query.text, query.relevant, query.scores, query.stages) for query in alone.queries] == [
        (query.text, query.relevant, query.scores, query.stages) for query in whole.queries
    ]
    assert (alone.latency, alone.first_relevant, alone.micro) == (whole.latency, whole.first_relevant, whole.micro)
    assert alone.clusters.few == whole.clusters.few == 1
    with pytest.raises(ResultError, match="what was retrieved is not known: this result was loaded from"):
        hits_of(alone)
    assert alone == load_result(tmp_path / "kept") != load_result(folder)
    with pytest.raises(ResultError, match="not known"):
        alone.save(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_a_report_under_another_name_is_read_alone(folder):
    (folder / "report.json").rename(folder / "baseline.json")
    (folder / "rankings.jsonl.gz").write_text("those of another run")
    alone = load_result(folder / "baseline.json")
    assert alone.metrics == run().metrics
    with pytest.raises(ResultError, match="not known"):
        hits_of(alone)


def test_a_report_of_many_questions_names_the_file_that_holds_them_and_its_hash(folder, folder_of_many):
    report = json.loads((folder_of_many / "report.json").read_text())
    assert "queries" not in report
    assert report["files"]["questions.jsonl"] == {"sha256": results.store.sha256(folder_of_many / "questions.jsonl")}
    rows, in_report = lines(folder_of_many / "questions.jsonl"), saved_rows(folder)
    for row in (*rows, *in_report):
        row.update(stages={}, total=None)
    assert rows == in_report
    assert without_clocks(load_result(folder_of_many)) == without_clocks(load_result(folder))
    (folder_of_many / "questions.jsonl").unlink()
    with pytest.raises(ResultError, match=r"questions\.jsonl: is missing; it holds the questions of report\.json"):
        load_result(folder_of_many)


def test_a_report_of_as_many_questions_as_it_may_have_holds_them(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "_MOST_IN_REPORT", len(QUESTIONS))
    folder = run().save(tmp_path / "run")
    assert len(saved_rows(folder)) == len(QUESTIONS)
    assert sorted(path.name for path in folder.iterdir()) == ["rankings.jsonl.gz", "report.json", "summary.md"]


def test_to_compare_no_rankings_are_read_which_are_missed_when_they_are_asked_for(folder):
    (folder / "rankings.jsonl.gz").write_bytes(b"")
    loaded = load_result(folder)
    assert loaded.compare(run()).delta("span_recall@4") == 0.0
    assert table(loaded.summary(), "Scores") == table(run().summary(), "Scores")
    assert loaded.summary().as_markdown().startswith("# mine")
    assert [query.text for query in loaded.worst()] == ["two?", "one?"]
    with pytest.raises(ResultError, match=r"is not the file that was saved with report\.json"):
        hits_of(loaded)
    (folder / "rankings.jsonl.gz").unlink()
    with pytest.raises(ResultError, match=r"loaded from a report alone, without its rankings\.jsonl\.gz"):
        hits_of(load_result(folder))


# --- files that are not what was saved --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["questions.jsonl", "rankings.jsonl.gz"])
@pytest.mark.parametrize(
    "change",
    [lambda text: text[: len(text) // 2], lambda text: b"", lambda text: text + b"\n"],
    ids=["cut", "empty", "x"],
)
def test_a_file_that_was_changed_is_refused(folder_of_many, name, change):
    folder = folder_of_many
    (folder / name).write_bytes(change((folder / name).read_bytes()))
    with pytest.raises(
        ResultError, match=f"{name}: is not the file that was saved with report.json: it was changed, cut"
    ):
        hits_of(load_result(folder))


@pytest.mark.parametrize("mean", [0.75, None, "high"])
def test_means_and_counts_are_those_of_the_questions_whatever_the_report_says(tmp_path, folder, mean):
    report = json.loads((folder / "report.json").read_text())
    report["metrics"]["span_recall@4"] = mean
    report["counts"] |= {"scored": 99, "failed": 0}
    report["queries"][0] |= {"status": "failed", "answerable": False, "identity": "0" * 32, "total": 9}
    del report["statistics"]
    (tmp_path / "report.json").write_text(json.dumps(report))
    again, whole = load_result(tmp_path), load_result(folder)
    assert (again.metrics, again.counts, again.statistics) == (whole.metrics, whole.counts, whole.statistics)
    assert (again.queries[0].status, again.queries[0].total) == ("scored", whole.queries[0].total)
    assert again.queries.identities == whole.queries.identities


@pytest.mark.parametrize("name", ["questions.jsonl", "rankings.jsonl.gz", "summary.md"])
def test_a_part_of_a_result_is_not_the_result(folder, name):
    with pytest.raises(ResultError, match=r"is a part of a result; expected the run's folder or its report\.json"):
        load_result(folder / name)


def resealed(folder, name, content):
    """Write a file as if it had been saved like this."""
    (folder / name).write_bytes(content)
    report = json.loads((folder / "report.json").read_text())
    report["files"][name]["sha256"] = results.store.sha256(folder / name)
    (folder / "report.json").write_text(json.dumps(report))


def question(**known):
    whole = {"query_id": "one", "text": "", "gains": {}, "results": 0}
    spans = [{"doc_id": "d", "start": 0, "end": 1}]
    return json.dumps({**whole, "relevant": spans, "scores": {}, "stages": {}, "failures": [], **known}).encode()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", r"line 1: not valid JSON"),
        (b"\xff", r"line 1: not valid UTF-8"),
        (b"[]", r"line 1: \$\."),
        (b"", r"questions\.jsonl: has no questions"),
        (b'{"query_id": "one"}', r"line 1: \$\.text: Field required"),
        (b'{"query_id": "one", "scores": {"x": NaN}}', "NaN is not a valid"),
        (question() + b"\n" + question(), r"jsonl: question 'one' is there twice"),
        (
            question(scores={"span_recall@4": 7}).replace(b"7", b"1e999"),
            r"line 1: \$\.scores\.span_recall@4: Input should be a finite number, got inf",
        ),
        (
            question(stages={"embed": 7}).replace(b"7", b"-1e999"),
            r"line 1: \$\.stages\.embed: Input should be a finite number, got -inf",
        ),
        (question().replace(b'"results": 0, ', b""), r"line 1: \$\.results: Field required"),
    ],
)
def test_lines_that_are_no_questions_are_refused(folder_of_many, line, message):
    resealed(folder_of_many, "questions.jsonl", line)
    with pytest.raises(ResultError, match=message):
        load_result(folder_of_many)


CUT = b"cut off"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no gzip", r"cannot be read \(Not a gzipped file"),
        (CUT, "line 1|cannot be read"),
        (b"{", "line 1: "),
        (b"\xff", "line 1: "),
        (b'{"query_id": "one"}', r"line 1: \$\.doc_id: Field required"),
        (b'{"query_id": "one", "doc_id": "d"}', r"line 1: \$\.doc_id: "),
        (b'{"query_id": "one", "doc_id": ["d"], "start": [-1]}', r"line 1: \$\.start\.0"),
        (b'{"query_id": "one", "doc_id": ["d"], "start": ["1"]}', r"line 1: \$\.start\.0"),
        (
            b'{"query_id": "one", "doc_id": ["d"], "start": [1, 2]}',
            r"line 1: .* has 1 hits",
        ),
        (b'{"query_id": "one", "doc_id": ["d"], "start": [99999999999999999999]}', "line 1: "),
        (b'{"query_id": "one", "doc_id": ["d"], "rank": [1]}', r"line 1: \$\.rank: Extra"),
        (
            b'{"query_id": "one", "doc_id": []}',
            r"rankings\.jsonl\.gz: has 1 questions; expected 4",
        ),
    ],
)
def test_lines_that_are_no_hits_are_refused(folder, content, message):
    given = {b"no gzip": content, CUT: gzip.compress(b"x" * 9999)[:-12]}
    resealed(folder, "rankings.jsonl.gz", given.get(content) or gzip.compress(content))
    with pytest.raises(ResultError, match=message):
        hits_of(load_result(folder))


# --- identity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("places", "same"),
    [
        ([(20, 30), (0, 5)], True),
        ([(0, 5), (20, 30), (0, 5)], True),
        ([(0, 5), (40, 50)], True),  # the digits of which are those of 20 to 30
        ([(0, 5)], False),
        ([(0, 5), (20, 31)], False),
        ([(0, 5), (21, 31)], False),
    ],
    ids=["another order", "twice", "the same text elsewhere", "fewer", "another place", "another text"],
)
def test_questions_are_the_same_if_wording_and_truth_are(places, same):
    mine, other = run().queries.identities, run(one=places).queries.identities
    assert (mine[0] == other[0]) is same
    assert mine[1:] == other[1:]


def test_gains_are_part_of_the_identity():
    def graded(gain):
        entry = DocumentLevelGroundTruth(Query.from_text("one?"), ["d", "e"], gains={"e": gain})
        return evaluate(search, Dataset([entry], DOCUMENT, corpus=CORPUS), k=2, budgets=[]).queries

    assert graded(2.0).identities == graded(2.0).identities != graded(3.0).identities
    assert graded(1.0).gains == {}
    assert len(graded(1.0).identities[0]) == 32


def test_identities_are_the_same_whether_the_dataset_or_the_evaluation_knows_the_documents():
    alone = Dataset(dataset().ground_truth, TOKEN, name="numbers")
    given = evaluate(search, alone, k=[4, 1], budgets=["12ch"], documents=CORPUS)
    assert given.queries.identities == run().queries.identities
    assert given.config["dataset"] == run().config["dataset"]


def test_two_labels_of_the_same_text_are_another_truth_than_one():
    corpus = Corpus([Document(DocumentId("a.md"), "Yes. No. Yes. Maybe.")])

    def identities(*spans):
        labels = [
            CharacterSpan(DocumentId("a.md"), start, end, corpus["a.md"].content[start:end]) for start, end in spans
        ]
        asked = Dataset([TokenLevelGroundTruth(Query(QueryId("one"), QueryText("Really?")), labels)], TOKEN)
        return evaluate(lambda query, k: ["Yes."], asked, documents=corpus, k=1).queries.identities

    both = identities((0, 4), (9, 13))
    assert both != identities((0, 4))
    assert both == identities((9, 13), (0, 4)) == identities((0, 4), (9, 13), (0, 4))
    assert identities((0, 4)) == identities((9, 13)) == ("71d84be9905ee14bc67e9e286d985474",)
