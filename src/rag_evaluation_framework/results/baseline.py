"""The baseline of a project: the report of one run, in a place that stays."""

import shutil
from pathlib import Path

from rag_evaluation_framework._support.unfinished import unfinished
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.load import load_result


def keep_baseline(run: str | Path, root: str | Path = store.ROOT) -> Path:
    """Copy the report of a run to `<root>/baseline/report.json`, in place of the one that may be there.

    Of up to 5,000 questions the report is all that a comparison needs. Of more, `questions.jsonl` is copied beside it.
    Each file is replaced as a whole; a reader that comes between the two finds that they do not belong together.

    Args:
        run: The run's folder, or its report.
        root: Where the baseline is kept.

    Returns:
        The report.

    Raises:
        ResultError: The run cannot be read, or the baseline not be written.
    """
    source, content = store.read_report(Path(run))
    load_result(source)
    folder = Path(root) / store.BASELINE
    report, rows = folder / store.REPORT, folder / store.QUESTIONS
    needs_rows = "queries" not in content
    try:
        with unfinished(folder) as made:
            shutil.copyfile(source, made / store.REPORT)
            if needs_rows:
                shutil.copyfile(source.with_name(store.QUESTIONS), made / store.QUESTIONS)
                (made / store.QUESTIONS).replace(rows)
            elif not _is_same(source.with_name(store.QUESTIONS), rows):
                rows.unlink(missing_ok=True)  # it belongs to the baseline before
            (made / store.REPORT).replace(report)
    except OSError as error:
        raise ResultError(f"{folder}: cannot be written ({store.reason(error)}); choose another --root") from error
    return report


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
