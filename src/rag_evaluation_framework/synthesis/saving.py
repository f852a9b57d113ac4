"""Where a generated dataset goes: the local store, and LangSmith if it is configured."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.files import is_object
from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.datasets.native import file_state, replace_dataset, save_dataset
from rag_evaluation_framework.errors import ConfigError, MissingDependency, ProviderError, RagEvalError
from rag_evaluation_framework.experiments.evaluation import DATASETS, LANGSMITH_NAME
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.results.store import check_root

_PUSH = "rag_evaluation_framework.integrations.langsmith_push:push_dataset"  # a door upwards
FAILED_REQUESTS = "failed_requests"
"""What `metadata.generation` calls the number of requests that failed: with any, there is more to come."""

_FINGERPRINT = "fingerprint"
_GENERATION = "generation"
_OUTCOMES = ("funnel", "filters", FAILED_REQUESTS, _FINGERPRINT)  # of a generation, beside what was asked for
_ENDINGS = (".json", ".jsonl")
_MOST = 1000
_LONGEST = 200  # of the 255 that most file systems have, beside endings, numbers and what is put before


def digest_of(planned: Sequence[tuple[str, QuestionRequest]]) -> str:
    """Return a digest of what is asked for, and of what is shown: the questions of users are in no other record."""
    told = [
        [strategy, request.wish, request.given, request.questions, [section.text for section in request.sections]]
        for strategy, request in planned
    ]
    return content_digest(json.dumps(told))


def check_place(name: Any, root: str | Path) -> None:
    """Check that a dataset can be saved by a name, here and in LangSmith: better before it is paid for than after.

    Raises:
        ConfigError: It cannot.
    """
    if not isinstance(name, str) or not name.strip() or Path(name).name != name or not name.strip("."):
        raise ConfigError(f"dataset_name={shown(name)}; expected a name without '/', such as 'my-questions'")
    if not name.isprintable():
        raise ConfigError(f"dataset_name={shown(name)}; expected characters that can be printed")
    if len(name.encode()) > _LONGEST:
        raise ConfigError(f"dataset_name={shown(name)}; expected at most {_LONGEST} bytes, as files are called so")
    if name.endswith(_ENDINGS):
        raise ConfigError(f"dataset_name={shown(name)}; expected a name without an ending: {Path(name).stem!r}")
    check_root(Path(root), DATASETS)
    taken = next((path for ending in _ENDINGS if (path := Path(root) / DATASETS / f"{name}{ending}").is_dir()), None)
    if taken is not None:
        raise ConfigError(f"{taken} is a folder, so no dataset of this name can be saved; choose another dataset_name=")


def saved(dataset: Dataset[Any], root: str | Path) -> tuple[Dataset[Any], Path]:
    """Save a dataset in the local store by its name, and return it and its file.

    A file that holds the same questions with the same labels is left as it is. If it is what the same generation left
    when requests failed, and nobody has edited it, it is replaced. What holds anything else stays, and the dataset gets
    a name of its own, which is noted.

    Raises:
        DatasetError: It cannot be saved.
    """
    folder = Path(root) / DATASETS
    for number in range(1, _MOST):
        named = _marked(replace(dataset, name=dataset.name if number == 1 else f"{dataset.name}-{number}"))
        files = [path for ending in _ENDINGS if (path := folder / f"{named.name}{ending}").exists()]
        path = files[0] if files else folder / f"{named.name}.json"
        state = file_state(path)
        there = _read(path, dataset) if files else None
        if not files:
            folder.mkdir(parents=True, exist_ok=True)
            save_dataset(named, path)
        elif there is None:
            continue
        elif _is_left_incomplete(there, named):
            replace_dataset(named, path, state)
        elif there.content_hash != named.content_hash:
            continue
        if number > 1:
            note(f"{folder / dataset.name}.json holds other questions and stays; the new ones are in {path}")
        return named, path
    raise ConfigError(f"{folder}: has {_MOST:,} datasets called {dataset.name!r}; choose another dataset_name=")


def _read(path: Path, like: Dataset[Any]) -> Dataset[Any] | None:
    """Return the dataset of a file, None if it is none of this level."""
    with collected():  # what is noted about a file that is not used concerns nobody
        try:
            return load_dataset(path, like.level, corpus=like.corpus)
        except RagEvalError:
            return None


def _marked(dataset: Dataset[Any]) -> Dataset[Any]:
    """Return a dataset; one that is incomplete with what tells whether its file is edited later."""
    generation = dataset.metadata[_GENERATION]
    if not generation[FAILED_REQUESTS]:
        return dataset
    marked = {**generation, _FINGERPRINT: _fingerprint(dataset)}
    return replace(dataset, metadata={**dataset.metadata, _GENERATION: marked})


def _is_left_incomplete(there: Dataset[Any], dataset: Dataset[Any]) -> bool:
    """Return whether a dataset is what the generation of another one left incomplete, and nobody has edited it."""
    left: Any = there.metadata.get(_GENERATION)
    is_ours = is_object(left) and _FINGERPRINT in left and left[_FINGERPRINT] == _fingerprint(there)
    return is_ours and _asked_for(there) == _asked_for(dataset)


def _fingerprint(dataset: Dataset[Any]) -> str:
    """Return what is another one after any edit of a dataset, a mark of a review among them."""
    metadata = {key: value for key, value in dataset.metadata.items() if key != LANGSMITH_NAME}
    metadata[_GENERATION] = {key: value for key, value in metadata[_GENERATION].items() if key != _FINGERPRINT}
    told = [[dict(entry.query.metadata), [*map(str, entry.labels)]] for entry in dataset]
    return content_digest(json.dumps([dataset.content_hash, told, metadata], sort_keys=True))


def _asked_for(dataset: Dataset[Any]) -> str:
    """Return what a generation is about: documents, model, prompts and filters, but for what came out of it."""
    generation = dataset.metadata[_GENERATION]
    asked = {key: value for key, value in generation.items() if key not in _OUTCOMES}
    filters = [generation["filters"][key] for key in ("embedder", "copied_share")]  # thresholds may be calibrated
    return json.dumps([dataset.corpus_hash, dataset.chunking, asked, filters], sort_keys=True)


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
