"""The dataset of an evaluation: an object, a file, or a name that is looked up here and in LangSmith."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.levels import TOKEN, Level
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch, MissingDependency
from rag_evaluation_framework.registry.loading import load_installed

DATASETS = "datasets"
"""The folder of the root in which datasets are looked up by name."""

LANGSMITH_NAME = "langsmith_dataset"
"""The key of the metadata of a dataset under which its name in LangSmith is, if it was generated and pushed there."""

_PULL = "rag_evaluation_framework.integrations.langsmith_pull:pull_dataset"  # a door upwards
Read: TypeAlias = Callable[[Level[Any]], Dataset[Any]]

_ENDINGS = (".json", ".jsonl")


class FoundDataset(NamedTuple):
    """A dataset, and where it lives.

    Attributes:
        dataset: The dataset.
        langsmith_name: Its name in LangSmith, if it was read there, or was pushed there when it was generated.
    """

    dataset: Dataset[Any]
    langsmith_name: str | None = None


class Fields(NamedTuple):
    """How the examples of a dataset are read, as `load_dataset` says.

    Attributes:
        registry: Positions of the chunks that labels name.
        query_key: The key of `inputs` that holds the question.
        ground_truth_key: The key of `outputs` that holds the ground truth.
    """

    registry: ChunkRegistry | None = None
    query_key: str | None = None
    ground_truth_key: str | None = None

    def check(self, given: Any) -> None:
        """Check that they are such, and that there are examples to read: that what is given is not a dataset.

        Raises:
            ConfigError: They are not.
        """
        for key, value in self.given.items():
            kind, expected = (ChunkRegistry, "a ChunkRegistry") if key == "registry" else (str, "the name of a field")
            if not isinstance(value, kind):
                raise ConfigError(f"{key}={shown(value)}: expected {expected}")
            if isinstance(given, Dataset):
                raise ConfigError(f"{key}= is for examples that are read; dataset= is a Dataset already")

    @property
    def given(self) -> dict[str, Any]:
        """Those that are given, by name."""
        return {key: value for key, value in self._asdict().items() if value is not None}


def find_dataset(
    given: Any, name: str | None, level: Level[Any], corpus: Corpus, root: str | Path, fields: Fields
) -> FoundDataset:
    """Return the dataset of an evaluation.

    Args:
        given: A dataset, or the path of its file; None if it has a name.
        name: A name: of a file in `<root>/datasets/`, or else of a dataset in LangSmith.
        level: The level of the evaluation; a dataset at token level serves every other one, too.
        corpus: The documents.
        root: The folder of runs and datasets.
        fields: How examples are read.

    Raises:
        ConfigError: Both are given, or none; or the fields are for nothing.
        DatasetError: The dataset cannot be used, or is nowhere.
        LevelMismatch: It is of another level.
        MissingDependency: It is not here, and LangSmith's SDK is not installed.
        ProviderError: It is not here, and LangSmith cannot be reached.
    """
    if (given is None) == (name is None):
        got = "neither" if given is None else "both"
        raise ConfigError(f"expected either dataset= or langsmith_dataset_name=, got {got}")
    fields.check(given)
    reading = {"corpus": corpus, **fields.given}
    if isinstance(given, str | Path):
        return FoundDataset(_at_level(partial(load_dataset, Path(given), **reading), level))
    if name is None:
        return FoundDataset(given)
    checked: Any = name
    if not isinstance(checked, str) or not checked.strip():
        raise ConfigError(f"langsmith_dataset_name={shown(checked)}: expected the name of a dataset")
    endings = ("",) if name.endswith(_ENDINGS) else _ENDINGS
    for ending in endings if Path(name).name == name else ():
        local = Path(root) / DATASETS / f"{name}{ending}"
        if _is_file(local):
            found = _at_level(partial(load_dataset, local, **reading), level)
            return FoundDataset(found, name if found.metadata.get(LANGSMITH_NAME) == name else None)
    pull: Read = partial(load_installed(_PULL), name, **reading)
    try:
        return FoundDataset(_at_level(pull, level), name)
    except (ConfigError, DatasetError, LevelMismatch, MissingDependency) as error:
        raise type(error)(f"no file of dataset {name!r} in {Path(root) / DATASETS}; {error}") from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no file can have this name
        return False


def _at_level(read: Read, level: Level[Any]) -> Dataset[Any]:
    """Return a dataset at a level, or at token level if it has that."""
    try:
        return read(level)
    except LevelMismatch as mismatch:
        if level is TOKEN:
            raise
        try:
            return read(TOKEN)
        except LevelMismatch:
            raise mismatch from None
