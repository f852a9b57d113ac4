"""At which rank the first relevant result is, over the questions that were scored."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.results.returned import Returned


@dataclass(frozen=True, slots=True)
class FirstRelevant:
    """The rank of the first relevant result, counted from 1; results that repeat a document count.

    Attributes:
        questions: How many questions were scored.
        found: Of how many a result is relevant, however deep the cutoffs reach.
        median: The median rank; questions without a relevant result count as later than any. None if the median is
            there, as of one with a relevant result and one without.
    """

    questions: int
    found: int
    median: float | None

    @classmethod
    def of(cls, table: ScoreTable, returned: Returned) -> "FirstRelevant | None":
        """Return at which rank the first relevant result is; None if no question was scored.

        Args:
            table: The scores, which tell what became of each question.
            returned: What was returned.
        """
        scored = table.with_status("scored")
        if not scored.any():
            return None
        ranks = returned.first_relevant[scored]
        found = ~np.isnan(ranks)
        median = float(np.median(np.where(found, ranks, np.inf)))
        return cls(len(ranks), int(found.sum()), median if np.isfinite(median) else None)

    def record(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)
