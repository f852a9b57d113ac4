"""What became of an experiment that was published."""

from dataclasses import dataclass


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

    @property
    def complete(self) -> bool:
        """Whether everything is there, as far as LangSmith tells."""
        return self.runs >= self.questions and self.scores_there >= self.scores

    @property
    def told(self) -> str:
        """What people read."""
        there = f"{self.runs} of {self.questions} runs and {self.scores_there} of {self.scores} scores are there"
        if self.complete:
            return f"experiment {self.name} in LangSmith: {there}"
        why = f" ({'; '.join(self.problems)})" if self.problems else ""
        return (
            f"experiment {self.name} in LangSmith is incomplete: {there}{why}. Publish the result again to complete it"
        )
