"""What became of an experiment that was published."""

from dataclasses import dataclass

_MOST_NAMED = 5


@dataclass(frozen=True)
class PublishedExperiment:
    """An experiment in LangSmith, and what of it is there.

    Attributes:
        name: Its name.
        url: Its address.
        dataset_name: The dataset that it belongs to.
        questions: How many questions of the result are examples of that dataset: one run each.
        runs: How many runs are there.
        scores: How many scores the result has for these questions.
        scores_there: How many of them are there.
        sent: How many runs were sent now; those that were there before are not sent again.
        problems: What went wrong, as texts.
        unmatched: The ids of questions of the result that are not published: they are not in the dataset, or have
            another wording or other labels there.
        unanswered: The ids of questions of the dataset that are not in the result.
        uncompared: The ids of questions that are published though it is not known whether their labels there are those
            that they were scored with: their examples cannot be read without documents, or tell another level.
        reworded: The ids of those that are unmatched as they have another wording there.
        relabelled: The ids of those that are unmatched as they have other labels there.
    """

    name: str
    url: str
    dataset_name: str
    questions: int
    runs: int
    scores: int
    scores_there: int
    sent: int
    problems: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    uncompared: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the whole result is there once, as LangSmith tells, beside the labels that it was scored with."""
        return not (self._is_lossy or self.unmatched or self.uncompared or self.problems)

    @property
    def _is_lossy(self) -> bool:
        return self.runs < self.questions or self.scores_there < self.scores

    @property
    def told(self) -> str:
        """What people read."""
        there = f"{self.runs} of {self.questions} runs and {self.scores_there} of {self.scores} scores are there"
        is_whole = not (self._is_lossy or self.unmatched)
        told = f"experiment {self.name} in LangSmith{'' if is_whole else ' is incomplete'}: {there}"
        if self.unmatched:
            told += (
                f"; not published are {len(self.unmatched)} of the run's questions ({', '.join(self._reasons())}): "
                f"{_named(self.unmatched)}"
            )
        if self.unanswered:
            told += (
                f"; the run has nothing for {len(self.unanswered)} of the questions of the dataset "
                f"{self.dataset_name}: {_named(self.unanswered)}"
            )
        if self.uncompared:
            told += (
                f"; of {len(self.uncompared)} of the run's questions it is not known whether their labels there are "
                f"those that they were scored with: {_named(self.uncompared)}"
            )
        if self.problems:
            told += f"; {'; '.join(self.problems)}"
        return f"{told}. Publish the result again to complete it" if self._is_lossy else told

    def _reasons(self) -> list[str]:
        absent = len(self.unmatched) - len(self.reworded) - len(self.relabelled)
        counted = {
            f"not in the dataset {self.dataset_name}": absent,
            f"with another wording in {self.dataset_name}": len(self.reworded),
            f"with other labels in {self.dataset_name}": len(self.relabelled),
        }
        return [f"{number} {why}" for why, number in counted.items() if number]


def _named(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:_MOST_NAMED]) + (" …" if len(ids) > _MOST_NAMED else "")
