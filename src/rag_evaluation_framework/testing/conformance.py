"""What the conformance suites share: a small corpus with questions on it, awkward texts, and the promise of a name."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..contracts.component import Component

_SAMPLES: Mapping[str, Any] = json.loads(Path(__file__).with_name("samples.json").read_text(encoding="utf-8"))
_REPORTS = "".join(map(_SAMPLES["report"].format, range(40)))

DOCUMENTS: dict[str, str] = {**_SAMPLES["documents"], "server/long.md": _REPORTS}
"""Texts by name; two of them are equal."""
FOOTER = DOCUMENTS["footer/a.md"]
"""The text that is there twice."""
OTHER_DOCUMENTS: dict[str, str] = _SAMPLES["other_documents"]
"""Another corpus, in which the words of the questions are as well."""
QUESTIONS: tuple[str, ...] = (*_SAMPLES["questions"],)
"""Questions in words of the corpus."""
STRANGE_QUESTIONS: tuple[str, ...] = (*_SAMPLES["strange_questions"], "password " * 2_000)
"""Unknown words, emoji, punctuation, white space, and a very long one."""
AWKWARD_TEXTS: dict[str, str] = {name: text * times for name, (text, times) in _SAMPLES["awkward_texts"].items()}
"""Texts that have confused chunkers, by what is awkward in them."""


def assert_named(first: Component, second: Component) -> None:
    """Check that two equal components have one name, which fits into a table: one line of text."""
    name = first.name
    assert name.strip(), f"name {name!r}: expected a non-empty string"
    assert name.isprintable(), f"name {name!r}: expected one printable line"
    assert name == second.name, f"called {name!r} and {second.name!r}"
