"""Sweeps with times that nobody waits for, without a common truth, and with notes of their own."""

from rag_evaluation_framework.runs.means import Duration, Latency
from support.pages import lines
from sweeps.test_result import facts, names, sweep


def timed(seconds):
    return Latency({}, Duration(seconds, seconds, 4), None)


def test_of_cells_that_answer_within_a_millisecond_the_best_is_taken():
    scores = {"slower": [1, 1, 0.9, 0.5], "faster": [1, 1, 0.8, 0.5]}

    def chosen(slower):
        made = {"slower": timed(slower), "faster": timed(0.0001)}
        result = sweep({"a": [*scores]}, lambda name: facts({"recall@5": scores[name]}, latency=made[name]))
        return result.recommendation.standing.outcome.cell.name, names(result.best().tied)

    both = ["a=slower", "a=faster"]
    assert chosen(0.0009) == ("a=slower", both)
    assert chosen(0.0013) == ("a=faster", both)


def test_a_combination_without_a_common_truth_is_no_pair():
    """What was asked over other documents has another truth of every question."""

    def made(corpus, size):
        return facts({"recall@5": [0.1 * size]}, questions=[corpus])

    corpus, size = sweep({"corpus": ["one", "other"], "size": [1, 2]}, made).effects()
    assert (corpus.combinations, corpus.test) == (0, None)
    assert (size.combinations, size.test.pairs) == (2, 2)


def test_a_note_of_the_sweep_is_not_repeated_as_one_of_its_cells():
    result = sweep({"a": [1, 2]}, lambda _: facts({"recall@5": [0.5]}, notes=("busy", "own")), notes=("busy",))
    assert lines(result.summary(), "Notes") == ["! busy"]
    assert lines(result.summary(), "Notes of the cells") == ["! each: own"]
