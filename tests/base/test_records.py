import pytest

from rag_evaluation_framework.base.records import Problems, RecordReader


def test_one_problem_is_a_line_several_are_lines_below_their_source_and_of_many_ten_are_kept():
    assert Problems(["is wrong"]).message("a.json") == "a.json: is wrong"
    assert Problems(["is wrong", "is worse"]).message("a.json") == "a.json: 2 problems:\n  is wrong\n  is worse"
    problems = Problems(f"problem {number}" for number in range(100_000))
    assert len(problems) == 100_000
    assert problems.message("a.json").endswith("\n  problem 9\n  … and 99990 more")
    assert sum(map(len, problems._first)) == 90  # nothing of the others is kept


def test_a_problem_and_a_note_that_quote_the_file_are_cut():
    problem = Problems([f"begin{'x' * 1_000_000}end"]).message("a.json")
    assert problem.startswith("a.json: beginx")
    assert problem.endswith("xend")
    assert len(problem) < 700
    records = RecordReader("a.json")
    records.note("key", f"$: unknown key {'x' * 1_000_000}")
    with pytest.warns(UserWarning, match=r"^a\.json: \$: unknown key x+ … .*characters left out"):
        records.warn()
    assert len(records.notes["key"]) < 700


def test_of_many_notes_ten_are_said_and_the_others_counted():
    records = RecordReader("a.json")
    for number in range(5_000):
        records.note(f"kind {number}", f"note {number}")
    with pytest.warns(UserWarning) as warned:  # noqa: PT030  each is looked at
        records.warn()
    assert [str(warning.message) for warning in warned] == [
        *(f"a.json: note {number}" for number in range(10)),
        "a.json: … and 4990 more of the kind",
    ]
