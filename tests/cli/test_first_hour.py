"""The first hour of somebody with a folder of documents and thirty quotes, copied from what they saw.

No file of ours is edited by hand, and no label is lost without a word.
"""

import csv
import json
import shutil
from pathlib import Path

import pytest

from rag_evaluation_framework import load_dataset, load_result

HERE = Path(__file__).parent / "first_hour"
DATASET = ".rag-eval/datasets/questions.json"
FOLDER = ("--corpus", "docs", "--glob", "**/*.{md,rst,txt,html}")
CONFIG = ("--corpus", ".rag-eval/questions.yaml")
LATER = """\
question,quote
How much is the smallest plan?,Cabin 100 GB €4.50 five working days
May I run it on two machines at once?,
Which port has to be open?,"Lighthouse talks to one server over port 443, and to nothing else."
How much of my processor does it take?,"It uses at most one processor core, and stops while the battery is below 20 %."
Which schedule is the default?,The default is “calm”.
"""
PAGE = """<!doctype html><title>Status</title>
<h1>Status</h1><p>The status page is checked <b>every
minute</b>, &amp; keeps what it saw for 90&nbsp;days.</p>
"""
MORE = """\
How often is the status page checked?,"“The status page is checked every minute, & keeps what it saw …”",
When does the beta end?,The beta ends in March...,
"""
WRAPPED = """Each gets a recovery phrase of his or her own, and either
    can be taken back without a new back-
    up of everything."""


@pytest.fixture
def started(rag_eval, tmp_path):
    """The folder with the documents and the table of quotes."""
    shutil.copytree(HERE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "docs/status.html").write_text(PAGE)
    (tmp_path / "docs/beta.txt").write_text("The beta ends in March.\n")
    table = tmp_path / "questions.csv"
    table.write_text(f"{table.read_text().rstrip()}\n{MORE}")
    return tmp_path


def edit(path, *changes):
    text = path.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)


def say_yes_to_all(table):
    """Take all suggestions of a table."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows({**row, "accept": "yes" if row["suggestion"] else ""} for row in rows)


def edit_documents(docs):
    """What a week does to documents: a comment, another order, new names, line breaks, words, and what is deleted."""
    (docs / "status.html").write_text(PAGE.replace("<h1>Status</h1>", "<h1>Status</h1><p>All is well.</p>"))
    (docs / "status.html").rename(docs / "health.html")
    (docs / "beta.txt").unlink()
    edit(docs / "index.md", ("# Lighthouse backup\n", "<!-- checked in November -->\n# Lighthouse backup\n"))
    edit(
        docs / "index.md", ("**encrypted before they leave the machine**", "*encrypted before they leave the machine*")
    )
    pricing = (docs / "pricing.md").read_text()
    first, second, last = (pricing.index(text) for text in ("## Invoices", "## Refunds", "Contact support"))
    (docs / "pricing.md").write_text(pricing[:first] + pricing[second:last] + pricing[first:second] + pricing[last:])
    (docs / "guides/restore.md").rename(docs / "guides/restoring.md")
    edit(docs / "faq.txt", (WRAPPED, " ".join(WRAPPED.split()).replace("back- up", "backup")))
    edit(docs / "guides/install.rst", ("is ``steady``.", "is ``calm``."), ("of 100 Mbit/s", "of 50 Mbit/s"))
    edit(docs / "guides/network.rst", ("Behind a proxy, set :envvar:`HTTPS_PROXY` before the service starts. ", ""))


@pytest.fixture
def told(rag_eval):
    """Run `rag-eval`, and return what it says, on one line."""

    def run(*arguments, code=0):
        outcome = rag_eval(*arguments)
        assert outcome.code == code, outcome
        return " ".join(f"{outcome.out} {outcome.err}".split())

    return run


def saved(said):
    """The result of a run, by what the run says."""
    return load_result(said.split("aved in ")[-1].split("Saved to ")[-1].split()[0])


def questions(skipped):
    return [label.query.text for label in skipped]


def test_the_first_hour(told, started):
    said = told("init", *FOLDER, "--questions", "questions.csv")
    assert "26 of 31 quotes located, 1 ambiguous, 4 missing; 1 question without an answer" in said
    assert "line 23, missing: “The installer need" in said
    assert "differs: “5” for “five”" in said
    assert "4 suggestions beside the quotes: questions.suggested.csv" in said
    assert "5 questions skipped" in said
    ambiguous = "Whom do I ask?"
    lost = [
        "When must an invoice be paid?",
        "What if my card is declined?",
        "How long does a refund take?",
        "Does it need administrator rights?",
    ]

    said = told("run", ".rag-eval/questions.yaml", code=2)
    assert "scored 26 of 31 answerable questions (5 skipped, 0 failed), 1 without an answer" in said
    assert "5 of 31 answerable questions were skipped" in said
    assert "`rag-eval dataset update`" in said
    before = saved(told("run", ".rag-eval/questions.yaml", "--allow-skipped", "5"))
    assert questions(before.skipped) == [*lost, ambiguous]

    say_yes_to_all(started / "questions.suggested.csv")  # somebody looked through them
    said = told("dataset", "update", DATASET, *CONFIG, "--questions", "questions.suggested.csv")
    assert "4 questions added, 0 corrected" in said
    said = told("run", ".rag-eval/questions.yaml", "--allow-skipped", "1")
    assert "scored 30 of 31 answerable questions (1 skipped, 0 failed)" in said
    before = saved(said)

    edit_documents(started / "docs")
    said = told("run", ".rag-eval/questions.yaml", code=2)
    assert "documents have changed since they were labelled: 31 labels:" in said
    assert "4 questions skipped" in said
    lost = ["How long does the first run take?", "Does it work behind a proxy?", "Can two people share a backup?"]
    lost = [*lost, "When does the beta end?"]
    assert questions(saved(said).skipped) == [ambiguous, *lost]

    (started / "later.csv").write_text(LATER)
    said = told("dataset", "update", DATASET, *CONFIG, "--questions", "later.csv", "--html", "changes.html")
    page = (started / "changes.html").read_text()
    assert "connection of [-100-] {+50+} Mbit/s" in said
    assert "5 questions added" in said
    changes = json.loads(told("dataset", "update", DATASET, *CONFIG, "--json"))
    open_changes = {change["query"]["query"]: change["id"] for change in changes["changes"] if "now" not in change}
    assert [*open_changes] == lost
    assert all(number in page for number in open_changes.values())
    told("dataset", "update", DATASET, *CONFIG, "--take", open_changes[lost[0]])  # somebody looked at it
    lost = lost[1:]
    said = told("run", ".rag-eval/questions.yaml", code=2)
    assert "scored 31 of 35 answerable questions (4 skipped, 0 failed), 2 without an answer" in said
    after = saved(said)
    assert len(before.compare(after).deltas["span_recall@5"]) == 26  # what both scored
    assert questions(load_dataset(started / DATASET).skipped) == [ambiguous, *lost]
