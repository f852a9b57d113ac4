import json
import pickle
import re
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    SpanPrecision,
    SpanRecall,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    VectorRAGRetriever,
    evaluate,
    load_result,
)
from rag_evaluation_framework.components import HybridRetriever, InMemoryVectorStore, RerankedRetriever
from rag_evaluation_framework.data import QueryId, QueryText, Skipped
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.errors import ConfigError, LevelMismatch, ResultError
from rag_evaluation_framework.report import result_page
from rag_evaluation_framework.runs import store
from rag_evaluation_framework.runs.result import HEAD
from rag_evaluation_framework.testing import HashingEmbedder, ReversingReranker
from support.each import each
from support.pages import lines, table

FILES = ["rankings.jsonl.gz", "report.json", "summary.md"]
CORPUS = Corpus([Document(DocumentId("d"), "0123456789" * 10)], {"source": "docs"})
TRUTH = {
    "worst": [(90, 100)],
    "best": [(0, 10)],
    "none": [],
    "half": [(0, 20)],
    "bad": [(0, 10)],
    "half too": [(5, 15)],
}


def search(query, k):
    if query == "bad":
        raise ConnectionError("gone away")
    return [{"doc_id": "d", "start": 0, "end": 10}, "lost"][:k]


def dataset(truth, name="numbers"):
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(text), QueryText(text)), [CharacterSpan(DocumentId("d"), start, end) for start, end in spans]
        )
        for text, spans in truth.items()
    ]
    return Dataset(entries, TOKEN, name=name, corpus=CORPUS)


def run(truth=TRUTH, name="mine", dataset_name="numbers", retriever=search, **options):
    given = {"k": [2, 1], "budgets": ["5ch"], "metrics": [SpanRecall(), SpanPrecision()], **options}
    return evaluate(retriever, dataset(truth, dataset_name), experiment_name=name, **given)


@pytest.fixture(scope="module")
def result():
    return run()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# --- scores by name ---------------------------------------------------------------------------------------------------


def test_metrics_are_the_means_in_the_order_of_metrics_and_cutoffs_and_one_without_a_cutoff_is_at_the_k_of_the_run(
    result,
):
    assert list(result.metrics) == list(result.score_names)
    assert result.metrics == {
        "span_recall@2": 0.5,  # of 0, 1, 0.5 and 0.5
        "span_recall@1": 0.5,
        "span_recall@5ch": 0.1875,  # of 0, 0.5, 0.25 and 0
        "span_precision@2": pytest.approx(25 / 56),  # of 0, 10, 10 and 5 of 14 characters: the lost text is wrong text
        "span_precision@1": 0.625,
        "span_precision@5ch": 0.5,
    }
    assert result.metrics["span_precision"] == result.metrics["span_precision@2"]
    assert "span_recall" in result.metrics
    assert "span_recall@1" in result.metrics
    assert result.metrics.get("span_recall") == 0.5
    assert f"{result.metrics['span_recall']:.3f}" == "0.500"


@pytest.mark.parametrize("name", ["span_iou", "span_recall@3", "span_recall@", "span_recall@x", "recall", "@2", ""])
def test_an_unknown_score_is_an_error_that_lists_those_available(result, name):
    assert name not in result.metrics
    assert 5 not in result.metrics
    assert result.metrics.get(name) is None
    assert result.metrics.get(name, 7) == 7
    with pytest.raises(KeyError, match=f"no score '{name}'; there are span_recall@2, span_recall@1"):
        result.metrics[name]
    with pytest.raises(ConfigError, match=r"score|cutoff"):
        result.per_query(name)


def test_scores_by_question_keep_the_order_of_the_dataset(result):
    scores = {"worst": 0.0, "best": 1.0, "none": None, "half": 0.5, "bad": None, "half too": 0.5}
    for name in ("span_recall", "span_recall@2"):
        assert result.per_query(name) == scores
        assert list(result.per_query(name)) == list(TRUTH)
    assert result.per_query("span_recall@5ch")["best"] == 0.5


