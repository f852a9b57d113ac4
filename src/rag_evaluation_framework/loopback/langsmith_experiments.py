"""The wire protocol of LangSmith: projects, which experiments are, with their runs and feedback."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from rag_evaluation_framework.loopback.langsmith_store import (
    DEFAULT_PROJECT,
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
        found = [run for run in self.store.runs.values() if _is_wanted(run, given)]
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


def _is_wanted(run: Row, given: Row) -> bool:
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
