"""The wire protocol of LangSmith: datasets, experiments, and what the service says of itself."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from threading import RLock
from types import SimpleNamespace
from typing import Any, TypeAlias
from uuid import UUID, uuid4

from rag_eval_loopback.server import Answer, Refused, Request, Route, check_key, field_of, parts_of

Row: TypeAlias = dict[str, Any]
"""A record as it is answered."""

TENANT = "5d5a8b1e-6f0e-4a51-9a3d-1f1c1c2f7b10"
"""The id of the workspace."""

_DEFAULT_PROJECT = "default"
_SPLIT, _USUAL_SPLIT = "dataset_split", "base"
_FIELDS = ("inputs", "outputs")
_PAGE = 100
_ACCEPTED = 202
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


class LangSmith:
    """A workspace of LangSmith: records by id, in the order in which they arrived, and what answers requests for them.

    Attributes:
        examples: The examples of all datasets.
        sessions: The projects, of which those with a dataset are experiments.
        runs: The runs of all projects.
        feedback: The feedback on runs and projects.
    """

    def __init__(self) -> None:
        self._lock = RLock()  # held by every request while it is answered
        self._datasets: dict[str, Row] = {}
        self.examples: dict[str, Row] = {}
        self.sessions: dict[str, Row] = {}
        self.runs: dict[str, Row] = {}
        self.feedback: dict[str, Row] = {}
        self._session_named(_DEFAULT_PROJECT)

    @property
    def datasets(self) -> Mapping[str, Any]:
        """A copy of the datasets by name, each with its `id`, `description` and `examples`, the oldest first."""
        with self._lock:
            return {
                row["name"]: SimpleNamespace(**deepcopy(row), examples=_copies(self.examples, "dataset_id", row["id"]))
                for row in self._datasets.values()
            }

    @property
    def experiments(self) -> Mapping[str, Any]:
        """A copy of the experiments by name.

        Each has its `id`, `name`, `dataset_id` and `metadata`, the `runs` and the `feedback` on them in the order in
        which they arrived, and the `summary_feedback` on the experiment itself.
        """
        with self._lock:
            found: dict[str, Any] = {}
            for row in self.sessions.values():
                if row["reference_dataset_id"] is not None:
                    feedback = _copies(self.feedback, "session_id", row["id"])
                    found[row["name"]] = SimpleNamespace(
                        id=row["id"],
                        name=row["name"],
                        dataset_id=row["reference_dataset_id"],
                        metadata=deepcopy(row["extra"].get("metadata") or dict[str, Any]()),
                        runs=_copies(self.runs, "session_id", row["id"]),
                        feedback=[each for each in feedback if each["run_id"]],
                        summary_feedback=[each for each in feedback if not each["run_id"]],
                    )
            return found

    def routes(self) -> Iterator[Route]:
        """Yield the routes, each at the root and below `/api/v1`."""
        yield Route("GET /info", lambda _: Answer(_INFO), langsmith_error, _BELOW)
        works: dict[str, Callable[[Request], Any]] = {
            "GET /datasets": self._list_datasets,
            "POST /datasets": self._new_dataset,
            "GET /datasets/{id}": lambda request: self._with_count(_only(self._datasets, request, "Dataset")),
            "POST /platform/datasets/{id}/examples": self._new_examples,
            "PATCH /platform/datasets/{id}/examples": self._change_examples,
            "GET /examples": self._list_examples,
            "GET /examples/{id}": lambda request: _only(self.examples, request, "Example"),
            "DELETE /examples": self._delete_examples,
            "GET /sessions": self._list_sessions,
            "POST /sessions": self._new_session,
            "GET /sessions/{id}": lambda request: self._with_stats(_only(self.sessions, request, "Session"), request),
            "PATCH /sessions/{id}": self._change_session,
            "POST /runs/multipart": self._take_parts,
            "POST /feedback": lambda request: self._store_feedback(request.json),
        }
        for name, work in works.items():
            yield self._route(name, work)

    def _route(self, name: str, work: Callable[[Request], Any]) -> Route:
        def guarded(request: Request) -> Answer:
            check_key(request)
            with self._lock:
                answer = work(request)
                answer = answer if isinstance(answer, Answer) else Answer(answer)
                return replace(answer, content=answer.body)  # written while nothing changes it

        return Route(name, guarded, langsmith_error, _BELOW_PLATFORM if " /platform/" in name else _BELOW)

    # Datasets and their examples.

    def _with_count(self, dataset: Row) -> Row:
        return {**dataset, "example_count": sum(each["dataset_id"] == dataset["id"] for each in self.examples.values())}

    def _list_datasets(self, request: Request) -> list[Row]:
        found = _listed(self._datasets, request, {"name": "name", "id": "id"}, "name_contains")
        parts = request.query.get("name_contains", [])
        named = (each for each in found if all(part in each["name"] for part in parts))
        return [self._with_count(each) for each in _page(named, request)]

    def _new_dataset(self, request: Request) -> Row:
        given: Any = request.json
        name = field_of(given, "name", str)
        if any(dataset["name"] == name for dataset in self._datasets.values()):
            raise Refused(409, "Dataset with this name already exists.")
        extra: Any = given.get("extra") or {}
        optional = ("description", "inputs_schema_definition", "outputs_schema_definition")
        dataset: Row = {
            "id": str(uuid4()),
            "tenant_id": TENANT,
            "name": name,
            **{key: given.get(key) for key in optional},
            "data_type": given.get("data_type") or "kv",
            "metadata": extra.get("metadata") or {},
            "created_at": _now(),
            "modified_at": _now(),
        }
        self._datasets[dataset["id"]] = dataset
        return self._with_count(dataset)

    def _new_examples(self, request: Request) -> Answer:
        dataset = _only(self._datasets, request, "Dataset")["id"]
        given = _examples_of(request)
        if any(identity in self.examples for identity in given):
            raise Refused(409, "Example with this id already exists.")
        if missing := [identity for identity, parts in given.items() if "inputs" not in parts]:
            raise Refused(422, f"{missing[0]}.inputs: missing")
        for identity, parts in given.items():
            self.examples[identity] = {
                "id": identity,
                "dataset_id": dataset,
                "inputs": parts["inputs"],
                "outputs": parts.get("outputs"),
                "metadata": {**(parts.get("metadata") or {}), _SPLIT: _splits(parts) or [_USUAL_SPLIT]},
                "source_run_id": parts.get("source_run_id"),
                "created_at": parts.get("created_at") or _now(),
                "modified_at": _now(),
            }
        return _stored(given, 201)

    def _change_examples(self, request: Request) -> Answer:
        dataset, given = _only(self._datasets, request, "Dataset")["id"], _examples_of(request)
        examples = {identity: _the(self.examples, identity, "Example") for identity in given}
        if any(example["dataset_id"] != dataset for example in examples.values()):
            raise Refused(409, "Example belongs to another dataset.")
        for identity, example in examples.items():
            parts = given[identity]
            metadata = parts["metadata"] if parts.get("metadata") is not None else example["metadata"]
            split = _splits(parts) or example["metadata"][_SPLIT]
            example |= {key: parts[key] for key in _FIELDS if key in parts}
            example |= {"metadata": {**metadata, _SPLIT: split}, "modified_at": _now()}
        return _stored(given, 200)

    def _list_examples(self, request: Request) -> list[Row]:
        found = [*_listed(self.examples, request, {"dataset": "dataset_id", "id": "id"}, "as_of", "inline_s3_urls")]
        return _page(reversed(found), request)  # the newest first: no order to rely on

    def _delete_examples(self, request: Request) -> Row:
        ids = request.query.get("example_ids", [])
        for identity in ids:
            _the(self.examples, identity, "Example")
        for identity in ids:
            del self.examples[identity]
        return {"message": f"{len(ids)} examples deleted"}

    # Projects, which experiments are, with their runs and feedback.

    def _session_named(self, name: str) -> Row:
        """Return the project of a name; it is made if there is none, as tracing does."""
        for session in self.sessions.values():
            if session["name"] == name:
                return session
        return self._stored_session({"name": name})

    def _stored_session(self, given: Row) -> Row:
        session: Row = {
            "id": given.get("id") or str(uuid4()),
            "name": given["name"],
            "tenant_id": TENANT,
            "reference_dataset_id": given.get("reference_dataset_id"),
            "start_time": given.get("start_time") or _now(),
            "end_time": None,
            "description": given.get("description"),
            "extra": given.get("extra") or {},
        }
        self.sessions[session["id"]] = session
        return session

    def _list_sessions(self, request: Request) -> list[Row]:
        fields = {"name": "name", "id": "id", "reference_dataset": "reference_dataset_id"}
        found = _listed(self.sessions, request, fields, "include_stats")
        return [self._with_stats(session, request) for session in _page(found, request)]

    def _with_stats(self, session: Row, request: Request) -> Row:
        if not _is_true(request, "include_stats"):
            return session
        feedback = [each for each in self.feedback.values() if each["session_id"] == session["id"]]
        return {
            **session,
            "run_count": sum(run["session_id"] == session["id"] for run in self.runs.values()),
            "feedback_stats": _stats(each for each in feedback if each["run_id"]),
            "session_feedback_stats": _stats(each for each in feedback if not each["run_id"]),
        }

    def _new_session(self, request: Request) -> Row:
        given: Any = request.json
        name = field_of(given, "name", str)
        for session in self.sessions.values():
            if session["name"] == name and _is_true(request, "upsert"):
                return session
            if session["name"] == name or session["id"] == given.get("id"):
                raise Refused(409, "Session with this name or id already exists.")
        if given.get("reference_dataset_id") is not None:
            _the(self._datasets, given["reference_dataset_id"], "Dataset")
        return self._stored_session(given)

    def _change_session(self, request: Request) -> Row:
        session, given = _only(self.sessions, request, "Session"), request.json
        changed = ("name", "extra", "description", "end_time")
        session |= {key: given[key] for key in changed if given.get(key) is not None}
        return session

    def _take_parts(self, request: Request) -> Answer:
        runs: dict[str, Row] = defaultdict(dict)
        feedback: list[Row] = []
        for part in parts_of(request):
            kind, _, rest = part.name.partition(".")
            name, _, field = rest.partition(".")
            if kind == "feedback":
                feedback.append(part.json)
            elif kind in ("post", "patch"):
                told = {field: part.json} if field else part.json
                runs[_checked_id(name, "run id")] |= {key: value for key, value in told.items() if value is not None}
            elif kind != "attachment":
                raise Refused(422, f"this server does not know the part {kind}")
        for identity, given in runs.items():
            run = {**self.runs.get(identity, {}), **given}
            session = run.get("session_id") or self._session_named(run.get("session_name", _DEFAULT_PROJECT))["id"]
            ended = "error" if run.get("error") else "success" if run.get("end_time") else "pending"
            missing = dict.fromkeys(("name", "inputs", "outputs", "reference_example_id", "parent_run_id"))
            self.runs[identity] = {**missing, **run, "id": identity, "session_id": session, "status": ended}
        for each in feedback:
            self._store_feedback(each)
        return Answer({"message": "Runs batch ingested"}, _ACCEPTED)

    def _store_feedback(self, given: Any) -> Row:
        """Store feedback on a run, whose project it gets if it names none, or on a project."""
        run = given.get("run_id")
        session = given.get("session_id") or (self.runs[run]["session_id"] if run in self.runs else None)
        if run is None and session not in self.sessions:
            raise Refused(422, "feedback is on no run and no session")
        feedback: Row = {
            **dict.fromkeys(("trace_id", "score", "value", "comment", "correction", "extra")),
            "created_at": _now(),
            "modified_at": _now(),
            **given,
            "id": given.get("id") or str(uuid4()),
            "key": field_of(given, "key", str),
            "run_id": run,
            "session_id": session,
        }
        self.feedback[feedback["id"]] = feedback
        return feedback


def langsmith_error(_status: int, message: str) -> Any:
    """Return the body of an error."""
    return {"detail": message}


# What requests say, and how records are found.


def _examples_of(request: Request) -> dict[str, Row]:
    """Return what is said of each example: the fields of its own part, and the other parts by their names."""
    found: dict[str, Row] = defaultdict(dict)
    for part in parts_of(request):
        name, _, field = part.name.partition(".")
        example = found[_checked_id(name, "example id")]
        if field and field not in _FIELDS:
            raise Refused(422, f"this server does not know the part {field}")
        example |= {field: part.json} if field else part.json
    return dict(found)


def _splits(parts: Row) -> list[str]:
    given: Any = parts.get("split") or []
    return [given] if isinstance(given, str) else given


def _stored(given: dict[str, Row], status: int) -> Answer:
    return Answer({"example_ids": [*given], "count": len(given), "as_of": _now()}, status)


def _listed(rows: Mapping[str, Row], request: Request, fields: Mapping[str, str], *others: str) -> Iterator[Row]:
    """Yield the records that a request asks for.

    Args:
        rows: All of them.
        request: The request.
        fields: The field that has one of the values of a parameter, by parameter.
        others: What else may be asked.

    Raises:
        Refused: It has other parameters: it would be answered as if it were another question.
    """
    query = request.query
    if unknown := sorted({*query} - {"offset", "limit", *fields, *others}):
        raise Refused(422, f"this server does not know the parameter {unknown[0]}")
    wanted = {field: query[parameter] for parameter, field in fields.items() if parameter in query}
    return (row for row in rows.values() if all(row[field] in values for field, values in wanted.items()))


def _page(rows: Iterable[Row], request: Request) -> list[Row]:
    """Return the part of a list that a request asks for by `offset` and `limit`."""
    offset, limit = (int(request.query.get(name, [usual])[0]) for name, usual in (("offset", 0), ("limit", _PAGE)))
    return [*islice(rows, offset, offset + limit)]


def _is_true(request: Request, parameter: str) -> bool:
    return request.query.get(parameter, [""])[0].lower() == "true"


def _only(rows: Mapping[str, Row], request: Request, kind: str) -> Row:
    """Return the record that the path of a request names; raise Refused if there is none."""
    return _the(rows, request.values["id"], kind)


def _the(rows: Mapping[str, Row], identity: str, kind: str) -> Row:
    if identity not in rows:
        raise Refused(404, f"{kind} not found")
    return rows[identity]


def _copies(rows: Mapping[str, Row], field: str, value: str) -> list[Row]:
    return [deepcopy(row) for row in rows.values() if row[field] == value]


def _checked_id(identity: str, what: str) -> str:
    try:
        return str(UUID(identity))
    except ValueError:
        raise Refused(422, f"{what}: expected a UUID") from None


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _stats(feedback: Iterable[Row]) -> Row:
    """Return count and mean of scores, by their key."""
    by_key: dict[str, list[Row]] = defaultdict(list)
    for each in feedback:
        by_key[each["key"]].append(each)
    stats: Row = {}
    for key, rows in by_key.items():
        scores = [float(row["score"]) for row in rows if row["score"] is not None]
        stats[key] = {"n": len(rows), "avg": sum(scores) / len(scores) if scores else None, "values": {}}
    return stats