def test_the_worst_questions_come_worst_first_and_ties_in_the_order_of_the_dataset(result):
    assert [query.query_id for query in result.worst()] == ["worst", "half", "half too", "best"]
    assert [query.query_id for query in result.worst(2)] == ["worst", "half"]
    assert [query.query_id for query in result.worst(2, "span_recall@5ch")] == ["worst", "half too"]
    assert result.worst(0) == []


def test_the_worst_questions_print_with_the_score_that_put_them_there_which_is_not_looked_up_again(result, monkeypatch):
    zeros = run(count_as_zero=["failed"])
    worst = [*zeros.worst(4), *zeros.worst(2, "span_precision@5ch"), *zeros.worst(1, "span_precision")]

    def listed(self, name):
        raise AssertionError("listed once more for each question")

    monkeypatch.setattr(ScoreTable, "per_query", listed)
    assert [*map(str, worst)] == [
        "worst  span_recall@2 0.000  worst",
        "bad  span_recall@2 0.000  bad",
        "half  span_recall@2 0.500  half",
        "half too  span_recall@2 0.500  half too",
        "worst  span_precision@5ch 0.000  worst",
        "bad  span_precision@5ch 0.000  bad",
        "worst  span_precision@2 0.000  worst",
    ]
    assert [str(query) for query in result.queries[1:3]] == ["best  span_recall@2 1.000  best", "none  no-answer  none"]


def test_the_notes_on_a_question_are_beside_it_among_the_weakest():
    given = {"worst": {"notes": " Moved to\nbilling. "}, "best": {"notes": ["a", "b"]}, "half": {"tags": ["new"]}}
    noted = dataset(TRUTH)
    noted = replace(
        noted,
        ground_truth=[
            replace(entry, query=replace(entry.query, metadata=given.get(entry.query.id, {})))
            for entry in noted.ground_truth
        ],
    )
    result = evaluate(search, noted, k=2, budgets=[], metrics=[SpanRecall()])
    shown = lines(result.summary(), "Weakest questions by span_recall@2")
    assert "0.000 worst – notes: Moved to billing. (worst)" in shown
    assert "0.500 half (half)" in shown
    text = result_page(result, CORPUS).as_text(60)
    assert "0.000  worst – notes: Moved to billing. (worst)\n         d not in 2 results “0123456789”\n" in text
    assert text.count("notes") == 1


def test_zeros_are_counted_once_for_all_who_ask():
    scores = run(count_as_zero=["failed"]).scores
    assert scores.column("span_recall") is scores.column("span_recall@2")
    with pytest.raises(ValueError, match="read-only"):
        scores.column("span_recall")[0] = 1.0


def test_counts_say_how_many_queries_the_means_are_of_and_failures_are_found_by_question(result):
    assert result.counts == {
        "questions": 6,
        "scored": 4,
        "no_answer": 1,
        "failed": 1,
        "metric_failed": 0,
        "answerable": 5,
        "skipped": 0,
        "hits": 10,
        "unlocated_hits": 5,
    }
    assert list(result.failures) == ["bad"]
    assert result.failures["bad"][0].message == "gone away"


def test_the_headline_counts_skipped_and_failed_questions_among_the_answerable_ones(tmp_path):
    labels = [Skipped(Query.from_text(text), "a quote", "missing: nowhere") for text in ("x", "y", "z", "z")]
    skipping = Dataset(dataset(TRUTH).ground_truth, TOKEN, corpus=CORPUS, skipped=labels)
    result = evaluate(search, skipping, k=1, budgets=[])
    expected = "scored 4 of 8 answerable questions (3 skipped, 1 failed)"
    assert result.headline == expected
    assert (result.counts["answerable"], result.counts["skipped"]) == (8, 3)
    folder = result.save(tmp_path / "run")
    assert load_result(folder).headline == load_result(folder / "report.json").headline == expected
    assert load_result(folder).skipped == load_result(folder / "report.json").skipped == result.skipped == tuple(labels)
    assert f"<p>{expected}, 1 without an answer</p>" in result._repr_html_()


