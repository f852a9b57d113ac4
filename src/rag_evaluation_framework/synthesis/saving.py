"""Where a generated dataset goes: the local store, and LangSmith if it is configured."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.notes import collected, note
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.datasets.replacing import file_state, replace_dataset
from rag_evaluation_framework.datasets.save import save_dataset
from rag_evaluation_framework.errors import ConfigError, MissingDependency, ProviderError, RagEvalError
from rag_evaluation_framework.experiments.evaluation_dataset import DATASETS, LANGSMITH_NAME
from rag_evaluation_framework.registry.loading import load_installed

_PUSH = "rag_evaluation_framework.integrations.langsmith_push:push_dataset"  # a door upwards
_ENDINGS = (".json", ".jsonl")
_MOST = 1000


def check_dataset_name(name: Any) -> None:
    """Check that a dataset can be called so, here and in LangSmith; raise ConfigError otherwise."""
    if not isinstance(name, str) or not name.strip() or Path(name).name != name or not name.strip("."):
        raise ConfigError(f"dataset_name={shown(name)}; expected a name without '/', such as 'my-questions'")
    if name.endswith(_ENDINGS):
        raise ConfigError(f"dataset_name={shown(name)}; expected a name without an ending: {Path(name).stem!r}")


def saved(dataset: Dataset[Any], root: str | Path) -> tuple[Dataset[Any], Path]:
    """Save a dataset in the local store by its name, and return it and its file.

    A file that holds the same questions with the same labels is left as it is. If one holds others, it stays, and the
    dataset gets a name of its own, which is noted.

    Raises:
        DatasetError: It cannot be saved.
    """
    folder = Path(root) / DATASETS
    for number in range(1, _MOST):
        name = dataset.name if number == 1 else f"{dataset.name}-{number}"
        files = [path for ending in _ENDINGS if (path := folder / f"{name}{ending}").exists()]
        if not files:
            named = replace(dataset, name=name)
            folder.mkdir(parents=True, exist_ok=True)
            path = save_dataset(named, folder / f"{name}.json")
        elif _same(dataset, files[0]):
            named, path = replace(dataset, name=name), files[0]
        else:
            continue
        if number > 1:
            note(f"{folder / dataset.name}.json holds other questions and stays; the new ones are in {path}")
        return named, path
    raise ConfigError(f"{folder}: has {_MOST:,} datasets called {dataset.name!r}; choose another dataset_name=")


def _same(dataset: Dataset[Any], path: Path) -> bool:
    with collected():  # what is noted about a file that is not used concerns nobody
        try:
            there: Dataset[Any] = load_dataset(path, dataset.level, corpus=dataset.corpus)
        except RagEvalError:
            return False
    return there.content_hash == dataset.content_hash


def pushed(dataset: Dataset[Any], path: Path) -> str | None:
    """Push a dataset to LangSmith, and note in its file that it is there; return the address.

    Without LangSmith's SDK or a key nothing is connected to; that, and what goes wrong, is noted.

    Args:
        dataset: The dataset.
        path: Its file: evaluations by its name then publish their results there.
    """
    try:
        report: Any = load_installed(_PUSH)(dataset, dataset.name)
    except (ConfigError, MissingDependency, ProviderError) as error:
        note(f"the dataset is in {path}, and not in LangSmith: {error}")
        return None
    if report.missing:
        note(f"{report.counted()}; the latter stay, so the dataset in LangSmith is another one than {path}")
    state = file_state(path)
    there: Dataset[Any] = load_dataset(path, dataset.level, corpus=dataset.corpus)
    if there.metadata.get(LANGSMITH_NAME) != dataset.name:
        replace_dataset(replace(there, metadata={**there.metadata, LANGSMITH_NAME: dataset.name}), path, state)
    return str(report.url)
