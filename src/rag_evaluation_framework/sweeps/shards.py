"""One large run whose questions are answered in parts, by several workers."""

from concurrent.futures import Executor
from pathlib import Path

from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.experiments import RunSpec, parse_config
from rag_evaluation_framework.results import load_result
from rag_evaluation_framework.sweeps.cell import Cell
from rag_evaluation_framework.sweeps.cells import Workshop, outcomes

_SHARDS = 32  # where it is not known how many workers there are
_OF_THE_WHOLE = {"gates", "thresholds", "baseline", "sinks"}
_OF_THE_SHARDS = {
    *("retriever", "chunker", "embedder", "vector_store", "reranker", "engine", "mode", "rerank_top_k", "order"),
    *("ties", "ingest", "cleanup", "allow_custom_prefix", "allow_remote", "scope_prefix"),
}
"""Keys of a run that its shards need, and stored rankings do not."""


def in_shards(
    spec: RunSpec,
    folder: Path,
    root: Path,
    executor: int | str | Executor,
    *,
    imports: bool = True,
    fresh: bool = False,
) -> RunSpec:
    """Answer the questions of a run in shards, and return the run of the rankings: the scores are those of one run.

    Shards are kept as cells of a sweep are, so that the same call goes on where an earlier one ended.

    Args:
        spec: The run.
        folder: The folder to which its paths are relative.
        root: Where shards are kept.
        executor: What answers them, as `Sweep.run` takes it; a number of processes get a shard each, others
            32 in all, but no shard is without a question.
        imports: Whether the run may name code of one's own.
        fresh: Whether shards are run again that are done.

    Raises:
        ConfigError: A shard failed; or workers cannot be sent what is in the run.
        ProviderUnavailable: The executor is gone; what is done is kept.
    """
    workshop = Workshop(folder, root, imports, fresh)
    keys = {key: getattr(spec, key) for key in spec.model_fields_set}
    asked = {key: value for key, value in keys.items() if key not in _OF_THE_WHOLE}
    whole = Cell(0, "the run", {}, parse_config(asked, "the run"))
    questions = outcome(lambda: len(workshop.prepared(whole).config.dataset), lambda _: _SHARDS)  # shards say why
    of = max(min(executor if isinstance(executor, int) else _SHARDS, questions), 1)
    cells: list[Cell] = []
    for number in range(1, of + 1):
        name = f"shard {number}/{of}"
        cells.append(Cell(number, name, {}, parse_config({**asked, "shard": f"{number}/{of}"}, name)))
    made = outcomes(workshop, cells, "raise", executor)
    folders = {one.cell.number: one.folder for one in made if one.folder is not None}
    paths = [str(folders[number].absolute()) for number in sorted(folders)]
    scored = {key: value for key, value in keys.items() if key not in _OF_THE_SHARDS}
    name = spec.experiment_name or load_result(paths[0]).name
    return parse_config({**scored, "experiment_name": name, "rankings": paths}, "the rankings of the shards")