@pytest.mark.parametrize(
    ("count", "told"),
    [(11, "1 more label that could not be placed"), (12, "2 more labels that could not be placed")],
)
def test_of_many_skipped_labels_the_first_ten_are_shown(tmp_path, count, told):
    labels = [Skipped(Query.from_text(f"Why {number}?"), "", "not\x1b[31m there") for number in range(count)]
    result = evaluate(search, Dataset(dataset(TRUTH).ground_truth, TOKEN, corpus=CORPUS, skipped=labels), k=1)
    first, reason, *_, last, _, more = lines(result.summary(), "Skipped questions")
    assert first == f"Why 0? ({labels[0].query.id})"
    assert reason == "not\N{REPLACEMENT CHARACTER}[31m there"
    assert (last[:6], more) == ("Why 9?", told)
    assert (result.save(tmp_path / "run") / "summary.md").read_text().count("\n- Why ") == 10


def test_the_headline_tells_failures_of_questions_without_an_answer_apart():
    def failing(query, k):
        raise ConnectionError("gone away")

    result = run({"none": [], "neither": [], "half": [(0, 20)]}, retriever=failing)
    assert result.headline == "scored 0 of 1 answerable question (0 skipped, 1 failed)"
    assert repr(result).splitlines()[2] == f"{result.headline}, 2 without an answer (2 failed)"
    assert result.counts["failed"] == 3
    assert {*result.metrics.values()} == {None}


def test_scores_that_only_some_questions_have_are_named_with_their_number():
    class Odd(TokenLevelMetric):
        name = "odd"

        def calculate(self, retrieved, ground_truth):
            return 1 / ground_truth[0].start

    result = run(metrics=[SpanRecall(), Odd()], k=1)
    assert repr(result).splitlines()[2] == f"{result.headline}, 1 without an answer, a metric failed on 2"
    assert "! means of only 2 of 4 scored questions: odd@1, odd@5ch" in repr(result).splitlines()
    nowhere = run({"none": [], "best": [(0, 10)]}, metrics=[SpanRecall(), Odd()], k=1)
    assert "means of only" not in repr(nowhere)  # a dash says it


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_the_repr_shows_means_and_everything_that_makes_them_doubtful(result):
    text = result.summary().as_text(120).splitlines()
    assert text[:4] == [
        "mine",
        "span_recall@2 0.500, 95 % interval .123–.883",
        "scored 4 of 5 answerable questions (0 skipped, 1 failed), 1 without an answer",
        "numbers, token-level",
    ]
    notes = lines(result.summary(), "Notes")
    assert notes[0] == "! bad: retrieve: ConnectionError: gone away"
    assert notes[1].startswith("! 5 of 10 results (50%) have no place in the corpus")
    assert lines(result.summary(), "Run")[:2] == [
        "of this document only, with other documents it may differ: intervals of 95 %, questions taken as independent",
        "span_recall@2: a drop of 0.05 is found 0% of the time, 80% with 524 questions (runs correlated by 0.5)",
    ]
    assert " span_recall@2       0.500  .123–.883   0.500      ├───────────●───────────┤" in text


def test_the_repr_says_what_counts_as_zero_and_shows_no_score_as_a_dash_without_a_median():
    assert "counting as 0: failed, no-answer" in repr(run(count_as_zero=["no-answer", "failed"]))
    unscored = repr(run({"none": []}))
    assert "–" in unscored
    assert "median" not in unscored


@pytest.mark.parametrize(
    ("message", "times", "last"),
    [
        ("gone away", 1, "! q0 and 7 more: retrieve: ConnectionError: gone away"),
        ("gone away from {}", 5, "! failures of other kinds: 3"),
    ],
    ids=["equal", "of many kinds"],
)
def test_equal_failures_are_shown_once_and_counted_and_of_many_kinds_a_few(message, times, last):
    def broken(query, k):
        raise ConnectionError(message.format(query))

    page = run({f"q{number}": [(0, 1)] for number in range(8)}, retriever=broken).summary()
    assert page.as_text().count("gone away") == times
    assert lines(page, "Notes")[-1] == last


def test_what_failed_beside_another_failure_is_shown_too():
    class Odd(TokenLevelMetric):
        name = "odd"

        def calculate(self, retrieved, ground_truth):
            if ground_truth[0].start:
                raise ValueError("odd")
            return 1.0

    class Never(Odd):
        name = "never"

        def calculate(self, retrieved, ground_truth):
            return float("nan")

    text = repr(run(metrics=[Never(), Odd()], k=1, budgets=[]))
    assert "! worst and 3 more: score never@1: ValueError: returned nan; expected a finite number" in text
    assert "! worst and 1 more: score odd@1: ValueError: odd" in text


