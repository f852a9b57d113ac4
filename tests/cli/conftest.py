"""Running the command line in the test's own process, in an empty folder."""

import importlib
import signal
import sys
from typing import NamedTuple

import pytest

from rag_evaluation_framework.base import interrupts
from rag_evaluation_framework.cli.main import main
from support.gated_project import make_project


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def rag_eval(tmp_path, capfd):
    """Run `rag-eval` with these arguments."""
    with pytest.MonkeyPatch.context() as patch:  # of its own, which a test does not change
        patch.chdir(tmp_path)
        patch.setenv("COLUMNS", "120")
        patch.setattr(sys, "path", list(sys.path))

        patch.setattr(sys, "unraisablehook", sys.unraisablehook)
        patch.delitem(sys.modules, "own", raising=False)
        importlib.invalidate_caches()

        def run(*arguments: str) -> Outcome:
            patch.setattr(sys, "argv", ["rag-eval", *map(str, arguments)])
            code = 0
            try:
                main()
            except SystemExit as leaving:
                code = int(leaving.code or 0)
            return Outcome(code, *capfd.readouterr())

        before = {number: signal.getsignal(number) for number in interrupts._INTERRUPTS}
        yield run
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.fixture
def folder(tmp_path):
    """A folder of two documents and questions with quotes, one of which stands in both documents."""
    (tmp_path / "docs" / "guides").mkdir(parents=True)
    (tmp_path / "docs" / "billing.md").write_text("# Billing\n\nInvoices are sent on the first day. Support helps.\n")
    (tmp_path / "docs" / "guides" / "start.md").write_text("# Start\n\nInstall the agent first. Support helps.\n")
    (tmp_path / "questions.csv").write_text(
        "question,quote\n"
        "When do invoices come?,Invoices are sent on the first day.\n"
        "What comes first?,Install the agent first.\n"
        "Who helps?,Support helps.\n"
        "How do I upgrade?,Upgrade the agent first.\n"
        "Who is the chief?,\n"
    )
    return tmp_path


@pytest.fixture
def project(tmp_path):
    """A folder of documents with a dataset of the retrieval harness and a pipeline, `own:search`."""
    make_project(tmp_path)
    return tmp_path
