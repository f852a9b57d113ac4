"""The wire protocol of LangSmith: datasets, experiments, and what the service says of itself."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from rag_evaluation_framework.loopback.langsmith_store import (
    DEFAULT_PROJECT,
    TENANT,
    LangSmithStore,
    Row,
    StoredDataset,
    StoredExperiment,
    checked_id,
    now,
    only_known,
    page,
    the_only,
)
from rag_evaluation_framework.loopback.messages import Answer, Refused, Request, check_key, field_of, parts_of
from rag_evaluation_framework.loopback.server import Route, Work

# The wire protocol of LangSmith: datasets and their examples.

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
        found = [example for example in self.store.examples.values() if _is_wanted_example(example, request)]
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


def _is_wanted_example(example: Row, request: Request) -> bool:
    def holds() -> Iterator[bool]:
        query = request.query
        yield example["dataset_id"] in query.get("dataset", [example["dataset_id"]])
        yield example["id"] in query.get("id", [example["id"]])
        yield "splits" not in query or not {*query["splits"]}.isdisjoint(example["metadata"][_SPLIT])
        for given in query.get("metadata", []):
            yield json.loads(given).items() <= example["metadata"].items()

    return all(holds())


# The wire protocol of LangSmith: projects, which experiments are, with their runs and feedback.

_ACCEPTED = 202
_MOST_RUNS = 100
_CHANGED = ("name", "extra", "description", "end_time")


@dataclass(frozen=True)
class ExperimentRoutes:
    """What a server of LangSmith's projects, runs and feedback answers.

    Attributes:
        store: What it holds.
    """

    store: LangSmithStore

    def routes(self) -> dict[str, Work]:
        """Return what answers each route."""
        return {
            "GET /sessions": self._sessions,
            "POST /sessions": self._new_session,
            "GET /sessions/{id}": self._read_session,
            "PATCH /sessions/{id}": self._change_session,
            "POST /runs/multipart": self._take_parts,
            "POST /runs/batch": self._take_batch,
            "POST /runs/query": self._query,
            "GET /runs/{id}": lambda request: Answer(the_only(self.store.runs, request.values["id"], "Run")),
            "GET /feedback": self._list_feedback,
            "POST /feedback": lambda request: Answer(self._store_feedback(request.json)),
        }

    def _sessions(self, request: Request) -> Answer:
        only_known(request, "name", "id", "reference_dataset", "include_stats")
        wanted = request.query
        found = (
            session
            for session in self.store.sessions.values()
            if session["name"] in wanted.get("name", [session["name"]])
            and session["id"] in wanted.get("id", [session["id"]])
            and session["reference_dataset_id"] in wanted.get("reference_dataset", [session["reference_dataset_id"]])
        )
        return Answer([self._with_stats(session, request) for session in page(found, request)])

    def _read_session(self, request: Request) -> Answer:
        return Answer(self._with_stats(the_only(self.store.sessions, request.values["id"], "Session"), request))

    def _with_stats(self, session: Row, request: Request) -> Row:
        if request.query.get("include_stats", [""])[0].lower() != "true":
            return session
        feedback = [each for each in self.store.feedback.values() if each["session_id"] == session["id"]]
        runs = [run for run in self.store.runs.values() if run["session_id"] == session["id"]]
        return {
            **session,
            "run_count": len(runs),
            "feedback_stats": _stats(each for each in feedback if each["run_id"]),
            "session_feedback_stats": _stats(each for each in feedback if not each["run_id"]),
        }

    def _new_session(self, request: Request) -> Answer:
        given: Any = request.json
        name, identity = field_of(given, "name", str), given.get("id")
        for session in self.store.sessions.values():
            if session["name"] == name and request.query.get("upsert", [""])[0].lower() == "true":
                return Answer(session)
            if session["name"] == name or session["id"] == identity:
                raise Refused(409, "Session with this name or id already exists.")
        dataset = given.get("reference_dataset_id")
        if dataset is not None:
            the_only(self.store.datasets, dataset, "Dataset")
        return Answer(self.store.new_session(given))

    def _change_session(self, request: Request) -> Answer:
        session, given = the_only(self.store.sessions, request.values["id"], "Session"), request.json
        session |= {key: given[key] for key in _CHANGED if given.get(key) is not None}
        return Answer(session)

    def _take_parts(self, request: Request) -> Answer:
        posted: dict[str, Row] = {}
        patched: dict[str, Row] = {}
        feedback: list[Row] = []
        for part in parts_of(request):
            kind, _, rest = part.name.partition(".")
            name, _, field = rest.partition(".")
            if kind == "feedback":
                feedback.append(part.json)
            elif kind in ("post", "patch"):
                runs = posted if kind == "post" else patched
                runs.setdefault(checked_id(name, "run id"), {}).update({field: part.json} if field else part.json)
            elif kind != "attachment":
                raise Refused(422, f"this server does not know the part {kind}")
        self._take(posted, patched)
        for each in feedback:
            self._store_feedback(each)
        return Answer({"message": "Runs batch ingested"}, _ACCEPTED)

    def _take_batch(self, request: Request) -> Answer:
        given: dict[str, list[Row] | None] = request.json
        self._take(*({run["id"]: run for run in given.get(key) or []} for key in ("post", "patch")))
        return Answer({"message": "Runs batch ingested"}, _ACCEPTED)

    def _take(self, posted: dict[str, Row], patched: dict[str, Row]) -> None:
        for identity, given in [*posted.items(), *patched.items()]:
            run = {**self.store.runs.get(identity, {}), **{k: value for k, value in given.items() if value is not None}}
            session = run.get("session_id") or self.store.session_named(run.get("session_name", DEFAULT_PROJECT))["id"]
            ended = "error" if run.get("error") else "success" if run.get("end_time") else "pending"
            missing = dict.fromkeys(("name", "inputs", "outputs", "reference_example_id", "parent_run_id"))
            self.store.runs[identity] = {**missing, **run, "id": identity, "session_id": session, "status": ended}

    def _query(self, request: Request) -> Answer:
        given: Any = request.json
        if unknown := [name for name in ("filter", "trace_filter", "tree_filter", "query") if given.get(name)]:
            raise Refused(422, f"this server does not know the field {unknown[0]}")
        found = [run for run in self.store.runs.values() if _is_wanted_run(run, given)]
        begin = int(given.get("cursor") or 0)
        end = begin + min(given.get("limit") or _MOST_RUNS, _MOST_RUNS)
        return Answer({"runs": found[begin:end], "cursors": {"next": str(end)} if end < len(found) else {}})

    def _list_feedback(self, request: Request) -> Answer:
        only_known(request, "run", "key", "session")
        wanted = request.query
        found = (
            feedback
            for feedback in self.store.feedback.values()
            if feedback["run_id"] in wanted.get("run", [feedback["run_id"]])
            and feedback["key"] in wanted.get("key", [feedback["key"]])
            and feedback["session_id"] in wanted.get("session", [feedback["session_id"]])
        )
        return Answer(page(found, request))

    def _store_feedback(self, given: Any) -> Row:
        """Store feedback on a run, whose project it gets if it names none, or on a project."""
        run = given.get("run_id")
        session = given.get("session_id") or (self.store.runs[run]["session_id"] if run in self.store.runs else None)
        if run is None and session not in self.store.sessions:
            raise Refused(422, "feedback is on no run and no session")
        missing = dict.fromkeys(("trace_id", "score", "value", "comment", "correction", "extra"))
        feedback: Row = {
            **missing,
            "created_at": now(),
            "modified_at": now(),
            **given,
            "id": given.get("id") or str(uuid4()),
            "key": field_of(given, "key", str),
            "run_id": run,
            "session_id": session,
        }
        self.store.feedback[feedback["id"]] = feedback
        return feedback


def _is_wanted_run(run: Row, given: Row) -> bool:
    lists = {"session": "session_id", "id": "id", "reference_example": "reference_example_id"}
    if any(given.get(name) is not None and run[field] not in given[name] for name, field in lists.items()):
        return False
    singles = {"trace": "trace_id", "parent_run": "parent_run_id", "run_type": "run_type"}
    if any(given.get(name) is not None and run.get(field) != given[name] for name, field in singles.items()):
        return False
    return given.get("is_root") is None or given["is_root"] == (run["parent_run_id"] is None)


def _stats(feedback: Iterable[Row]) -> Row:
    by_key: dict[str, list[Row]] = {}
    for each in feedback:
        by_key.setdefault(each["key"], []).append(each)
    return {key: _stats_of(rows) for key, rows in by_key.items()}


def _stats_of(rows: list[Row]) -> Row:
    scores = [float(row["score"]) for row in rows if row["score"] is not None]
    extras: list[Row] = [row["extra"] or {} for row in rows]
    errors = sum(bool(extra.get("error")) for extra in extras)
    return {"n": len(rows), "avg": sum(scores) / len(scores) if scores else None, "values": {}, "errors": errors}


_BELOW = ("", "/api/v1")
_BELOW_PLATFORM = ("/v1", "", "/api/v1")
_INFO = {
    "version": "0.16.0",
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 16,
        "scale_down_nempty_trigger": 4,
        "size_limit": 100,
        "size_limit_bytes": 20_971_520,
    },
    "instance_flags": {"dataset_examples_multipart_enabled": True, "zstd_compression_enabled": True},
}


def langsmith_error(status: int, message: str) -> Any:
    """Return the body of an error."""
    del status
    return {"detail": message}


@dataclass(frozen=True)
class LangSmithRoutes:
    """What a server of LangSmith's protocol answers.

    Attributes:
        store: What it holds.
    """

    store: LangSmithStore = field(default_factory=LangSmithStore)

    def routes(self) -> Sequence[Route]:
        """Return the routes, each at the root and below `/api/v1`."""
        works = {**DatasetRoutes(self.store).routes(), **ExperimentRoutes(self.store).routes()}
        info = Route("GET /info", lambda _: Answer(_INFO), langsmith_error, _BELOW)
        return (info, *(self._route(name, work) for name, work in works.items()))

    @property
    def datasets(self) -> Mapping[str, StoredDataset]:
        """A copy of the datasets, by name."""
        return self.store.stored_datasets

    @property
    def experiments(self) -> Mapping[str, StoredExperiment]:
        """A copy of the experiments, by name."""
        return self.store.stored_experiments

    def _route(self, name: str, work: Work) -> Route:
        below = _BELOW_PLATFORM if " /platform/" in name else _BELOW

        def guarded(request: Request) -> Answer:
            check_key(request)
            with self.store.lock:
                # Written while nothing changes it.
                answer = work(request)
                return Answer(answer.body, answer.status, answer.headers)

        return Route(name, guarded, langsmith_error, below)