def test_what_fails_a_metric_alike_at_several_cutoffs_is_said_once():
    class Broken(TokenLevelMetric):
        name = "broken"

        def calculate(self, retrieved, ground_truth):
            raise ValueError("no vocabulary")

    text = repr(run(metrics=[Broken(), SpanRecall()]))
    assert text.count("no vocabulary") == 1
    assert "! worst and 3 more: score broken at 3 cutoffs: ValueError: no vocabulary" in text.splitlines()


# --- saving and loading -----------------------------------------------------------------------------------------------


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_results_of_a_query_differ_if_their_scores_do(result):
    one, other = result.queries, run({**TRUTH, "worst": [(90, 100), (0, 10)]}).queries
    assert one[0] == result.queries[0]
    assert one[0] != replace(one, table=other.table)[0]


@pytest.mark.parametrize("other", [lambda found: pickle.loads(pickle.dumps(found)), deepcopy], ids=["pickle", "copy"])
def test_results_go_from_one_process_to_another(tmp_path, result, other):
    for known in (result, load_result(result.save(tmp_path / "run"))):
        assert other(known) == known


def test_a_run_is_saved_by_time_and_dataset_and_a_number_under_rag_eval_or_another_root(tmp_path, monkeypatch, result):
    result = replace(result, created="2026-01-02T03:04:05+00:00")
    name = "20260102T030405Z-numbers"
    folders = [result.save(root=tmp_path) for _ in range(3)]
    assert folders == [tmp_path / "runs" / f"{name}{number}" for number in ("", "-2", "-3")]
    assert names(tmp_path / "runs") == [folder.name for folder in folders]
    assert names(folders[0]) == FILES
    assert all(load_result(folder) == result for folder in folders)
    monkeypatch.chdir(tmp_path)
    assert result.save() == Path(".rag-eval/runs") / name


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("../../etc/passwd", "Z-etc-passwd"),
        ("a:b*c?", "Z-a-b-c"),
        ("...", "Z-dataset"),
        ("日本", "Z-dataset"),
        ("x" * 300, "Z-" + "x" * 60),
    ],
)
def test_names_of_datasets_become_safe_folder_names(tmp_path, name, ending):
    folder = run(dataset_name=name).save(root=tmp_path)
    assert folder.parent == tmp_path / "runs"
    assert folder.name.endswith(ending)
    assert load_result(folder).config["dataset"]["name"] == name


def test_a_folder_with_anything_in_it_is_never_overwritten_and_an_empty_one_is_used(tmp_path, result):
    folder = result.save(tmp_path / "run")
    before = (folder / "report.json").read_bytes()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    (tmp_path / "empty").mkdir()
    for taken in (folder, tmp_path / "full"):
        with pytest.raises(ResultError, match="nothing was overwritten"):
            run({"other": [(0, 1)]}).save(taken)
    assert (folder / "report.json").read_bytes() == before
    assert names(tmp_path / "full") == ["mine"]
    assert names(tmp_path) == ["empty", "full", "run"]
    assert load_result(result.save(tmp_path / "empty")) == result


def test_the_report_is_strict_json_with_one_line_per_query_and_stable_keys(tmp_path, result):
    text = (result.save(tmp_path / "run") / "report.json").read_text(encoding="utf-8")
    report = strict(text)
    assert list(report) == [
        "schema_version",
        *HEAD[:4],
        "count_as_zero",
        *HEAD[4:9],
        "counts",
        "files",
        "experiment_url",
        "metrics",
        "statistics",
        "reranking",
        "latency",
        "unanswerable",
        "breakdowns",
        "first_relevant",
        "skipped",
        *HEAD[10:],
        "queries",
    ]
    assert report["schema_version"] == 4
    assert report["metrics"] == result.metrics
    assert report["counts"] == result.counts
    lines = [line for line in text.splitlines() if line.startswith('  {"query_id"')]
    assert [json.loads(line.rstrip(","))["query_id"] for line in lines] == list(TRUTH)
    assert json.loads(lines[1].rstrip(","))["scores"]["span_recall@2"] == 1.0
    assert json.loads(lines[2].rstrip(","))["scores"] == {}
    assert "NaN" not in text


