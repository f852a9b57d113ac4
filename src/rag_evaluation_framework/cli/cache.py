"""`rag-eval cache`: show what earlier runs have cached, or clear it."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .. import base, report, runs
from ..base.files import checked_path
from ..components import embedders, llms
from ..errors import ConfigError, InputError
from .output import print_text


def cache(
    action: Annotated[Literal["info", "clear"], typer.Argument(metavar="ACTION")],
    *,
    root: Path = Path(".rag-eval"),
    yes: bool = False,
) -> None:
    """Show or clear what runs keep: vectors, answers of language models, chunks and indexes, texts.

    Args:
        action: info or clear.
        root: The folder that contains the cache.
        yes: Confirm the removal.
    """
    if checked_path(root, ConfigError).exists() and not root.is_dir():
        raise ConfigError(f"--root {root}: is a file; expected the folder that contains the cache")
    tenants = {
        "vectors": embedders.EmbeddingCache(root),
        "answers": llms.KeptAnswers(root),
        "stages": base.Stages(root),
        "texts": runs.texts_of_runs(root),
    }
    try:
        sizes = {name: files.size() for name, files in tenants.items()}
        if action == "info":
            print_text(report.cache_text(root, sizes))
            return
        total = sum(sizes.values())
        if total and not yes:
            paid = "; the answers have to be paid again" if sizes["answers"] else ""
            raise ConfigError(f"this removes {report.cache_text(root, sizes)}{paid}; add --yes to confirm")
        left = [path for files in tenants.values() for path in files.others()]
        for files in tenants.values():
            files.clear()
    except OSError as error:
        place = error.filename or root
        raise InputError(f"{place}: cannot be read or removed ({error.strerror}); check its permissions") from error
    print_text(report.cleared_text(total, left))
