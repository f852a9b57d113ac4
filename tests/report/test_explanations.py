"""Losses and explanations in a terminal."""

from io import StringIO

import pytest
from rich.console import Console

from rag_evaluation_framework import RecursiveCharacterChunker, TokenLevelEvaluation
from rag_evaluation_framework.analysis.attribution import Attribution
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.report import show


@pytest.fixture(scope="module")
def run():
    handbook = load_handbook()
    return TokenLevelEvaluation(handbook.corpus, handbook).run(RecursiveCharacterChunker(chunk_size=200), k=5)


def printed(show, *, colours=False, width=80):
    console = Console(file=StringIO(), width=width, force_terminal=colours, highlight=False, markup=False)
    show(console)
    return console.file.getvalue()


def test_causes_fit_a_terminal_and_the_worst_follow_if_there_are_some(run):
    attribution = Attribution.of(run)
    lines = printed(lambda console: show(console, attribution.summary(3))).splitlines()
    assert max(map(len, lines)) <= 80
    assert any([*filter(None, line.split())][-4:-1] == ["0.401", "61%", "37"] for line in lines)
    assert sum("(q0" in line for line in lines) == 3
    assert "Questions that lost most" not in printed(lambda console: show(console, attribution.summary(0)))