REPORT = {"schema_version": 4, "evaluation_type": "token-level"}
WHOLE = {
    **REPORT,
    "name": "x",
    "metric_names": ["x"],
    "cutoffs": ["1"],
    "count_as_zero": [],
    "config": {
        "dataset": {"name": "x", "hash": "", "skipped": 0},
        "corpus": {"source": None, "documents": 1, "hash": "", "ids": ""},
        "tokenizer": None,
        "chunking": None,
        "metrics": [],
        "k": [1],
        "unfilled": {},
        "experiment_name": None,
    },
    "timings": {},
    "notes": [],
    "created": "2026-01-02T03:04:05+00:00",
    "version": "",
    "counts": dict.fromkeys(
        (
            "questions",
            "scored",
            "no_answer",
            "failed",
            "metric_failed",
            "answerable",
            "skipped",
            "hits",
            "unlocated_hits",
        ),
        1,
    ),
    "metrics": {"x@1": None},
    **dict.fromkeys(("experiment_url", "reranking", "latency", "unanswerable", "first_relevant")),
    **{key: {} for key in ("files", "statistics")},
    **{key: [] for key in ("skipped", "breakdowns", "gates", "usage")},
}


@each(
    ("text", "message"),
    [
        (None, r"cannot be read \(No such file or directory\); expected a run's folder or its report\.json"),
        ("", "not valid JSON"),
        ('{"schema_version": 4, "name": "\udcff"}', r"report\.json: not valid UTF-8"),
        ('{"schema_version": 4, "name": "cut', "not valid JSON"),
        ("[]", "schema_version is None; this version reads 4"),
        ('{"name": "x"}', "has no schema_version, so it is not a report of rag-eval"),
        (json.dumps(REPORT), r"\$\.name: Field required"),
        (json.dumps({**REPORT, "name": 5}), r"\$\.name: "),
        (json.dumps({**WHOLE, "queries": [{}]}), r"\$\.queries\.0\.query_id: Field required"),
        (json.dumps({**WHOLE, "queries": 5}), r"\$\.queries: got 5; expected a list"),
        (
            json.dumps({**WHOLE, "files": {"questions.jsonl": {}}}),
            r"questions\.jsonl: is missing; it holds",
        ),
        ('{"schema_version": 4, "name": "x", "name": "y"}', "duplicate key 'name'"),
        ('{"schema_version": 4, "usage": [{"cost": Infinity}]}', "Infinity is not a valid JSON number"),
    ],
)
def test_a_file_that_is_not_a_report_is_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "report.json").write_text(text, "utf-8", "surrogateescape")
    for path in (tmp_path, tmp_path / "report.json"):
        with pytest.raises(ResultError, match=message) as caught:
            load_result(path)
        assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("level", "place"),
    [("chunk-level", r"\$\.queries\.0\.relevant\.0"), ("page-level", r"\$\.evaluation_type")],
    ids=["though it holds spans", "unknown"],
)
def test_a_report_that_says_another_level_is_refused(tmp_path, result, level, place):
    report = result.save(tmp_path / "run") / "report.json"
    with pytest.raises(LevelMismatch, match="5"):
        load_result(report, 5)
    report.write_text(report.read_text().replace('"token-level"', f'"{level}"'))
    with pytest.raises(LevelMismatch, match=f"is {level}, expected token-level"):
        load_result(report, TOKEN)
    with pytest.raises(ResultError, match=place):
        load_result(report)


def test_unknown_keys_in_a_report_are_ignored(tmp_path, result):
    folder = result.save(tmp_path / "run")
    report = json.loads((folder / "report.json").read_text())
    (folder / "report.json").write_text(json.dumps({**report, "later": {"x": 1}}))
    assert load_result(folder) == result


# --- the summary ------------------------------------------------------------------------------------------------------


def summary(result, folder):
    return (result.save(folder / "run") / "summary.md").read_text(encoding="utf-8")


