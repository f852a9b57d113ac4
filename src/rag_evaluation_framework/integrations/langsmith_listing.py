"""What a dataset in LangSmith holds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework.datasets.langsmith_examples import SPLITS
from rag_evaluation_framework.integrations.langsmith_client import answering

if TYPE_CHECKING:
    from langsmith.schemas import Dataset as LangSmithDataset

_PAGE = 100  # examples: more are not given at once


def dataset_named(client: Any, name: str) -> "LangSmithDataset | None":
    """Return the dataset of a name; None if there is none.

    Raises:
        ProviderError: That is not known.
    """
    with answering(client, f"looking for the dataset {name!r}"):
        return next((found for found in client.list_datasets(dataset_name=name) if found.name == name), None)


def listed_examples(client: Any, dataset_id: UUID) -> list[dict[str, Any]]:
    """Return the examples of a dataset, in no particular order: `id`, `inputs`, `outputs` and `metadata` of each.

    Raises:
        ProviderError: They cannot be listed.
    """
    with answering(client, "listing the examples"):
        found = {example["id"]: example for example in _listed(client, dataset_id)}
    return list(found.values())


def _listed(client: Any, dataset_id: UUID) -> Iterator[dict[str, Any]]:
    # Not list_examples: in a workspace without a project it asks for one once for each example.
    offset = 0
    while True:
        wanted = {"dataset": str(dataset_id), "offset": offset, "limit": _PAGE, "inline_s3_urls": True}
        page: Any = client.request_with_retries("GET", "/examples", params=wanted).json()
        if not is_list(page):
            raise TypeError(f"expected a list of examples, got {type(page).__name__}")
        yield from map(_checked, page)
        offset += len(page)
        if len(page) < _PAGE:
            return


def _checked(example: Any) -> dict[str, Any]:
    if not is_object(example) or not isinstance(example.get("id"), str):
        raise TypeError("expected examples with an id")
    fields: dict[str, Any] = {name: example.get(name) or {} for name in ("inputs", "outputs", "metadata")}
    if not all(map(is_object, fields.values())):
        raise TypeError(f"expected inputs, outputs and metadata as objects in example {example['id']}")
    return {"id": example["id"], **fields}


def splits_of(example: dict[str, Any]) -> list[str]:
    """Return the splits that an example is in."""
    found: Any = example["metadata"].get(SPLITS)
    return list(found) if is_list(found) else []
