"""The options of `rag-eval run`, and the keys of a configuration that they set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_evaluation_framework import experiments
from rag_evaluation_framework.cli import paths

Config = Annotated[
    Path | None, typer.Argument(parser=paths.path, help="A YAML or JSON configuration; options override it.")
]
NoConfig = Annotated[
    bool, typer.Option("--no-config", help="Leave the configuration of the root alone: the options say everything.")
]
Corpus = Annotated[Path | None, typer.Option(parser=paths.path, help="The folder of documents.")]
Dataset = Annotated[
    Path | None, typer.Option(parser=paths.path, help="A dataset (.json, .jsonl), or questions with quotes (.csv).")
]
EvaluationType = Annotated[
    str | None, typer.Option(help="document-level, chunk-level or token-level; by default that of the dataset.")
]
Chunker = Annotated[str | None, typer.Option(help="For example recursive-character:chunk_size=200.")]
Embedder = Annotated[str | None, typer.Option(help="For example lsa; without one, retrieval is lexical.")]
VectorStore = Annotated[str | None, typer.Option(help="in-memory, chroma, pgvector or qdrant.")]
Retriever = Annotated[str | None, typer.Option(help="bm25, vector-rag, hybrid, or your own: my_module:search.")]
Engine = Annotated[
    str | None,
    typer.Option(help="A whole system to evaluate: my_module:factory, http://127.0.0.1:8000, or pgvector:dsn=...."),
]
Rankings = Annotated[
    Path | None,
    typer.Option(parser=paths.path, help="Stored rankings to score, TREC or JSONL: nothing is run."),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="given|score",
        help="How stored rankings are ordered: as the file lists them, scores ignored, or by score, highest first.",
    ),
]
ScopePrefix = Annotated[
    str | None, typer.Option(help="What the ids of the documents begin with that are searched, and written.")
]
NoIngest = Annotated[
    bool, typer.Option("--no-ingest", help="Search what the engine has: nothing is deleted, written or cleaned up.")
]
Cleanup = Annotated[
    str | None,
    typer.Option(metavar="none|on-success|always", help="When what was written is deleted; by default never."),
]
AllowCustomPrefix = Annotated[
    bool, typer.Option("--allow-custom-prefix", help="Write in a scope that is not eval:...: too; needs --yes.")
]
AllowAssets = Annotated[
    bool, typer.Option("--allow-assets", help="Let documents name assets, which the engine may fetch from anywhere.")
]
LoaderRoot = Annotated[
    Path | None, typer.Option(parser=paths.path, help="The folder of the files that loaderRef of a dataset names.")
]
AllowRemote = Annotated[bool, typer.Option("--allow-remote", help="Let the engine be on another machine.")]
Yes = Annotated[bool, typer.Option("--yes", help="What is in the scope may be deleted.")]
Reranker = Annotated[
    str | None, typer.Option(help="Reranks the first results: late-interaction, cross-encoder, or your own.")
]
Mode = Annotated[
    str | None, typer.Option(help="retrieve or retrieve+rerank; by default what the dataset and --reranker say.")
]
RerankTopK = Annotated[
    int | None, typer.Option(min=1, help="How many results are reranked; by default what the dataset says, else 50.")
]
Metric = Annotated[list[str] | None, typer.Option(help="For example span_recall; repeatable.")]
K = Annotated[list[int] | None, typer.Option(help="A number of results; repeatable.")]
Budget = Annotated[list[str] | None, typer.Option(help="A context budget, such as 4000ch or 1000tok; repeatable.")]
Tokenizer = Annotated[str | None, typer.Option(help="The tokenizer of budgets in tokens, for example cl100k_base.")]
MaxConcurrency = Annotated[
    int | None,
    typer.Option(min=1, help="How many questions are asked side by side; your own retriever has to allow it."),
]
Timeout = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="How long one question may take; one that takes longer has failed."),
]
ExperimentName = Annotated[str | None, typer.Option(help="Name of the result.")]
Root = Annotated[Path | None, typer.Option(parser=paths.path, help="Where runs are saved; by default .rag-eval.")]
Baseline = Annotated[
    str | None,
    typer.Option(help="A saved run to compare with, named as in `rag-eval compare`, such as last."),
]
Gate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION", help="Fail with exit code 1 unless it holds: 'recall@10 >= 0.75', 'lost <= 2'; repeatable."
    ),
]
Threshold = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="min.recallAtK=0.75, max.p95TotalMs=300 and so on; repeatable."),
]
OnInconclusive = Annotated[
    str | None,
    typer.Option(
        metavar="pass|fail", help="As what a population gate counts that chance leaves open; by default pass."
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="question|document",
        help="What counts as independent; by default documents, if labels are in 6 or more.",
    ),
]
JUnit = Annotated[Path | None, typer.Option(parser=paths.path, help="Write the gates as a JUnit XML report.")]
StepSummary = Annotated[
    bool, typer.Option("--step-summary", help="Add the result to the summary of the step in GitHub Actions.")
]
Worst = Annotated[int, typer.Option(min=0, help="How many of the weakest questions to show.")]
AllowFailures = Annotated[
    int, typer.Option(min=0, help="The number of failed questions to tolerate before exiting with 2.")
]
AllowSkipped = Annotated[
    int,
    typer.Option(
        min=0, help="The number of questions whose labels could not be placed to tolerate before exiting with 2."
    ),
]
AllowUnlocated = Annotated[
    float,
    typer.Option(
        metavar="SHARE", min=0, max=1, help="The share of results without a place to tolerate before exiting with 2."
    ),
]
OnError = Annotated[
    str | None, typer.Option(help="collect keeps failed questions in the result, raise ends at the first.")
]
NoImport = Annotated[
    bool, typer.Option("--no-import", help="Refuse your own code: only built-in components and installed plug-ins.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

_KEYS = {"metric": "metrics", "budget": "budgets", "root": "save_results_path", "no_ingest": "ingest"}
"""Options that are not called like the key that they set."""


def settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a configuration that options set; a path is absolute. Other options are about the command.

    Args:
        given: The value of each option by its name, None or empty if it was not given.
    """
    told = {_KEYS.get(name, name): _written(name, value) for name, value in given.items() if not _is_absent(value)}
    keys = experiments.ConfigFile.model_fields.keys() - {"baseline"}  # which is named otherwise in a file
    return {key: False if key == "ingest" else told[key] for key in told if key in keys}  # --no-ingest says so


def _is_absent(value: Any) -> bool:
    """Return whether an option was not given: 0 is a value."""
    return value is None or value is False or value == []


def name_of(key: str) -> str:
    """Return the option that sets a key of a configuration."""
    name = next((name for name, other in _KEYS.items() if other == key), key)
    return f"--{name.replace('_', '-')}"


def _written(name: str, value: Any) -> Any:
    if isinstance(value, Path):
        return str(value.absolute())
    if name == "glob":
        return paths.pattern(value)
    return _tokenizer(value) if name == "tokenizer" else value


def _tokenizer(given: str) -> str:
    """Return the absolute path of a tokenizer that is a file; any other is a name."""
    try:
        return str(Path(given).absolute()) if Path(given).is_file() else given
    except (OSError, ValueError):  # no file can be called so
        return given
