"""Messages of commands beside their pages: files that were written or removed, and the next commands."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base.optional import install_command
from ...base.outside import first_of, name_line, one_line
from ...datasets.texts import KeptTexts
from ...runs import EvaluationResult, number
from ..blocks import plural

_NAMED = 10  # files that are not ours


def saved_text(folder: str) -> str:
    """Return where something is saved."""
    return f"\nSaved to {folder}"


def baseline_notes(result: EvaluationResult[Any], earlier: EvaluationResult[Any] | None) -> Iterator[str]:
    """Yield what people should know of a run before it replaces an earlier baseline."""
    blocking = [verdict.gate for verdict in result.gates if verdict.counts_as != "pass"]
    if blocking:
        yield f"{name_line(result.name)} did not pass its own gates: {', '.join(map(name_line, blocking))}"
    if earlier is not None and _dataset(earlier) != _dataset(result):
        yield f"the baseline was of {_dataset(earlier)}, and is of {_dataset(result)} now"


def baseline_text(result: EvaluationResult[Any], path: Path) -> str:
    """Return what was kept as the baseline."""
    score = result.score_names[0]
    what = f"{name_line(result.name)} on {_dataset(result)}, {result.headline}"
    return f"Wrote {one_line(str(path))}: {what}, {score} {number(result.metrics[score])}"


def _dataset(result: EvaluationResult[Any]) -> str:
    return name_line(result.config["dataset"]["name"]) or "a dataset without a name"


def demo_next(folders: Sequence[Path], missing: Sequence[str]) -> str:
    """Return the extras that add vectors, if they are missing, and where the results are saved."""
    told = [f"\nTo add vectors: {install_command(*missing)}"] if missing else []
    if folders:
        place = one_line(str(folders[0].parent))
        told.append(f"\nSaved {plural(len(folders), 'run')} to {place}, the first as {folders[0].name}")
    return "\n".join(told)


def dataset_text(dataset: Path, config: Path, run: str, skipped: int, suggested: str) -> str:
    """Return what was written of a table of quotes, and how it goes on.

    Args:
        dataset: The file of the dataset.
        config: The configuration.
        run: The command that runs it.
        skipped: How many questions the dataset skips.
        suggested: What is said of suggestions in place of quotes.
    """
    allowed = f"\n\nThe run exits with 2 while questions are skipped; --allow-skipped {skipped} allows them."
    more = f"\n{suggested}" if suggested else ""
    return f"Wrote {dataset} and {config}. Next:{run}{allowed if skipped else ''}{more}"


def kept_texts_text(kept: KeptTexts) -> str:
    """Return what of the labelled documents is kept beside a dataset."""
    folder, others = one_line(f"{kept.folder}/"), plural(kept.others, "document")
    if not kept.documents:
        return f"No texts of the {others} are kept: labels follow an edit only where their words are in one place."
    rest = f", and hashes of what {others} without labels hold" if kept.others else ""
    unit, power = ("MB", 1_000_000) if kept.size >= 1_000_000 else ("kB", 1000)
    size = f"{max(kept.size / power, 0.1):.{0 if kept.size >= 10 * power else 1}f} {unit}"
    told = f"Texts of {plural(kept.documents, 'document')} ({size}){rest}"
    return f"{told} are kept in {folder}, so that labels follow edits."


def forgotten_text(document: str, labels: int, removed: int, kept: KeptTexts) -> str:
    """Return what it means that the texts of a document were removed.

    Args:
        document: The id of the document.
        labels: How many labels are in it.
        removed: How many texts it had, today and earlier.
        kept: What is kept of the other documents.
    """
    have, name, folder = "has" if labels == 1 else "have", name_line(document), one_line(f"{kept.folder}/")
    done = {0: f"No text of {name} is in", 1: f"The text of {name} was removed from"}
    told = done.get(removed, f"{removed} texts of {name}, today's and earlier ones, were removed from")
    return (
        f"{told} {folder}, and none is kept again. If it was renamed, forget its earlier name too. "
        f"{plural(labels, 'label')} in it {have} only the quotes to be found by after an edit. "
        "What labels quote stays in the dataset and its earlier versions. "
        "What is committed stays in version control, and what runs keep until `rag-eval cache clear`."
    )


def templates_text(written: Sequence[str], kept: Sequence[str]) -> str:
    """Return which files were written, and which were there."""
    told = [*(f"wrote {name}" for name in written), *(f"{name} is there, and is left as it is" for name in kept)]
    return "\n".join(told)


def cache_text(root: Path, sizes: Mapping[str, int]) -> str:
    """Return how much of what is kept below a root: bytes of vectors, answers, stages and texts."""
    listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items() if size)
    return f"{one_line(str(root))}: {sum(sizes.values()):,} bytes{f' ({listed})' if listed else ''}"


def cleared_text(freed: int, left: Sequence[Path]) -> str:
    """Return how much of a cache was removed, and the files that stay, as they are not ours."""
    stays = "\nleft as not ours: " if left else ""
    return f"removed {freed:,} bytes{stays}{first_of([name_line(str(path)) for path in left], _NAMED)}"
