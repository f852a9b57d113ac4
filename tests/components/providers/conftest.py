"""What the tests of providers share."""

import pytest

from rag_evaluation_framework.components.providers import calls


@pytest.fixture
def waits(monkeypatch):
    """How many seconds each retry waits; nobody does."""
    found = []
    monkeypatch.setattr(calls, "pause", found.append)
    return found
