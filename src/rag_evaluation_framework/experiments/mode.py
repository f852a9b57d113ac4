"""Whether a run reranks, and how many candidates: what the run says, else what its dataset says."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rag_evaluation_framework.contracts.reranker import Reranker
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.dataset import Dataset, Mode
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.retrievers.reranked import RerankedRetriever

CANDIDATES = RerankedRetriever.candidates
"""How many results are reranked where nobody says another number."""


def in_mode(
    retriever: Retriever,
    reranker: Reranker | None,
    dataset: Dataset[Any],
    mode: Mode | None = None,
    candidates: int | None = None,
) -> Retriever:
    """Return a retriever with its reranker, or without, as the run or else its dataset says.

    A reranker that is given reranks, unless the mode of the run is `retrieve`. A dataset that says `retrieve` does not
    keep it from that; one that says `retrieve+rerank` wants one.

    Args:
        retriever: The retriever, which may be reranked already; in the mode `retrieve` the retriever inside is left.
        reranker: The reranker of the run; None if none is given, by an option, a configuration or an engine.
        dataset: What is asked.
        mode: The mode of the run, if it says.
        candidates: How many results are reranked, if the run says; else that of the dataset, else 50, or as many as the
            retriever that is reranked already says.

    Raises:
        ConfigError: There is no reranker, and the run or its dataset says `retrieve+rerank`, or the run says how many
            are reranked.
    """
    if mode == "retrieve":
        while isinstance(retriever, RerankedRetriever):
            retriever = retriever.retriever
        return retriever
    if reranker is not None:
        number = dataset.rerank_top_k or CANDIDATES if candidates is None else candidates
        return RerankedRetriever(retriever, reranker, number)
    if isinstance(retriever, RerankedRetriever):
        return retriever if candidates is None else replace(retriever, candidates=candidates)
    wanted = mode is not None or dataset.mode == "retrieve+rerank"
    if wanted or candidates is not None:
        said = "the run" if mode is not None or not wanted else f"dataset {dataset.name!r}"
        what = f"rerank_top_k={candidates}" if not wanted else "mode retrieve+rerank"
        plain = "" if not wanted else "; or run it without one: --mode retrieve, or `mode: retrieve`"
        raise ConfigError(
            f"{what} of {said} needs a reranker, and there is none: name one by --reranker, or `reranker:` in the "
            f"configuration, such as cross-encoder, or give the engine a method rerank{plain}"
        )
    return retriever


def noted_mode(retriever: Retriever, dataset: Dataset[Any]) -> Iterator[str]:
    """Yield in what a run differs from what its dataset says of reranking."""
    own = retriever.candidates if isinstance(retriever, RerankedRetriever) else None
    if own is None and dataset.mode == "retrieve+rerank":
        yield "the dataset says mode retrieve+rerank, and nothing is reranked: this run has no reranker"
    if dataset.rerank_top_k not in (None, own):
        why = "nothing is reranked" if own is None else f"this run reranks {own} candidates"
        yield f"rerankTopK={dataset.rerank_top_k} of the dataset is not applied: {why}"
