"""Experiments from files: the one place where a configuration is parsed."""

from os.path import normpath
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.experiments.config import ExperimentConfig, Unscored, check_options
from rag_evaluation_framework.registry import build
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.strict_json import parse_json

Component = str | dict[str, Any]


class RunFile(BaseModel):
    """What a configuration file may say; unknown keys are refused.

    Paths are relative to the file's folder. `retriever` stands for a whole pipeline; without it, `chunker`, `embedder`
    and `vector_store` make one, as in `TokenLevelEvaluation.run`.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    corpus: str
    glob: str = "**/*.md"
    dataset: str
    retriever: Component | None = None
    chunker: Component | None = None
    embedder: Component | None = None
    vector_store: Component | None = None
    metrics: list[Component] | None = None
    k: int | list[int] = Field(default=[5, 10])
    budgets: list[str] = Field(default=["4000ch"])
    tokenizer: str | None = None
    count_as_zero: list[Unscored] = Field(default=[])
    name: str | None = None

    def experiment(self, folder: Path) -> ExperimentConfig[CharacterSpan]:
        """Build the experiment, reading corpus and dataset.

        Args:
            folder: What paths are relative to: the folder of the file.

        Raises:
            InputError: Something in it cannot be used.
        """
        retriever = self._retriever()
        metrics = None if self.metrics is None else [build("metric", metric) for metric in self.metrics]
        check_options(self.k, self.budgets, self._tokenizer(folder), self.count_as_zero)
        corpus = Corpus.from_folder(normpath(folder / self.corpus), self.glob)
        return ExperimentConfig(
            retriever,
            load_dataset(normpath(folder / self.dataset), corpus=corpus),
            corpus=corpus,
            metrics=metrics,
            k=self.k,
            budgets=self.budgets,
            tokenizer=self._tokenizer(folder),
            count_as_zero=self.count_as_zero,
            name=self.name,
        )

    def _tokenizer(self, folder: Path) -> str | None:
        is_file = self.tokenizer is not None and self.tokenizer.endswith((".json", ".tiktoken"))
        return str(folder / self.tokenizer) if self.tokenizer is not None and is_file else self.tokenizer

    def _retriever(self) -> Any:
        parts = {
            key: value
            for key, value in (
                ("chunker", self.chunker),
                ("embedder", self.embedder),
                ("vector_store", self.vector_store),
            )
            if value is not None
        }
        if self.retriever is None:
            kind = "vector-rag" if self.embedder is not None or self.vector_store is not None else "bm25"
            retriever = build("retriever", {"type": kind, **parts})
        elif isinstance(self.retriever, str) and self.retriever in ("bm25", "vector-rag"):
            retriever = build("retriever", {"type": self.retriever, **parts})
        elif parts:
            raise ConfigError(f"retriever and {', '.join(parts)} were given; write the parts inside the retriever")
        else:
            retriever = build("retriever", self.retriever)
        return retriever


def load_run_file(path: str | Path) -> RunFile:
    """Read a YAML or JSON configuration.

    Raises:
        ConfigError: The file cannot be read, is neither, repeats a key, or holds an unknown key or a wrong value.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: no UTF-8 at byte {error.start}; save the file as UTF-8") from error
    try:
        yaml: Any = YAML(typ="safe", pure=True)
        content = parse_json(text) if path.suffix == ".json" else yaml.load(text)
    except RecursionError as error:
        raise ConfigError(f"{path}: cannot be parsed: nested too deeply") from error
    except MarkedYAMLError as error:
        marked: Any = error  # the library's own text of it would give advice on how to suppress it
        where = f" in line {marked.problem_mark.line + 1}" if marked.problem_mark else ""
        raise ConfigError(f"{path}: cannot be parsed: {' '.join(str(marked.problem).split())}{where}") from error
    except (YAMLError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be parsed: {' '.join(str(error).split())}") from error
    return parse_run(content, str(path))


def parse_run(content: Any, source: str) -> RunFile:
    """Validate a configuration.

    Args:
        content: A mapping.
        source: Where it comes from, for messages.

    Raises:
        ConfigError: It holds an unknown key or a wrong value.
    """
    if not isinstance(content, dict):
        raise ConfigError(
            f"{source}: wanted a mapping with at least 'corpus' and 'dataset', got {type(content).__name__}"
        )
    try:
        return RunFile.model_validate(content)
    except ValidationError as error:
        problems = [f"$.{_path(item['loc'])}: {_message(item['type'], item['msg'])}" for item in error.errors()]
        raise ConfigError(f"{source}: {'; '.join(dict.fromkeys(problems))}") from error


def _path(location: tuple[int | str, ...]) -> str:
    """Return the path of a value in the file; what follows names alternatives of its type."""
    return str(location[0]) + "".join(f"[{part}]" for part in location[1:] if isinstance(part, int))


def _message(kind: str, message: str) -> str:
    if kind == "extra_forbidden":
        return f"unknown key; there are {', '.join(RunFile.model_fields)}"
    return message[0].lower() + message[1:]
