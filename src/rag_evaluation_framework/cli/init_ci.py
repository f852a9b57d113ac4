"""The files that let a repository evaluate its own retrieval system, in CI too."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import checked_path, write_new
from rag_evaluation_framework.cli.output import arriving, print_text
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.results import store

_TEMPLATES = Path(__file__).with_name("ci_files")
_FILES = {
    "config.yaml": "{config}",
    "gitignore": "{root}/.gitignore",
    "sample.json": "{root}/datasets/sample.json",
    "rag_eval_engine.py": "rag_eval_engine.py",
    "rag-eval.yml": ".github/workflows/rag-eval.yml",
}
"""Where each of the templates goes, below the working directory."""

_ENDINGS = ("yaml", "yml", "json")  # of the configuration that `rag-eval run` finds
_PLAIN = re.compile(r"(?!-)[A-Za-z0-9._-]+(?:/(?!-)[A-Za-z0-9._-]+)*")  # what needs no quotes in a shell and in YAML
_NEXT = """
Next:

  rag-eval run{option}
      evaluate, and check the gates of {config}
  rag-eval baseline last{option}
      keep that run as {root}/baseline/report.json, for the workflow
  git add {root} rag_eval_engine.py .github

The workflow installs vendor/rag-evaluation-framework: put a checkout of this project there, as a submodule.

Then put your own documents and questions into {root}/datasets/sample.json, and your own system into
rag_eval_engine.py. {root}/.gitignore leaves runs and caches out of the repository."""


def init_ci(root: Path) -> None:
    """Write the files that are not there yet, and tell which are; nothing is overwritten.

    Raises:
        ConfigError: The root is not below the working directory, or a file cannot be written.
    """
    if root.is_absolute() or ".." in root.parts:
        raise ConfigError(
            f"--root {root}: the workflow has to find it in the repository; expected a folder below the current one, "
            "such as .rag-eval"
        )
    if not _PLAIN.fullmatch(root.as_posix()):
        raise ConfigError(
            f"--root {shown(str(root))}: the workflow names it in a shell; expected a name of ASCII letters, digits, "
            "'.', '_' and '-', such as .rag-eval"
        )
    configs = [path for ending in _ENDINGS if (path := root / f"config.{ending}").exists()]
    filled = {
        "{root}": root.as_posix(),
        "{config}": (configs[0] if configs else root / "config.yaml").as_posix(),
        "{option}": "" if root == store.ROOT else f" --root {root.as_posix()}",
    }
    targets = {name: Path(_filled(place, filled)) for name, place in _FILES.items()}
    for target in targets.values():
        _check_folder(target)
    written: list[str] = []
    kept: list[str] = []
    for name, target in targets.items():
        if checked_path(target, ConfigError).exists():
            kept.append(str(target))
            continue
        text = (_TEMPLATES / name).read_text(encoding="utf-8")
        write_new(target, text if name == "sample.json" else _filled(text, filled))
        written.append(str(target))
    with arriving(f"{', '.join(written) or 'nothing'} is written"):
        for told in (
            *(f"wrote {name}" for name in written),
            *(f"{name} is there, and is left as it is" for name in kept),
        ):
            print_text(told)
        print_text(_filled(_NEXT, filled))


def _filled(text: str, filled: Mapping[str, str]) -> str:
    for name, value in filled.items():
        text = text.replace(name, value)
    return text


def _check_folder(target: Path) -> None:
    """Raise ConfigError if the folder of a file cannot be made, before another one is written."""
    for folder in target.parents:
        if checked_path(folder, ConfigError).exists() and not folder.is_dir():
            raise ConfigError(f"{folder} is a file; expected a folder, for {target}. Nothing was written")
