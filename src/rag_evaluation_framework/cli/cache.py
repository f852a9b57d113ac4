"""`rag-eval cache`: show what earlier runs have cached, or clear it."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import base, report, runs
from ..base.files import checked_path
from ..components import embedders, llms
from ..contracts import registry
from ..errors import ConfigError, InputError
from . import run_options
from .output import print_json, print_result, print_text


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
    embeddings = embedders.EmbeddingCache(root)
    tenants = {
        "embeddings": embeddings,
        "answer": llms.KeptAnswers(root),
        "stage": base.Stages(root),
        "text": runs.texts_of_runs(root),
    }
    counts, sizes, left = dict[str, int](), dict[str, int](), list[Path]()
    for name, files in tenants.items():
        with _named(files.folder):
            counts[name], sizes[name] = len(files.digests()), files.size()
            left += files.others()
    freed = sum(sizes.values())
    if action == "info":
        contents = embeddings.contents()
        found: dict[str, Any] = {
            "folder": str(embeddings.folder.parent),
            "vectors": sum(entry.vectors for entry in contents),
            "bytes": sizes["embeddings"],
            "embedders": [
                {
                    "embedder": registry.plain(json.loads(entry.identity)),
                    "vectors": entry.vectors,
                    "dimension": entry.dimension,
                }
                for entry in contents
            ],
        }
        for name in ("answer", "stage", "text"):
            found |= {f"{name}s": counts[name], f"{name}_bytes": sizes[name]}
        if as_json:
            print_json(found, indent=1)
        else:
            print_text(report.cache_text(found))
        return
    if freed and not yes:
        texts = tenants["text"].folder
        asked = report.plural(counts["answer"], "answer")
        raise ConfigError(
            f"this removes {freed:,} bytes"
            f"{f', {asked} of language models among them, to be asked for again,' * bool(counts['answer'])} from "
            f"{root / 'cache'}{f' and {texts}' * bool(counts['text'])}; add --yes to confirm"
        )
    for files in tenants.values():
        with _named(files.folder):
            files.clear()
    record = {"root": str(root), "freed_bytes": freed, "left": [str(path) for path in left]}
    print_result(record, lambda: report.cleared_text(freed, left), as_json=as_json)


@contextmanager
def _named(folder: Path) -> Generator[None]:
    """Raise InputError, with the name of the folder, if something in it cannot be read or removed."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{folder}: cannot be read or removed ({error.strerror}); check its permissions") from error
