"""What public questions are like: the figures that those of a dataset are to be seen beside."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rag_evaluation_framework.inspection.quality import DatasetQuality

_FIGURES = Path(__file__).with_suffix(".json")


@dataclass(frozen=True)
class PublicQuestions:
    """A public dataset, and what it is like.

    Attributes:
        title: A short title.
        authors: Who wrote the questions, and how.
        source: Where they are published.
        quality: Its figures.
    """

    title: str
    authors: str
    source: str
    quality: DatasetQuality

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {"title": self.title, "authors": self.authors, "source": self.source, "quality": self.quality.record()}


@cache
def public_questions() -> tuple[PublicQuestions, ...]:
    """Return what public questions are like: some that a model wrote, some that people wrote.

    Only figures are kept here, no question and no text. `benchmarks/public_questions.py --json` measures them anew.
    """
    kept = json.loads(_FIGURES.read_text(encoding="utf-8"))
    return tuple(
        PublicQuestions(one["title"], one["authors"], one["source"], DatasetQuality.from_record(one["quality"]))
        for one in kept
    )
