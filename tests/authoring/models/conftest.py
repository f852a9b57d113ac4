"""What the tests of synthetic datasets share: documents, and a server whose model is scripted."""

from contextlib import ExitStack

import openai
import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.components.providers import calls
from rag_evaluation_framework.testing import LoopbackProviders
from support.scripted_llm import ScriptedModel

PAGES = {
    "billing.md": "# Billing\n\nInvoices are sent on the first day of the month. Refunds take **five** days.\n",
    "guides/start.md": "# Start\n\nInstall the agent as root. Restart the server once. Support answers in a day.\n",
    "guides/stop.md": "# Stop\n\nExport all of your data first. Then close the account. Support answers in a day.\n",
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Generators keep answers and datasets below the working folder; LangSmith is configured where a test says so."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calls, "pause", lambda seconds: None)


@pytest.fixture
def pages():
    return Corpus(Document(DocumentId(name), text) for name, text in PAGES.items())


@pytest.fixture
def served():
    """Opens a server whose model is scripted, and returns it with a client."""
    with ExitStack() as stack:

        def opened(answers=None, *, langsmith=False):
            providers = stack.enter_context(LoopbackProviders(answers or ScriptedModel()))
            if not langsmith:
                stack.enter_context(pytest.MonkeyPatch.context()).delenv("LANGSMITH_API_KEY")
            client = stack.enter_context(openai.OpenAI())
            return providers, client

        yield opened
