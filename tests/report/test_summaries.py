"""How two results differ, as a terminal shows it."""

import io

from rich.console import Console

from rag_evaluation_framework.report import show_difference
from rag_evaluation_framework.results.summary import Summary


def shown(width, **given):
    summary = {
        "title": "after against before",
        "headline": ("before: all", "after: all"),
        "header": ("", "in both", "before", "after", "delta", "better", "worse"),
        "rows": (("span_recall@5", "2", "0.500", "0.250", "-0.250", "0", "1"),),
        "notes": (),
        "worst_title": "Questions that got worse",
        "worst": (),
        "facts": ("baseline: here", "candidate: there"),
    }
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    show_difference(console, Summary(**{**summary, **given}))
    return console.file.getvalue()


def test_scores_what_got_worse_and_where_the_results_are_stand_below_each_other():
    lines = shown(80, worst=(("-0.500", "q1", "Who?"),)).splitlines()
    assert lines[:3] == ["after against before", "before: all", "after: all"]
    assert lines[-5:] == ["Questions that got worse", "-0.500  Who? (q1)", "", "baseline: here", "candidate: there"]
    assert "Questions that got worse" not in shown(80)


def test_long_texts_wrap_and_markup_is_literal():
    notes, worst = ("[red]note " * 20,), (("-0.500", "q1", "[bold]word " * 30),)
    printed = shown(60, notes=notes, worst=worst)
    assert max(map(len, printed.splitlines())) <= 60
    assert printed.count("[red]note") == 20
    assert printed.count("[bold]word") == 30
    continued = printed[printed.index("-0.500  [bold]") :].splitlines()[1]
    assert continued.startswith(" " * 8 + "[bold]word")


def test_columns_that_do_not_fit_continue_in_a_table_below():
    printed = shown(40)
    assert max(map(len, printed.splitlines())) <= 40
    assert printed.count("span_recall@5") > 1
    assert "worse" in printed