def tables(text):
    """Return the tables of a Markdown page as lists of rows of cells."""
    found, inside = [], False
    for line in text.splitlines():
        if line.startswith("|"):
            if not inside:
                found.append([])
            found[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        inside = line.startswith("|")
    return found


def test_the_summary_shows_means_notes_and_the_weakest_questions(tmp_path, result):
    text = summary(result, tmp_path).replace("\\_", "_")
    scores, latency = tables(text)
    assert scores[0] == ["score", "mean", "interval", "median", ""]
    assert [row[:4] for row in scores[2:]] == [
        ["span_recall@2", "0.500", ".123–.883", "0.500"],  # of 0, 0.5, 0.5 and 1
        ["span_recall@1", "0.500", ".123–.883", "0.500"],
        ["span_recall@5ch", "0.188", ".025–.693", "0.125"],  # of 0, 0, 0.25 and 0.5
        ["span_precision@2", "0.446", ".109–.812", "0.536"],  # between 5/14 and 10/14
        ["span_precision@1", "0.625", ".152–.952", "0.750"],
        ["span_precision@5ch", "0.500", ".068–.932", "0.500"],
    ]
    assert scores[2][4] == "`···├────────●────────┤···`"
    assert [row[0] for row in latency] == ["stage", "---", "retrieve", "total"]
    assert text.splitlines()[0] == "# mine"
    assert lines(result.summary(), "Weakest questions by span_recall@2") == [
        *("0.000 worst (worst)", "0.500 half (half)", "0.500 half too (half too)")
    ]
    assert "\n\nscored 4 of 5 answerable questions (0 skipped, 1 failed), 1 without an answer\n\n" in text
    assert "bad: retrieve: ConnectionError: gone away" in text
    assert "5 of 10 results (50%) have no place in the corpus" in text
    assert "docs, 1 documents" in text
    assert CORPUS.content_hash[:12] in text
    assert result.created[:19] in text


def test_of_an_odd_number_of_questions_the_median_is_the_middle_score():
    result = run({name: TRUTH[name] for name in ("worst", "half", "half too")}, metrics=[SpanRecall()])
    rows = table(result.summary(), "Scores").rows
    assert rows[0][1:4:2] == ("0.333", "0.500")
    assert [row[3] for row in rows] == ["0.500", "0.500", "0.000"]


class OwnStore(InMemoryVectorStore):
    pass


VECTORS = VectorRAGRetriever(embedder=HashingEmbedder())


@pytest.mark.parametrize(
    ("retriever", "stores"),
    [
        (VECTORS, "in-memory"),
        (HybridRetriever((BM25Retriever(), VECTORS)), "in-memory"),
        (RerankedRetriever(VECTORS, ReversingReranker()), "in-memory"),
        (HybridRetriever((VECTORS, replace(VECTORS, vector_store=OwnStore()))), f"in-memory, {__name__}:OwnStore"),
        (BM25Retriever(), None),
    ],
    ids=["vectors", "hybrid", "reranked", "two", "no store"],
)
def test_a_result_names_the_stores_it_was_made_with_also_the_default_one(tmp_path, retriever, stores):
    found = run(retriever=retriever)
    text = summary(found, tmp_path).replace("\\_", "_")
    assert (f"- vector store: {stores}\n" in text) == (stores is not None)
    assert ("vector store" in text) == (stores is not None)
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert ("vector_store" in json.dumps(report["config"]["retriever"])) == (stores is not None)
    assert load_result(tmp_path / "run").config["retriever"] == found.config["retriever"]


def test_a_folder_created_by_another_process_at_the_same_moment_is_not_touched(tmp_path, monkeypatch):
    real = store.write_folder

    def overtaken(folder, files):
        if not any((tmp_path / "runs").glob("*")):
            folder.mkdir(parents=True)
            (folder / "report.json").write_text("theirs")
        return real(folder, files)

    monkeypatch.setattr(store, "write_folder", overtaken)
    mine = run({"q": [(0, 1)]}).save(root=tmp_path)
    assert mine.name.endswith("-2")
    theirs = mine.with_name(mine.name.removesuffix("-2"))
    assert (theirs / "report.json").read_text() == "theirs"


def test_comparing_leaves_the_search_path_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    before = list(sys.path)
    assert run().compare(run()).deltas
    assert sys.path == before
