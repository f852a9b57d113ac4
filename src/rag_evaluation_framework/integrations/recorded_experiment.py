"""What of an experiment is in LangSmith, read back."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from rag_evaluation_framework.integrations.langsmith_client import answering

_AT_ONCE = 100  # runs that are listed, or whose feedback is
_SELECTED = ["id", "reference_example_id", "end_time"]


@dataclass(frozen=True)
class RecordedExperiment:
    """An experiment in LangSmith.

    Attributes:
        client: The client of its SDK.
        project: The id of the project that is the experiment.
    """

    client: Any
    project: UUID

    def runs(self) -> dict[str, str]:
        """Return the runs that are finished, by the id of their example.

        Raises:
            ProviderError: They cannot be listed.
        """
        return dict(self._finished())

    def doubled(self) -> int:
        """Return how many examples have more than one finished run.

        Raises:
            ProviderError: They cannot be listed.
        """
        counts = Counter(example for example, _ in self._finished())
        return sum(count > 1 for count in counts.values())

    def _finished(self) -> list[tuple[str, str]]:
        """Return example and run of all runs that are finished."""
        found: list[tuple[str, str]] = []
        # Not list_runs, which is to be removed; what replaces it asks another service.
        wanted: dict[str, Any] = {"session": [str(self.project)], "is_root": True}
        wanted |= {"limit": _AT_ONCE, "select": _SELECTED}
        with answering(self.client, "listing the runs of the experiment"):
            while True:
                page: Any = self.client.request_with_retries("POST", "/runs/query", json=wanted).json()
                found += [(run["reference_example_id"], run["id"]) for run in page["runs"] if run.get("end_time")]
                if not (following := page["cursors"].get("next")):
                    return found
                wanted["cursor"] = following

    def scored(self, runs: Sequence[str]) -> set[tuple[str, str]]:
        """Return the run and the name of each score that is there.

        Raises:
            ProviderError: They cannot be listed.
        """
        found = set[tuple[str, str]]()
        with answering(self.client, "listing the scores"):
            for first in range(0, len(runs), _AT_ONCE):
                for feedback in self.client.list_feedback(run_ids=runs[first : first + _AT_ONCE]):
                    found.add((str(feedback.run_id), feedback.key))
        return found

    def counts(self) -> tuple[int, Counter[str]]:
        """Return how many runs are there, and how many scores of each name.

        Raises:
            ProviderError: That is not known.
        """
        with answering(self.client, "reading back what arrived"):
            read = self.client.read_project(project_id=self.project, include_stats=True)
            stats: Any = read.feedback_stats or {}
            return int(read.run_count or 0), Counter({key: int(known["n"] or 0) for key, known in stats.items()})
