"""A project whose runs are gated: documents, a dataset of the retrieval harness, and a pipeline of its own."""

import json

from rag_evaluation_framework import load_result
from rag_evaluation_framework.runs import find_run

DOCUMENTS = {
    "refunds.md": "Refunds are available within 30 days of purchase.\n",
    "contact.md": "Contact support by email.\n",
    "shipping.md": "Parcels arrive within a week.\n",
    "login.md": "Reset the password on the login page.\n",
}
QUESTIONS = (
    ("q_refund", "How long are refunds available?", "refunds.md", ["billing"]),
    ("q_contact", "How do I contact support?", "contact.md", ["billing"]),
    ("q_parcel", "When do parcels arrive?", "shipping.md", ["shipping"]),
    ("q_login", "How do I reset the password?", "login.md", ["login"]),
)


def harness(thresholds=None):
    """A dataset of the retrieval harness."""
    defaults = {"topK": 2} if thresholds is None else {"topK": 2, "thresholds": thresholds}
    queries = [
        {"id": query_id, "query": text, "relevant": {"sourceIds": [source]}, "tags": tags}
        for query_id, text, source, tags in QUESTIONS
    ]
    return {"version": "1", "id": "help", "defaults": defaults, "queries": queries}


def make_project(folder):
    """Make a folder with documents, a dataset, and a pipeline that does not find the parcels."""
    (folder / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text)
    (folder / "help.json").write_text(json.dumps(harness()))
    (folder / "own.py").write_text(
        "ANSWERS = {'refunds': 'refunds.md', 'support': 'contact.md', 'password': 'login.md'}\n"
        "def search(query, k):\n"
        "    return [{'doc_id': name} for word, name in ANSWERS.items() if word in query]\n"
        "def worse(query, k):\n"
        "    return [] if 'refunds' in query else search(query, k)\n"
        "def half(query, k):\n"
        "    return search(query, k) if 'refunds' not in query else 1 / 0\n"
        "def failing(query, k):\n"
        "    raise ConnectionError('gone away')\n"
    )


FLAGS = ("run", "--corpus", "docs", "--dataset", "help.json", "--retriever", "own:search")
WORSE = (*FLAGS[:-1], "own:worse")


def gate_lines(outcome):
    """What is shown of gates: how many there are with each verdict, and each of them."""
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    below = lines[lines.index("Gates") + 1 :]
    counted = next(line for line in lines if " gate" in line)
    return [counted, *below[: below.index("")]]


def verdicts(folder):
    """The gates and verdicts of the newest run."""
    newest = load_result(find_run("last", folder / ".rag-eval"))
    return {verdict.gate: verdict.verdict for verdict in newest.gates}
