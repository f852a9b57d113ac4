"""`rag-eval demo`: evaluate three chunk sizes on the built-in corpus."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import cast

import rag_evaluation_framework as rag

from .. import base, components, report, runs
from .. import demo as built_in
from ..errors import ResultError, SaveFailed
from .output import print_json, stdout

_SIZES = (250, 800, 2000)


def demo(*, root: Path = Path(".rag-eval"), as_json: bool = False) -> None:
    """Compare three chunk sizes, with BM25 and with vectors, on a handbook that comes with the package.

    Needs no API key, no network and no downloaded weights.
    """
    runs.check_root(root)
    dataset = built_in.load_handbook()
    missing = base.missing_extras(components.LsaEmbedder.requires)
    chunkers = [rag.RecursiveCharacterChunker(chunk_size=size) for size in _SIZES]
    cells: list[rag.Retriever] = [rag.BM25Retriever(chunker=chunker) for chunker in chunkers]
    cells += [] if missing else [rag.VectorRAGRetriever(chunker=chunker) for chunker in chunkers]
    made = [rag.evaluate(retriever, dataset) for retriever in base.progress(cells, "Evaluating", "run")]
    if not as_json:
        report.show(stdout(), report.demo_page(cast("rag.Corpus", dataset.corpus), len(dataset), made))
    folders: list[Path] = []
    problem = None
    try:
        folders.extend(each.save(root=root) for each in made)
    except SaveFailed as error:
        problem = ResultError(f"not saved: {error.why}")
    if as_json:
        listed = [
            {"run": folder and str(folder), "name": each.name, "metrics": each.metrics, "counts": each.counts}
            for folder, each in zip_longest(folders, made)
        ]
        print_json({"runs": listed, "missing_extras": missing})
    if problem is not None:
        raise problem
    if not as_json:
        report.print_wrapped(stdout(), report.demo_next(folders, missing), 0)
