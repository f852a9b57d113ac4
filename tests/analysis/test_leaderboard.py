"""Any number of results in one table: over the queries that all have, against the baseline and against the best."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from rag_evaluation_framework import (
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    Comparison,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    SpanRecall,
    TokenLevelGroundTruth,
    compare,
    evaluate,
)
from rag_evaluation_framework.analysis import Leaderboard
from rag_evaluation_framework.analysis.leaderboard import unique_names
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import ConfigError, LevelMismatch, ResultError
from rag_evaluation_framework.statistics import optimism_of_best, tied_with_best
from rag_evaluation_framework.statistics.power import detectable_change
from support.linear import assert_linear
from support.pages import lines, table, titles

QUESTIONS = 40
CORPUS = Corpus([Document(DocumentId(f"d{number}"), "0123456789" * 10) for number in range(20)])


def dataset(numbers=range(QUESTIONS), end=10):
    """Two questions on each of 20 documents."""
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(f"q{number}"), QueryText(f"question {number}")),
            [CharacterSpan(DocumentId(f"d{number % 20}"), 0, end)],
        )
        for number in numbers
    ]
    return Dataset(entries, TOKEN, name="numbers", corpus=CORPUS)


@pytest.fixture(scope="module")
def result():
    """A result whose scores are replaced."""
    return evaluate(
        lambda query, k: [{"doc_id": "d0"}],
        dataset(),
        k=1,
        budgets=["20ch", "10ch"],
        metrics=[SpanRecall()],
        experiment_name="base",
    )


def scoring(result, columns, name):
    """Return the result with these scores."""
    table = replace(result.scores, columns={key: np.array(scores, dtype=float) for key, scores in columns.items()})
    return replace(result, name=name, queries=replace(result.queries, table=table))


@pytest.fixture(scope="module")
def runs(result):
    """Three runs: the last is the best, and the second may be."""
    random = np.random.default_rng(0)
    base = 0.25 + random.random(QUESTIONS) * 0.4
    near, best = base + random.normal(0.15, 0.2, QUESTIONS), base + 0.25
    best[[3, 8, 11]] = base[[3, 8, 11]] - [0.1, 0.2, 0.05]
    names = ("span_recall@1", "span_recall@20ch", "span_recall@10ch")
    return [
        scoring(
            result, {key: np.clip(scores * share, 0, 1) for key, share in zip(names, (1, 0.9, 0.4), strict=True)}, name
        )
        for name, scores in (("base", base), ("near", near), ("best", best))
    ]


@pytest.fixture(scope="module")
def board(runs):
    return compare(*runs)


def test_two_results_are_a_comparison_and_more_are_a_leaderboard(runs, board):
    two = compare(*runs[:2])
    assert isinstance(two, Comparison)
    assert two.record() == runs[0].compare(runs[1]).record()
    assert isinstance(board, Leaderboard)
    assert board.runs == ("base", "near", "best")
    assert [comparison.record() for comparison in board.comparisons] == [
        runs[0].compare(run).record() for run in runs[1:]
    ]


def test_of_two_runs_the_one_that_is_not_the_best_is_tied_as_the_paired_test_says(runs):
    for pair in (runs[:2], runs[1:], runs[::2]):
        two, board = compare(*pair), Leaderboard.of(pair)
        for name, test in two.tests.items():
            best, other = board.standings(name)
            assert (best.p_value, other.p_value, other.is_tied) == (1.0, test.p_value, test.p_value > 0.05)


def test_runs_are_ordered_by_a_score_with_their_deltas_to_the_baseline(runs, board):
    standings = board.standings()
    assert [standing.run for standing in standings] == ["best", "near", "base"]
    assert [standing.mean for standing in standings] == [
        run.metrics["span_recall@1"] for run in (runs[2], runs[1], runs[0])
    ]
    assert standings[2].test is None
    for standing, comparison in zip(standings, (board.comparisons[1], board.comparisons[0]), strict=False):
        assert asdict(standing.test) == pytest.approx(asdict(comparison.tests["span_recall@1"]))
    assert board.standings("span_recall") == standings
    assert board.standings("span_recall@10ch")[0].mean == runs[2].metrics["span_recall@10ch"]


def test_the_runs_that_are_tied_with_the_best_are_those_of_the_scores_by_document(runs, board):
    scores = np.stack([run.scores.columns["span_recall@1"] for run in runs], axis=1)
    assert board.clusters.numbers.tolist() == [number % 20 for number in range(QUESTIONS)]
    expected = tied_with_best(scores, board.clusters.numbers)
    assert board.tied["span_recall@1"] == expected
    assert {standing.run: standing.is_tied for standing in board.standings()} == {
        "best": True,
        "near": True,
        "base": False,
    }
    assert {standing.run: standing.p_value for standing in board.standings()} == dict(
        zip(board.runs, expected.p_values, strict=True)
    )
    assert board.optimism() == optimism_of_best(scores, board.clusters.numbers) > 0
    assert board.optimism("span_recall@10ch") < board.optimism()


def test_means_are_of_the_questions_that_all_runs_have(result, runs):
    columns = {name: column.copy() for name, column in runs[1].scores.columns.items()}
    for column in columns.values():
        column[:4] = np.nan
    board = compare(runs[0], scoring(result, columns, "near"), runs[2])
    assert board.tied["span_recall@1"].questions == 36
    assert board.means["span_recall@1"] == pytest.approx(
        [float(run.scores.columns["span_recall@1"][4:].mean()) for run in runs]
    )
    assert [test.pairs for test in board.tests["span_recall@1"]] == [36, 36]
    assert board.comparisons[1].tests["span_recall@1"].pairs == 40
    assert board.notes[0] == (
        "span_recall@1 is of 36 questions, those of all runs; some share more with the baseline: best: 40"
    )
    assert board.record()["scores"]["span_recall@1"]["n"] == 36


def test_a_score_that_no_question_has_in_all_runs_has_no_standing(result, runs):
    columns = {**runs[1].scores.columns, "span_recall@1": np.full(QUESTIONS, np.nan)}
    board = compare(runs[0], scoring(result, columns, "near"), runs[2])
    assert [(standing.mean, standing.is_tied, standing.p_value) for standing in board.standings()] == [
        (None, False, None)
    ] * 3
    assert board.optimism() is None
    assert board.record()["scores"]["span_recall@1"]["best"] is None
    assert "no question has span_recall@1 in all runs" in repr(board)
    assert [standing.run for standing in board.standings("span_recall@20ch")] == ["best", "near", "base"]


def test_questions_that_a_run_lacks_are_compared_in_pairs_only():
    def run(numbers, name, end=10):
        return evaluate(lambda query, k: [], dataset(numbers, end), k=1, budgets=[], experiment_name=name)

    board = compare(run(range(10), "a"), run(range(2, 12), "b"), run(range(4, 14), "c"))
    assert board.tables[0].query_ids == tuple(f"q{number}" for number in range(4, 10))
    assert "b: questions of the candidate only, not compared: 2 (q10, q11)" in board.notes
    apart = (run(range(10), "a"), run(range(5), "b"), run(range(5, 10), "c"))
    with pytest.raises(ResultError, match="'a', 'b', 'c' have no question with the same truth in common"):
        compare(*apart)
    with pytest.raises(ResultError, match="'a' and 'x' have no question with the same truth in common"):
        compare(apart[0], apart[1], run(range(10), "x", end=20))


def test_scores_that_a_run_lacks_are_left_out(result, runs):
    fewer = scoring(result, {"span_recall@20ch": runs[1].scores.columns["span_recall@20ch"]}, "near")
    board = compare(runs[0], fewer, runs[2])
    assert board.score_names == ("span_recall@20ch",)
    other = scoring(result, {"span_recall@10ch": runs[2].scores.columns["span_recall@10ch"]}, "best")
    with pytest.raises(ResultError, match="'base', 'near', 'best' have no score in common"):
        compare(runs[0], fewer, other)
    with pytest.raises(ConfigError, match="no score 'span_recall@1' in all runs; there are span_recall@20ch"):
        board.standings("span_recall@1")


def test_results_that_mean_different_things_are_refused_by_name(runs):
    truth = [DocumentLevelGroundTruth(Query(QueryId("q0"), QueryText("question 0")), ["d0"])]
    documents = evaluate(lambda query, k: [], Dataset(truth, DOCUMENT, corpus=CORPUS), experiment_name="documents")
    with pytest.raises(LevelMismatch, match="'base' is token-level, 'documents' is document-level"):
        compare(*runs[:2], documents)
    with pytest.raises(ResultError, match=r"compare\('run'\): expected an EvaluationResult; load_result\(path\) reads"):
        compare(*runs[:2], "run")
    with pytest.raises(ConfigError, match="1 results; expected at least 2"):
        Leaderboard.of(runs[:1])


def test_runs_of_one_name_are_numbered(result, runs):
    same = [replace(run, name="same") for run in runs]
    assert compare(*same).runs == ("same", "same (2)", "same (3)")
    assert compare(same[0], replace(same[1], name="same (2)"), same[2]).runs == ("same", "same (2)", "same (3)")


def test_thousands_of_equal_names_are_numbered_in_linear_time():
    assert_linear(lambda size: lambda: unique_names(["same"] * size), 10_000)


def test_notes_of_all_pairs_are_told_once_and_others_by_run(runs):
    noted = [replace(run, config={**run.config, "corpus": {**run.config["corpus"], "hash": "0"}}) for run in runs]
    assert compare(runs[0], *noted[1:]).notes.count("the corpus is not the same") == 1
    assert "near: the corpus is not the same" in compare(runs[0], noted[1], runs[2]).notes


def test_the_winners_of_all_runs_are_told_where_the_orders_by_k_and_by_budget_disagree(result, runs):
    """The baseline and another run disagree, too, and neither is a winner."""
    scores = [(0.3, 0.8), (0.9, 0.1), (0.1, 0.9), (0.8, 0.2)]
    noise = runs[0].scores.columns["span_recall@1"] * 0.1
    named = [
        scoring(result, {"span_recall@1": noise + at_k, "span_recall@20ch": noise + at_budget}, name)
        for name, (at_k, at_budget) in zip("abcd", scores, strict=True)
    ]
    told = "the orders by k and by budget disagree: {} is above {} by span_recall@1, and below it by span_recall@20ch"
    assert [note.partition(", both")[0] for note in compare(*named).notes if "disagree" in note] == [
        told.format("b", "c")
    ]
    assert [note.partition(", both")[0] for note in compare(named[0], named[3]).notes] == [told.format("d", "a")]


def test_what_is_independent_can_be_chosen(runs):
    by_question = compare(*runs, cluster="question")
    assert by_question.clusters.numbers is None
    assert by_question.tied["span_recall@1"].clusters == QUESTIONS
    assert all(comparison.clusters.numbers is None for comparison in by_question.comparisons)
    assert by_question.record()["intervals"]["independent"] == "questions"
    assert compare(*runs[:2], cluster="question").tests["span_recall@1"].clusters == QUESTIONS
    assert runs[0].compare(runs[1], cluster="question").clusters.numbers is None
    few = [
        evaluate(lambda query, k: [], dataset(range(5)), k=1, budgets=[], experiment_name=name)
        for name in ("a", "b", "c")
    ]
    assert compare(*few).clusters.numbers is None
    assert compare(*few, cluster="document").clusters.numbers.tolist() == [*range(5)]
    with pytest.raises(ConfigError, match="cluster='page': expected 'question' or 'document'"):
        compare(*runs, cluster="page")


def test_the_record_is_json_with_all_of_it(board):
    record = json.loads(json.dumps(board.record("span_recall@20ch"), allow_nan=False))
    assert list(record) == [
        "schema_version", "runs", "baseline", "intervals", "ordered_by", "order", "optimism", "scores", "questions",
        "notes",
    ]  # fmt: skip
    assert (record["schema_version"], record["baseline"], record["ordered_by"]) == (1, "base", "span_recall@20ch")
    assert record["order"] == ["best", "near", "base"]
    assert record["optimism"] == board.optimism("span_recall@20ch")
    assert [run["name"] for run in record["runs"]] == [*board.runs]
    row = record["scores"]["span_recall@1"]
    assert (row["n"], row["best"], list(row["runs"])) == (40, "best", ["best", "near", "base"])
    test = board.comparisons[1].tests["span_recall@1"]
    assert row["runs"]["best"]["delta"] == row["runs"]["best"]["test"]["mean"] == test.mean
    assert row["runs"]["best"]["test"]["detectable"] > 0
    assert row["runs"]["base"] == {
        "mean": board.means["span_recall@1"][0],
        "delta": None,
        "test": None,
        "tied_with_best": False,
        "tied_p_value": board.tied["span_recall@1"].p_values[0],
    }
    assert record["questions"] == [f"q{number}" for number in range(QUESTIONS)]


def test_the_table_is_of_one_score_and_those_below_of_all(board):
    page = board.summary()
    told = lines(page)
    assert page.title == "3 runs by span_recall@1"
    assert told[0] == "2 of 3 runs are tied for best by span_recall@1"
    assert "40 questions that all runs have" in told
    assert "intervals of 95 %, p by flipping signs, questions on one document taken together (20 documents)" in told
    assert "deltas are from the baseline, base" in told
    assert "tied: may be the best one (95 %, for all runs together)" in told
    tests = board.tests["span_recall@1"]
    least = sorted(map(detectable_change, tests))
    found = f"{least[0]:.3f} to {least[1]:.3f}, depending on the run,"
    assert f"span_recall@1: a true change of {found} would be found 4 times in 5" in told
    assert f"the mean of the best is about {board.optimism():.3f} too high, as it was chosen as the highest" in told
    assert "each: scored 40 of 40 answerable questions (0 skipped, 0 failed)" in told
    rows = table(page, "By span_recall@1").rows
    assert [(row[0], row[-1]) for row in rows] == [("1 best", "best"), ("2 near", "yes"), ("3 base", "no")]
    assert rows[2] == ("3 base", f"{board.means['span_recall@1'][0]:.3f}", "–", "baseline", "–", "no")
    first = table(page, "All scores, by the numbers of the runs; * tied with the best").rows[0]
    means = board.means["span_recall@1"]
    assert first == ("span_recall@1", "40", f"{means[2]:.3f}*", f"{means[1]:.3f}*", f"{means[0]:.3f}")
    curve = board.plot().table
    assert (curve.title, curve.header) == ("span_recall by budget", ("run", "@10ch", "@20ch"))
    assert curve.rows[0] == ("1 best", *(f"{board.means[f'span_recall@{size}ch'][2]:.3f}" for size in (10, 20)))


def test_of_the_best_run_the_questions_are_named_that_it_lost(board, runs):
    title = "Questions on which the best run is worse than the baseline by"
    assert lines(board.summary(worst=2), f"{title} span_recall@1, 2 of 3") == [
        "-0.200 question 8 (q8)",
        "-0.100 question 3 (q3)",
    ]
    assert f"{title} span_recall@20ch" in titles(board.summary("span_recall@20ch"))
    assert not [one for one in titles(compare(runs[2], *runs[:2]).summary()) if one.startswith(title)]


def test_of_one_score_and_a_certain_winner_there_is_one_table_and_nothing_is_too_high(result):
    scores = np.linspace(0, 0.3, QUESTIONS)
    board = compare(
        *(scoring(result, {"span_recall@1": scores + more}, name) for name, more in (("a", 0), ("b", 0.3), ("c", 0.7)))
    )
    assert titles(board.summary()) == ["Notes", "By span_recall@1", "Runs"]
    assert board.optimism() == 0.0
    assert "too high" not in repr(board)
    assert [standing.is_tied for standing in board.standings()] == [True, False, False]
