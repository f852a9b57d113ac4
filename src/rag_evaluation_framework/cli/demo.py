"""`rag-eval demo`: evaluate three chunk sizes on the built-in corpus."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

import rag_evaluation_framework as rag
import rag_evaluation_framework.base as support
from rag_evaluation_framework import demo as built_in
from rag_evaluation_framework import report, results
from rag_evaluation_framework.base import interrupts
from rag_evaluation_framework.base.optional import install_command, missing_extras
from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.output import arriving, print_json, stdout
from rag_evaluation_framework.errors import Interrupted, ResultError, SaveFailed

_PART = ", in part"
_SIZES = (250, 800, 2000)
Row: TypeAlias = "tuple[str, str, rag.EvaluationResult[rag.CharacterSpan]]"


def demo(
    root: Annotated[Path, typer.Option(parser=paths.path, help="Where runs are saved.")] = Path(".rag-eval"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Compare three chunk sizes, with BM25 and with vectors, on a handbook that comes with the package.

    Needs no API key, no network and no downloaded weights.
    """
    results.check_root(root)
    dataset = built_in.load_handbook()
    missing = missing_extras(rag.LsaEmbedder.requires)
    cells = _cells(bool(missing))
    rows: list[Row] = []
    saved: list[dict[str, str | None]] = []
    interrupt: KeyboardInterrupt | None = None
    try:
        for row, where, came in _evaluated(cells, dataset, root):
            rows, saved, interrupt = [*rows, row], [*saved, where], came
    except KeyboardInterrupt as error:
        interrupt = error
    rows = rows[: len(saved)]  # an interrupt may come in between
    folders = [Path(where["run"]) for where in saved if where["run"] is not None]
    problems = [where["not_saved"] for where in saved if where["not_saved"] is not None]
    lost = f"not saved: {len(problems)} of {len(rows)}: {problems[0]}" if problems else ""
    place = f"saved in {root / 'runs'}"
    with arriving(f"the runs are {lost or place}"):
        if as_json:
            runs = [
                {**where, "name": result.name, "metrics": result.metrics, "counts": result.counts}
                for (_, _, result), where in zip(rows, saved, strict=True)
            ]
            print_json({"runs": runs, "missing_extras": missing})
        elif rows:
            _show(dataset, rows, folders, missing, whole=interrupt is None)
    if interrupt is not None:
        kept = [f"they are {place}"] * bool(folders) + [f"shown, but {lost}"] * bool(lost)
        part = sum(label.endswith(_PART) for _, label, _ in rows)
        made = f"{len(rows) - part} of {len(cells)} evaluations were made{', and one in part' * part}"
        raise Interrupted(f"{made}; {'; '.join(kept) or 'nothing is saved'}") from interrupt
    if problems:
        raise ResultError(f"the results are shown, but {lost}")


def _evaluated(
    cells: list[tuple[str, int, rag.Retriever]], dataset: rag.Dataset[rag.CharacterSpan], root: Path
) -> Iterator[tuple[Row, dict[str, str | None], KeyboardInterrupt | None]]:
    """Yield what was measured of each cell, where it is saved, and the interrupt that made it the last one.

    Raises:
        KeyboardInterrupt: There is nothing of the next cell.
    """
    for kind, size, retriever in support.progress(cells, "Evaluating", "run"):
        label, interrupt = f"recursive {size}", None
        try:
            result = rag.evaluate(retriever, dataset)
        except Interrupted as error:
            if error.result is None:
                raise
            label, interrupt, result = f"{label}{_PART}", error, error.result
        where, late = interrupts.finished(partial(_saved, result, root))
        yield (kind, label, result), where, interrupt or late
        if interrupt or late:
            return


def _saved(result: rag.EvaluationResult[rag.CharacterSpan], root: Path) -> dict[str, str | None]:
    """Save a result, and return where it is, or why it is not saved."""
    try:
        return {"run": str(result.save(root=root)), "not_saved": None}
    except SaveFailed as error:
        return {"run": None, "not_saved": error.why}


def _cells(words_only: bool) -> list[tuple[str, int, rag.Retriever]]:
    chunkers = {size: rag.RecursiveCharacterChunker(chunk_size=size) for size in _SIZES}
    words = [("BM25", size, rag.BM25Retriever(chunker=chunker)) for size, chunker in chunkers.items()]
    vectors = [("LSA vectors", size, rag.VectorRAGRetriever(chunker=chunker)) for size, chunker in chunkers.items()]
    return [*words] if words_only else [*words, *vectors]


def _show(
    dataset: rag.Dataset[rag.CharacterSpan], rows: list[Row], folders: list[Path], missing: list[str], *, whole: bool
) -> None:
    console = stdout()
    corpus = dataset.corpus
    if corpus is None:
        return
    report.show(console, report.demo_page(corpus, len(dataset), rows, whole=whole))
    if missing:
        console.print(f"\nTo add vectors: {install_command(*missing)}")
    if folders:
        place = one_line(str(folders[0].parent))
        console.print(f"\nSaved {len(folders)} runs to {place}, the first as {folders[0].name}")
