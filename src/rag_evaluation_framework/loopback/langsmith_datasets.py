"""The wire protocol of LangSmith: datasets and their examples."""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from rag_evaluation_framework.loopback.langsmith_store import (
    TENANT,
    LangSmithStore,
    Row,
    checked_id,
    now,
    only_known,
    page,
    the_only,
)
from rag_evaluation_framework.loopback.messages import Answer, Refused, Request
from rag_evaluation_framework.loopback.multipart import parts_of
from rag_evaluation_framework.loopback.requests import field_of
from rag_evaluation_framework.loopback.server import Work

_SPLIT = "dataset_split"
_USUAL_SPLIT = "base"
_FIELDS = ("inputs", "outputs")


@dataclass(frozen=True)
class DatasetRoutes:
    """What a server of LangSmith's datasets answers.

    Attributes:
        store: What it holds.
    """

    store: LangSmithStore

    def routes(self) -> dict[str, Work]:
        """Return what answers each route."""
        return {
            "GET /datasets": self._datasets,
            "POST /datasets": self._new_dataset,
            "GET /datasets/{id}": lambda request: Answer(self._with_count(self._dataset(request))),
            "DELETE /datasets/{id}": self._delete_dataset,
            "POST /platform/datasets/{id}/examples": self._new_examples,
            "PATCH /platform/datasets/{id}/examples": self._change_examples,
            "GET /examples": self._examples,
            "GET /examples/{id}": lambda request: Answer(
                the_only(self.store.examples, request.values["id"], "Example")
            ),
            "DELETE /examples": self._delete_examples,
            "DELETE /examples/{id}": self._delete_example,
        }

    def _dataset(self, request: Request) -> Row:
        return the_only(self.store.datasets, request.values["id"], "Dataset")

    def _with_count(self, dataset: Row) -> Row:
        count = sum(example["dataset_id"] == dataset["id"] for example in self.store.examples.values())
        return {**dataset, "example_count": count}

    def _datasets(self, request: Request) -> Answer:
        only_known(request, "name", "name_contains", "id")
        wanted = request.query
        found = (
            dataset
            for dataset in self.store.datasets.values()
            if dataset["name"] in wanted.get("name", [dataset["name"]])
            and dataset["id"] in wanted.get("id", [dataset["id"]])
            and all(part in dataset["name"] for part in wanted.get("name_contains", []))
        )
        return Answer([self._with_count(dataset) for dataset in page(found, request)])

    def _new_dataset(self, request: Request) -> Answer:
        given: Any = request.json
        name = field_of(given, "name", str)
        if any(dataset["name"] == name for dataset in self.store.datasets.values()):
            raise Refused(409, "Dataset with this name already exists.")
        extra: Any = given.get("extra") or {}
        dataset: Row = {
            "id": str(uuid4()),
            "tenant_id": TENANT,
            "name": name,
            "description": given.get("description"),
            "data_type": given.get("data_type") or "kv",
            "inputs_schema_definition": given.get("inputs_schema_definition"),
            "outputs_schema_definition": given.get("outputs_schema_definition"),
            "metadata": extra.get("metadata") or {},
            "created_at": now(),
            "modified_at": now(),
        }
        self.store.datasets[dataset["id"]] = dataset
        return Answer(self._with_count(dataset))

    def _delete_dataset(self, request: Request) -> Answer:
        del self.store.datasets[self._dataset(request)["id"]]
        examples = [each for each in self.store.examples.values() if each["dataset_id"] == request.values["id"]]
        for example in examples:
            del self.store.examples[example["id"]]
        return Answer({"message": "Dataset deleted"})

    def _new_examples(self, request: Request) -> Answer:
        dataset = self._dataset(request)["id"]
        given = _examples_of(request)
        if any(identity in self.store.examples for identity in given):
            raise Refused(409, "Example with this id already exists.")
        if missing := [identity for identity, parts in given.items() if "inputs" not in parts]:
            raise Refused(422, f"{missing[0]}.inputs: missing")
        for identity, parts in given.items():
            split = _splits(parts) or [_USUAL_SPLIT]
            self.store.examples[identity] = {
                "id": identity,
                "dataset_id": dataset,
                "inputs": parts["inputs"],
                "outputs": parts.get("outputs"),
                "metadata": {**(parts.get("metadata") or {}), _SPLIT: split},
                "source_run_id": parts.get("source_run_id"),
                "created_at": parts.get("created_at") or now(),
                "modified_at": now(),
            }
        return self._stored(given, 201)

    def _change_examples(self, request: Request) -> Answer:
        dataset, given = self._dataset(request)["id"], _examples_of(request)
        examples = {identity: the_only(self.store.examples, identity, "Example") for identity in given}
        if any(example["dataset_id"] != dataset for example in examples.values()):
            raise Refused(409, "Example belongs to another dataset.")
        for identity, example in examples.items():
            parts = given[identity]
            example |= {key: parts[key] for key in _FIELDS if key in parts}
            split = _splits(parts) or example["metadata"][_SPLIT]
            metadata = parts["metadata"] if parts.get("metadata") is not None else example["metadata"]
            example |= {"metadata": {**metadata, _SPLIT: split}, "modified_at": now()}
        return self._stored(given, 200)

    def _stored(self, given: dict[str, Row], status: int) -> Answer:
        return Answer({"example_ids": [*given], "count": len(given), "as_of": now()}, status)

    def _examples(self, request: Request) -> Answer:
        only_known(request, "dataset", "id", "splits", "metadata", "as_of", "inline_s3_urls")
        found = [example for example in self.store.examples.values() if _is_wanted(example, request)]
        self._check_version(found, request)
        return Answer(page(reversed(found), request))  # the newest first: no order to rely on

    def _check_version(self, found: list[Row], request: Request) -> None:
        """Refuse a version that is not the present one; earlier ones are not kept."""
        for given in request.query.get("as_of", []):
            if given != "latest" and any(
                datetime.fromisoformat(given) < datetime.fromisoformat(example["modified_at"]) for example in found
            ):
                raise Refused(422, "this server keeps no earlier version of a dataset")

    def _delete_examples(self, request: Request) -> Answer:
        ids = request.query.get("example_ids", [])
        for identity in ids:
            the_only(self.store.examples, identity, "Example")
        for identity in ids:
            del self.store.examples[identity]
        return Answer({"message": f"{len(ids)} examples deleted"})

    def _delete_example(self, request: Request) -> Answer:
        del self.store.examples[the_only(self.store.examples, request.values["id"], "Example")["id"]]
        return Answer({"message": "Example deleted"})


def _examples_of(request: Request) -> dict[str, Row]:
    """Return what is said of each example: the fields of its own part, and the other parts by their names."""
    found: dict[str, Row] = defaultdict(dict)
    for part in parts_of(request):
        name, _, field = part.name.partition(".")
        identity = checked_id(name, "example id")
        if not field:
            found[identity] |= part.json
        elif field in _FIELDS:
            found[identity][field] = part.json
        else:
            raise Refused(422, f"this server does not know the part {field}")
    return dict(found)


def _splits(parts: Row) -> list[str]:
    given: Any = parts.get("split") or []
    return [given] if isinstance(given, str) else given


def _is_wanted(example: Row, request: Request) -> bool:
    def holds() -> Iterator[bool]:
        query = request.query
        yield example["dataset_id"] in query.get("dataset", [example["dataset_id"]])
        yield example["id"] in query.get("id", [example["id"]])
        yield "splits" not in query or not {*query["splits"]}.isdisjoint(example["metadata"][_SPLIT])
        for given in query.get("metadata", []):
            yield json.loads(given).items() <= example["metadata"].items()

    return all(holds())
