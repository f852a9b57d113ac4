"""`rag-eval cache`: show what earlier runs have cached, or clear it."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rag_evaluation_framework import embedders, llms, registry
from rag_evaluation_framework.base.files import checked_path, folder_size
from rag_evaluation_framework.base.outside import name_line, one_line
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.output import print_json, print_text
from rag_evaluation_framework.embedders.onnx_exports import exported, remove_exports
from rag_evaluation_framework.errors import ConfigError, InputError

_NAMED = 10  # files that are not ours
_EMBEDDER = 1000  # characters of an embedder and its parameters
_DIGEST = 12  # digits of a hash


class Action(StrEnum):
    """What to do with the cache."""

    info = "info"
    clear = "clear"


def cache(
    action: Annotated[Action, typer.Argument(metavar="ACTION", help="info or clear.")],
    root: Annotated[Path, typer.Option(parser=paths.path, help="The folder that contains the cache.")] = Path(
        ".rag-eval"
    ),
    yes: Annotated[bool, typer.Option("--yes", help="Confirm the removal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show or clear the cache of earlier runs: embedding vectors, exported models, answers of language models."""
    if checked_path(root, ConfigError).exists() and not root.is_dir():
        raise ConfigError(f"--root {root}: is a file; expected the folder that contains the cache")
    embeddings, exports, answers = (
        embedders.EmbeddingCache(root),
        root / "cache" / "onnx",
        llms.KeptAnswers(root).folder,
    )
    if action is Action.info:
        _show(_described(embeddings, exports, answers), as_json=as_json)
        return
    (models, others), (kept, strange) = exported(exports), llms.answer_files(answers)
    freed = embeddings.size() + sum(map(folder_size, (*models, *kept)))
    left = [*embeddings.others(), *others, *strange]
    if freed and not yes:
        asked = f", {_counted(len(kept))} among them, to be asked for again," if kept else ""
        raise ConfigError(f"this removes {freed:,} bytes{asked} from {root / 'cache'}; add --yes to confirm")
    embeddings.clear()
    freed -= embeddings.size()  # where another process uses the cache
    for folder, remove in ((exports, remove_exports), (answers, llms.remove_answers)):
        try:
            remove(folder)
        except OSError as error:
            raise InputError(f"{folder}: cannot be removed ({error.strerror})") from error
    if as_json:
        print_json({"root": str(root), "freed_bytes": freed, "left": [str(path) for path in left]})
        return
    print_text(f"removed {freed:,} bytes")
    if left:
        named = ", ".join(name_line(str(path)) for path in left[:_NAMED])
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        print_text(f"left as not ours: {named}{more}")


def _counted(answers: int) -> str:
    return f"{answers:,} answer{'s' * (answers != 1)} of language models"


def _described(embeddings: embedders.EmbeddingCache, exports: Path, answers: Path) -> dict[str, Any]:
    contents, (kept, _) = embeddings.contents(), llms.answer_files(answers)
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
        "onnx_exports": len(list(exports.glob("*/export.json"))),
        "onnx_bytes": folder_size(exports),
        "answers": len(kept),
        "answer_bytes": sum(map(folder_size, kept)),
    }


def _show(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found, indent=1)
        return
    print_text(f"{one_line(found['folder'])}: {found['vectors']:,} vectors, {found['bytes']:,} bytes")
    for entry in found["embedders"]:
        given = ", ".join(f"{key}={value!r}" for key, value in entry["embedder"]["parameters"].items())
        kind = entry["embedder"]["type"].partition(":")[2]
        called = one_line(f"{kind}({given})", _EMBEDDER)
        content = entry["embedder"].get("content")  # of weights, or of a server, which parameters do not tell
        called += f" {content[:_DIGEST]}" if content else ""
        print_text(f"  {called}: {entry['vectors']:,} vectors of dimension {entry['dimension']}")
    if found["onnx_exports"]:
        print_text(f"exported models: {found['onnx_exports']}, {found['onnx_bytes']:,} bytes")
    if found["answers"]:
        print_text(f"{_counted(found['answers'])}: {found['answer_bytes']:,} bytes")
