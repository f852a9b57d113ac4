"""The files that let a repository evaluate its own retrieval system, in CI too."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from pathlib import Path

from rag_evaluation_framework._support.files import checked_path, write_new
from rag_evaluation_framework.cli.output import arriving, print_text
from rag_evaluation_framework.errors import ConfigError

_TEMPLATES = Path(__file__).with_name("ci_files")
_FILES = {
    "config.yaml": "{root}/config.yaml",
    "gitignore": "{root}/.gitignore",
    "sample.json": "{root}/datasets/sample.json",
    "rag_eval_engine.py": "rag_eval_engine.py",
    "rag-eval.yml": ".github/workflows/rag-eval.yml",
}
"""Where each of the templates goes, below the working directory."""
_NEXT = """
Next:

  rag-eval run                 evaluate, and check the gates of {root}/config.yaml
  rag-eval baseline last       keep that run as {root}/baseline/report.json, for the workflow
  git add {root} rag_eval_engine.py .github

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
    shown = root.as_posix()
    written: list[str] = []
    kept: list[str] = []
    for name, place in _FILES.items():
        target = Path(place.replace("{root}", shown))
        if checked_path(target, ConfigError).exists():
            kept.append(str(target))
            continue
        text = (_TEMPLATES / name).read_text(encoding="utf-8")
        write_new(target, text if name == "sample.json" else text.replace("{root}", shown))
        written.append(str(target))
    with arriving(f"{', '.join(written) or 'nothing'} is written"):
        for told in (
            *(f"wrote {name}" for name in written),
            *(f"{name} is there, and is left as it is" for name in kept),
        ):
            print_text(told)
        print_text(_NEXT.replace("{root}", shown))
