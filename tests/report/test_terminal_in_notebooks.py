"""In a notebook, rich shows what is printed to it at once: a page that is only asked for as text must not be."""

import rich.console

from rag_evaluation_framework import BM25Retriever, evaluate
from rag_evaluation_framework.demo import load_handbook


def test_the_text_of_a_result_is_returned_and_not_shown(monkeypatch):
    result = evaluate(BM25Retriever(), load_handbook())
    text = str(result)
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    assert str(result) == text != ""
