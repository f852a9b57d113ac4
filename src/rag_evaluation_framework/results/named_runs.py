"""Saved runs by name, and the baseline of a project."""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from rag_evaluation_framework.base.files import from_home, unfinished
from rag_evaluation_framework.base.outside import one_line, shown
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.results import store
from rag_evaluation_framework.results.load import load_result

# The baseline of a project: the report of one run, in a place that stays.


def keep_baseline(run: str | Path, root: str | Path = store.ROOT) -> Path:
    """Copy the report of a run to `<root>/baseline/report.json`, in place of the one that may be there.

    The report is all that a comparison needs; of more than 5,000 questions, `questions.jsonl` is copied beside it.
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
    needs_rows = store.QUESTIONS in content["files"]
    try:
        with unfinished(folder) as made:
            shutil.copyfile(source, made / store.REPORT)
            if needs_rows:
                shutil.copyfile(source.with_name(store.QUESTIONS), made / store.QUESTIONS)
                (made / store.QUESTIONS).replace(rows)
            else:
                rows.unlink(missing_ok=True)  # it belongs to the baseline before
            (made / store.REPORT).replace(report)
    except OSError as error:
        raise ResultError(f"{folder}: cannot be written ({store.reason(error)}); choose another --root") from error
    return report


# Saved runs by name: a path, a folder in `<root>/runs/` or the beginning of its name, an experiment, `last`.

_MOST_LISTED = 10
_WIDEST = 100  # characters of a name in a list
_HOW = "name a run by its path, its folder or the beginning of that, its experiment, or as last, last~1 and so on"
_LAST = re.compile(r"last(?:~([0-9]{1,9}))?")
_TIME = "%Y%m%dT%H%M%SZ"
_TIMED = re.compile(r"([0-9]{8}T[0-9]{6}Z)-")
_KEEP = "`rag-eval baseline last` keeps the last run"


@dataclass(frozen=True)
class SavedRun:
    """What the beginning of a saved run's report says.

    Attributes:
        folder: The folder of the run.
        name: The name of its experiment.
        created: When the run started, UTC, ISO 8601.
    """

    folder: Path
    name: str
    created: str


def find_run(name: str, root: str | Path = store.ROOT, folder: Path = Path()) -> Path:
    """Return the path of the saved run that a text names.

    A path that exists is that path, whatever else is called so. Of the names, a folder in `<root>/runs/` comes first,
    then `last`, `last~1` and so on, which count from the newest run, then `baseline`, if there is one in `<root>`, then
    the newest run of an experiment, then the unique beginning of a folder's name. Nothing with a path separator is a
    name.

    Args:
        name: What was given.
        root: Where runs are kept.
        folder: The folder to which a path is relative.

    Raises:
        ResultError: It names no run or several; the message lists the newest runs that there are.
    """
    with suppress(OSError, ValueError):  # it is too long for a path, or holds what none can
        if name and (path := folder / from_home(name)).exists():
            return path
    runs = Path(root) / store.RUNS
    folders = _folders(runs)
    kept = Path(root) / store.BASELINE / store.REPORT
    if Path(name).parts[-2:] == (store.BASELINE, store.REPORT):
        raise _refused(f"no baseline is kept as {shown(name)}: {_KEEP}", runs, folders)
    if not name or any(separator in name for separator in (os.sep, os.altsep) if separator):
        raise _refused(f"there is no path {shown(name)}", runs, folders)
    exact = next((folder for folder in folders if folder.name == name), None)
    if exact is not None:
        return exact
    if name == store.BASELINE and kept.exists():
        return kept
    if last := _LAST.fullmatch(name):
        found = next(islice(_newest_first(folders), int(last[1] or 0), None), None)
    else:
        found = next((run for run in _newest_first(folders) if run.name == name), None)
    if found is not None:
        return found.folder
    begun = [folder for folder in folders if folder.name.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise _refused(f"{shown(name)} is the beginning of {len(begun)} names of runs; write more of it", runs, begun)
    more = f": {_KEEP}" if name == store.BASELINE else ""
    raise _refused(f"no path, run or experiment is called {shown(name)}{more}", runs, folders)


def _folders(runs: Path) -> list[Path]:
    """Return the folders in which runs may be; hidden ones are not finished, nor what lies in `unfinished`.

    Raises:
        ResultError: They cannot be listed.
    """
    try:
        return [
            path
            for path in runs.iterdir()
            if not path.name.startswith(".") and path.name != store.UNFINISHED and path.is_dir()
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        where = one_line(str(runs), _WIDEST)
        raise ResultError(f"{where}: cannot be read ({store.reason(error)}); choose another --root") from error


def _newest_first(folders: Sequence[Path]) -> Iterator[SavedRun]:
    """Yield saved runs, the newest first, without what cannot be read; no report is opened before its turn."""
    # the name ends in -10 after -9
    dated = [(time, len(folder.name), folder) for folder in folders if (time := _time(folder)) is not None]
    for *_, folder in sorted(dated, reverse=True):
        if (run := _begin(folder)) is not None:
            yield run


def _time(folder: Path) -> str | None:
    """Return when the run in a folder started, by its name or, if that has no time, its report; None if it is none."""
    if timed := _TIMED.match(folder.name):
        return timed[1]
    run = _begin(folder)
    return None if run is None else datetime.fromisoformat(run.created).strftime(_TIME)


def _begin(folder: Path) -> SavedRun | None:
    """Return the run in a folder; None if there is none that can be read."""
    try:
        return SavedRun(folder, *store.read_begin(folder))
    except ResultError:
        return None


def _refused(why: str, runs: Path, folders: Sequence[Path]) -> ResultError:
    """Return an error that says why, where runs were looked for, which there are, and how to name one."""
    where, found = one_line(str(runs), _WIDEST), [*_newest_first(folders)]
    whole = {run.folder for run in found}
    others = sorted(one_line(folder.name, _WIDEST) for folder in folders if folder not in whole)
    more = f" and {len(others) - _MOST_LISTED} more" if len(others) > _MOST_LISTED else ""
    damaged = [f"not readable as runs: {', '.join(others[:_MOST_LISTED])}{more}"] if others else []
    if not found:
        told = "".join(f", {text}" for text in damaged)
        return ResultError(f"{why}; there are no runs in {where}{told}; `rag-eval run` saves one, --root names others")
    lines = (
        "  ".join(one_line(text, _WIDEST) for text in ("", run.folder.name, run.created, run.name))
        for run in found[:_MOST_LISTED]
    )
    many = f"the newest {_MOST_LISTED} of {len(found)} runs" if len(found) > _MOST_LISTED else "the runs"
    return ResultError("\n".join([f"{why}; {many} in {where}:", *lines, *damaged, _HOW]))
