"""What arrived in LangSmith, as people read it: of a dataset that was pushed, and of a result that was published."""

from collections.abc import Sequence

from rag_evaluation_framework.integrations.langsmith_push import PushReport
from rag_evaluation_framework.integrations.publishing import PublishedExperiment

_MOST_NAMED = 5


def pushed_text(report: PushReport) -> str:
    """Return how many examples were created, updated, unchanged and deleted or missing, on one line."""
    there = f"{len(report.deleted):,} deleted" if report.deleted else f"{len(report.missing):,} only in LangSmith"
    sent = f"{len(report.created):,} created, {len(report.updated):,} updated, {len(report.unchanged):,} unchanged"
    return f"{report.name}: {sent}, {there}"


def published_text(known: PublishedExperiment) -> str:
    """Return what of an experiment is there, what is not, and what to do about it."""
    there = f"{known.runs} of {known.questions} runs and {known.scores_there} of {known.scores} scores are there"
    incomplete = " is incomplete" if known.is_lossy or known.unmatched else ""
    told = [f"experiment {known.name} in LangSmith{incomplete}: {there}"]
    if known.unmatched:
        told.append(
            f"not published are {len(known.unmatched)} of the run's questions ({_reasons(known)}): "
            f"{_named(known.unmatched)}"
        )
    if known.unanswered:
        told.append(
            f"the run has nothing for {len(known.unanswered)} of the questions of the dataset "
            f"{known.dataset_name}: {_named(known.unanswered)}"
        )
    if known.uncompared:
        told.append(
            f"of {len(known.uncompared)} of the run's questions it is not known whether their labels there are those "
            f"that they were scored with: {_named(known.uncompared)}"
        )
    again = ". Publish the result again to complete it" if known.is_lossy else ""
    return "; ".join([*told, *known.problems]) + again


def _reasons(known: PublishedExperiment) -> str:
    absent = len(known.unmatched) - len(known.reworded) - len(known.relabelled)
    counts = {
        f"not in the dataset {known.dataset_name}": absent,
        f"with another wording in {known.dataset_name}": len(known.reworded),
        f"with other labels in {known.dataset_name}": len(known.relabelled),
    }
    return ", ".join(f"{number} {why}" for why, number in counts.items() if number)


def _named(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_MOST_NAMED]) + (" …" if len(ids) > _MOST_NAMED else "")
