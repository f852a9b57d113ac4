"""`rag-eval dataset update`, at a real terminal."""

import json

import pytest

pytest.importorskip("pty", reason="terminals of their own are made as Unix does")

from support.terminal import Terminal

pytestmark = pytest.mark.slow

ASKED = "is its label now “Refunds are paid within 14 days.”? y, n, or q to stop > "


@pytest.fixture
def asking(rag_eval, tmp_path):
    """A terminal that shows a changed label and asks about it, and the file of its dataset."""
    docs = tmp_path / "docs"
    docs.mkdir()
    billing = "# Billing\n\nInvoices are sent by mail. Refunds are paid within {} days. Nothing is paid in cash.\n"
    (docs / "billing.md").write_text(billing.format(30))
    quotes = "When are refunds paid?,Refunds are paid within 30 days.\nHow are they sent?,Invoices are sent by mail.\n"
    (tmp_path / "q.csv").write_text(f"question,quote\n{quotes}")
    assert rag_eval("init", "--corpus", "docs", "--questions", "q.csv").code == 0
    (docs / "billing.md").write_text(billing.format(14))
    file = tmp_path / ".rag-eval" / "datasets" / "q.json"
    terminal = Terminal("dataset", "update", file, "--corpus", "docs", folder=tmp_path, columns=120)
    shown = terminal.until(f"1 of 1: {ASKED}")
    assert "[-30-]" in shown
    assert "{+14+}" in shown
    return terminal, file


@pytest.mark.parametrize(("typed", "taken"), [("Yes", True), ("n", False), ("q", False)])
def test_a_person_is_shown_what_a_changed_label_would_be_and_takes_it_or_not(asking, typed, taken):
    terminal, file = asking
    terminal.type("perhaps")
    terminal.until(ASKED)
    terminal.type(typed)
    terminal.until("Wrote ")
    assert terminal.end() == 0
    texts = {label["text"] for question in json.loads(file.read_text())["questions"] for label in labels(question)}
    assert ("Refunds are paid within 14 days." in texts) is taken


def test_what_somebody_else_wrote_while_a_person_was_asked_stays(asking):
    terminal, file = asking
    theirs = file.read_text().replace("How are they sent?", "How are invoices sent?")
    file.write_text(theirs)
    terminal.type("y")
    terminal.until("was written by somebody else meanwhile")
    assert terminal.end() == 2
    assert file.read_text() == theirs
    assert [path.name for path in file.parent.glob("*.json")] == ["q.json"]


def labels(value):
    """Return what is labelled somewhere in a record."""
    if isinstance(value, dict):
        return [value] if "start" in value else [one for inner in value.values() for one in labels(inner)]
    return [one for inner in value for one in labels(inner)] if isinstance(value, list) else []
