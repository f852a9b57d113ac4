"""`rag-eval cache`: show what earlier runs have cached, or clear it."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rag_evaluation_framework import base, embedders, llms, registry, report, results
from rag_evaluation_framework.base.files import checked_path
from rag_evaluation_framework.cli import run_options
from rag_evaluation_framework.cli.output import print_json, print_result, print_text
from rag_evaluation_framework.errors import ConfigError, InputError


def cache(
    action: Annotated[Literal["info", "clear"], typer.Argument(metavar="ACTION")],
    *,
    root: Path = Path(".rag-eval"),
    yes: bool = False,
    as_json: run_options.AsJson = False,
) -> None:
    """Show or clear what runs keep: vectors, answers of language models, texts, chunks and indexes.

    Args:
        action: info or clear.
        root: The folder that contains the cache.
        yes: Confirm the removal.
        as_json: Print JSON.
    """
    if checked_path(root, ConfigError).exists() and not root.is_dir():
        raise ConfigError(f"--root {root}: is a file; expected the folder that contains the cache")
    embeddings, answers, stages = embedders.EmbeddingCache(root), llms.KeptAnswers(root), base.Stages(root)
    if action == "info":
        found = _described(embeddings, answers, stages, results.texts_of_runs(root))
        if as_json:
            print_json(found, indent=1)
        else:
            print_text(report.cache_text(found))
        return
    texts = results.texts_of_runs(root)
    freed = embeddings.size() + answers.size() + stages.size() + texts.size()
    left = [*embeddings.others(), *answers.others(), *stages.others()]
    if freed and not yes:
        kept = len(answers.digests())
        asked = report.plural(kept, "answer")
        raise ConfigError(
            f"this removes {freed:,} bytes"
            f"{f', {asked} of language models among them, to be asked for again,' * bool(kept)} from "
            f"{root / 'cache'}{f' and {texts.folder}' * bool(texts.digests())}; "
            "add --yes to confirm"
        )
    texts.remove(texts.digests())
    for kept_in, remove in (
        (embeddings.folder, embeddings.clear),
        (answers.folder, answers.clear),
        (stages.folder, stages.clear),
    ):
        try:
            remove()
        except OSError as error:
            raise InputError(f"{kept_in}: cannot be removed ({error.strerror})") from error
    record = {"root": str(root), "freed_bytes": freed, "left": [str(path) for path in left]}
    print_result(record, lambda: report.cleared_text(freed, left), as_json=as_json)


def _described(
    embeddings: embedders.EmbeddingCache,
    answers: llms.KeptAnswers,
    stages: base.Stages,
    texts: base.Store,
) -> dict[str, Any]:
    contents = embeddings.contents()
    return {
        "folder": str(embeddings.folder.parent),
        "vectors": sum(entry.vectors for entry in contents),
        "bytes": embeddings.size(),
        "embedders": [
            {
                "embedder": registry.plain(json.loads(entry.identity)),
                "vectors": entry.vectors,
                "dimension": entry.dimension,
            }
            for entry in contents
        ],
        "answers": len(answers.digests()),
        "answer_bytes": answers.size(),
        "stages": len(stages.digests()),
        "stage_bytes": stages.size(),
        "texts": len(texts.digests()),
        "text_bytes": texts.size(),
    }
