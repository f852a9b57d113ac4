"""`rag-eval demo`: evaluate three chunk sizes on the built-in corpus."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path

import rag_evaluation_framework as rag
import rag_evaluation_framework.base as support

from .. import demo as built_in
from .. import report, runs
from ..errors import Interrupted, ResultError, SaveFailed
from . import run_options
from .output import arriving, print_json, stdout

_SIZES = (250, 800, 2000)


def demo(*, root: Path = Path(".rag-eval"), as_json: run_options.AsJson = False) -> None:
    """Compare three chunk sizes, with BM25 and with vectors, on a handbook that comes with the package.

    Needs no API key, no network and no downloaded weights.

    Args:
        root: Where runs are saved.
        as_json: Print one JSON object instead of tables.
    """
    runs.check_root(root)
    dataset = built_in.load_handbook()
    missing = support.missing_extras(rag.LsaEmbedder.requires)
    cells = _cells(bool(missing))
    done: list[tuple[rag.EvaluationResult[rag.CharacterSpan], dict[str, str | None]]] = []
    interrupt: KeyboardInterrupt | None = None
    try:
        for retriever in support.progress(cells, "Evaluating", "run"):
            result = rag.evaluate(retriever, dataset)
            done.append((result, _saved(result, root)))
    except KeyboardInterrupt as error:
        interrupt = error
    kept_in = root / "runs"
    made = [result for result, _ in done]
    folders = [Path(where["run"]) for _, where in done if where["run"] is not None]
    problems = [where["not_saved"] for _, where in done if where["not_saved"] is not None]
    saved = report.demo_saved(kept_in, len(done), problems)
    with arriving(f"the runs are {saved}"):
        if as_json:
            known = [
                {**where, "name": result.name, "metrics": result.metrics, "counts": result.counts}
                for result, where in done
            ]
            print_json({"runs": known, "missing_extras": missing})
        elif made and dataset.corpus is not None:
            report.show(stdout(), report.demo_page(dataset.corpus, len(dataset), made, whole=interrupt is None))
            report.print_wrapped(stdout(), report.demo_next(folders, missing), 0)
    if interrupt is not None:
        raise Interrupted(
            f"{len(made)} of {len(cells)} evaluations were made; "
            f"{f'they are saved in {kept_in}' * bool(folders)}{'; ' * bool(folders and problems)}"
            f"{f'shown, but {saved}' * bool(problems)}{'' if made else 'nothing is saved'}"
        ) from interrupt
    if problems:
        raise ResultError(f"the results are shown, but {saved}")


def _saved(result: rag.EvaluationResult[rag.CharacterSpan], root: Path) -> dict[str, str | None]:
    """Save a result, and return where it is, or why it is not saved."""
    try:
        return {"run": str(result.save(root=root)), "not_saved": None}
    except SaveFailed as error:
        return {"run": None, "not_saved": error.why}


def _cells(words_only: bool) -> list[rag.Retriever]:
    chunkers = [rag.RecursiveCharacterChunker(chunk_size=size) for size in _SIZES]
    words = [rag.BM25Retriever(chunker=chunker) for chunker in chunkers]
    vectors = [rag.VectorRAGRetriever(chunker=chunker) for chunker in chunkers]
    return [*words] if words_only else [*words, *vectors]
