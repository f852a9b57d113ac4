"""What of a result is in LangSmith, read back after it was sent, and scores that are missing sent one by one."""

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rag_evaluation_framework._outside import one_line, raised
from rag_evaluation_framework.integrations.experiment_content import ExperimentContent
from rag_evaluation_framework.integrations.experiment_scores import ScoreSender
from rag_evaluation_framework.integrations.langsmith_client import advice, status_of
from rag_evaluation_framework.integrations.recorded_experiment import RecordedExperiment

_REASON = 300  # characters
_OF_ONE_REQUEST = re.compile(r"trace=|Content-Length")
_FIRST_WAIT = 0.05  # seconds, doubled each time


class _Score(NamedTuple):
    row: int
    run: str
    name: str
    value: float


@dataclass
class Completeness:
    """What of a result is there.

    Attributes:
        client: The client of LangSmith's SDK.
        content: The result.
        recorded: The experiment.
        losses: The errors for which a client of our own lost something.
        patience: For how many seconds it is asked whether all is there.
        problems: What went wrong, as texts.
    """

    client: Any
    content: ExperimentContent
    recorded: RecordedExperiment
    losses: list[BaseException]
    patience: float
    problems: list[str] = field(default_factory=list[str])

    def completed(self, sent: Collection[int], found: bool) -> tuple[int, int]:
        """Wait until all is there, send scores that were lost, and return how many runs and scores are there.

        The counts of LangSmith are believed if everything was sent now, and nothing lost. Else they also have scores of
        runs that did not arrive, and runs that did not end.

        Args:
            sent: The rows of the questions that were sent now.
            found: Whether something was sent before.
        """
        there = self._completed(sent, found)
        if doubled := self.recorded.doubled():
            self.problems.append(
                f"{doubled} of its questions have several runs, as another publication of it was sending meanwhile"
            )
        return there

    def _completed(self, sent: Collection[int], found: bool) -> tuple[int, int]:
        content = self.content
        seen = self._is_there if found else self._seems_there
        if self._waited(seen) and (found or not self.losses):
            return len(content.rows), content.expected.total()
        if found and not self.losses:
            self._send_lost(sent)
        there = self.recorded.runs()
        finished = [row for row in content.rows if content.example(row)["id"] in there]
        scores = sum(len(content.scores(row)) for row in finished)
        missing = len(self._missing())
        if missing or len(finished) < len(content.rows):  # else only answers were lost
            self.problems.extend(dict.fromkeys(map(_why, self.losses)))
        return len(finished), scores - missing

    def _waited(self, is_there: Callable[[], bool]) -> bool:
        """Return whether something is there, which may take a while; it is not waited for if something was lost."""
        end, wait = time.monotonic() + self.patience, _FIRST_WAIT
        while not is_there():
            if self.losses or time.monotonic() + wait > end:
                return False
            time.sleep(wait)
            wait *= 2
        return True

    def _seems_there(self) -> bool:
        content = self.content
        runs, scores = self.recorded.counts()
        if runs < len(content.rows) or any(scores[key] < count for key, count in content.expected.items()):
            return False
        return self._has_runs()

    def _is_there(self) -> bool:
        return self._has_runs() and not self._missing()

    def _has_runs(self) -> bool:
        return self.recorded.runs().keys() >= {self.content.example(row)["id"] for row in self.content.rows}

    def _missing(self) -> list[_Score]:
        """Return the scores that are not there though their runs are."""
        runs = self.recorded.runs()
        there = self.recorded.scored(list(runs.values()))
        return [
            _Score(row, run, name, value)
            for row in self.content.rows
            if (run := runs.get(self.content.example(row)["id"])) is not None
            for name, value in self.content.scores(row).items()
            if (run, name) not in there
        ]

    def _send_lost(self, sent: Collection[int]) -> None:
        """Send scores that were lost by an earlier publication, one by one, until one is refused.

        Not those that were sent now, of which nobody knows what is lost and what only late.
        """
        sender = ScoreSender(self.client, self.recorded.project)
        lost = [score for score in self._missing() if score.row not in sent]
        for _, run, name, value in lost:
            try:
                sender.send(run, {name: value})
            except Exception as error:  # noqa: BLE001  whatever the SDK raises: it is told
                self.problems.append(f"a score was refused: {_why(error)}")
                break
        if lost:
            self._waited(lambda: not {*lost} & {*self._missing()})


def _why(error: BaseException) -> str:
    """Return why something was lost, without what differs from request to request: ids of runs, and its length."""
    return one_line(_OF_ONE_REQUEST.split(raised(error))[0], _REASON) + advice(status_of(error))
