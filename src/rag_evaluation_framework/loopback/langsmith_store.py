"""What a workspace of LangSmith holds: datasets with examples, and projects with runs and feedback."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import RLock
from typing import Any, TypeAlias
from uuid import UUID, uuid4

from rag_evaluation_framework.loopback.messages import Refused, Request

Row: TypeAlias = dict[str, Any]
"""A record as it is answered."""

TENANT = "5d5a8b1e-6f0e-4a51-9a3d-1f1c1c2f7b10"
"""The id of the workspace."""

DEFAULT_PROJECT = "default"
_PAGE = 100


def _rows() -> dict[str, Row]:
    return {}


@dataclass(frozen=True)
class StoredDataset:
    """A dataset with its examples.

    Attributes:
        id: Its id.
        name: Its name.
        description: Its description, if it has one.
        examples: Its examples as they are answered, the oldest first.
    """

    id: str
    name: str
    description: str | None
    examples: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment with what was recorded in it.

    Attributes:
        id: Its id.
        name: Its name.
        dataset_id: The id of its dataset.
        metadata: Its metadata.
        runs: Its runs, in the order in which they arrived.
        feedback: The feedback on its runs, in the order in which it arrived.
        summary_feedback: The feedback on the experiment itself.
    """

    id: str
    name: str
    dataset_id: str
    metadata: Mapping[str, Any]
    runs: Sequence[Mapping[str, Any]]
    feedback: Sequence[Mapping[str, Any]]
    summary_feedback: Sequence[Mapping[str, Any]]


@dataclass
class LangSmithStore:
    """Records by id, in the order in which they arrived; whoever uses them holds the lock.

    Attributes:
        lock: Held by every request while it is answered.
        datasets: The datasets.
        examples: The examples of all datasets.
        sessions: The projects, of which those with a dataset are experiments.
        runs: The runs of all projects.
        feedback: The feedback on runs and projects.
    """

    lock: RLock = field(default_factory=RLock)
    datasets: dict[str, Row] = field(default_factory=_rows)
    examples: dict[str, Row] = field(default_factory=_rows)
    sessions: dict[str, Row] = field(default_factory=_rows)
    runs: dict[str, Row] = field(default_factory=_rows)
    feedback: dict[str, Row] = field(default_factory=_rows)

    def __post_init__(self) -> None:
        self.session_named(DEFAULT_PROJECT)

    def session_named(self, name: str) -> Row:
        """Return the project of a name; it is made if there is none, as tracing does."""
        for session in self.sessions.values():
            if session["name"] == name:
                return session
        return self.new_session({"name": name})

    def new_session(self, given: Row) -> Row:
        """Store and return a project."""
        session: Row = {
            "id": given.get("id") or str(uuid4()),
            "name": given["name"],
            "tenant_id": TENANT,
            "reference_dataset_id": given.get("reference_dataset_id"),
            "start_time": given.get("start_time") or now(),
            "end_time": None,
            "description": given.get("description"),
            "extra": given.get("extra") or {},
        }
        self.sessions[session["id"]] = session
        return session

    @property
    def stored_datasets(self) -> dict[str, StoredDataset]:
        """A copy of the datasets, by name."""
        with self.lock:
            return {
                row["name"]: StoredDataset(
                    row["id"], row["name"], row["description"], _of(self.examples, dataset_id=row["id"])
                )
                for row in self.datasets.values()
            }

    @property
    def stored_experiments(self) -> dict[str, StoredExperiment]:
        """A copy of the experiments, by name."""
        with self.lock:
            found: dict[str, StoredExperiment] = {}
            for row in self.sessions.values():
                if row["reference_dataset_id"] is None:
                    continue
                feedback = _of(self.feedback, session_id=row["id"])
                found[row["name"]] = StoredExperiment(
                    row["id"],
                    row["name"],
                    row["reference_dataset_id"],
                    deepcopy(row["extra"].get("metadata") or {}),
                    _of(self.runs, session_id=row["id"]),
                    [each for each in feedback if each["run_id"]],
                    [each for each in feedback if not each["run_id"]],
                )
            return found


def _of(rows: Mapping[str, Row], **owner: str) -> list[Row]:
    ((key, value),) = owner.items()
    return [deepcopy(row) for row in rows.values() if row[key] == value]


def now() -> str:
    """Return the time as records have it."""
    return datetime.now(UTC).isoformat()


def the_only(rows: Mapping[str, Row], identity: str, kind: str) -> Row:
    """Return the record of an id.

    Raises:
        Refused: There is none.
    """
    if identity not in rows:
        raise Refused(404, f"{kind} not found")
    return rows[identity]


def checked_id(identity: Any, what: str) -> str:
    """Return an id.

    Raises:
        Refused: It is not a valid UUID.
    """
    try:
        return str(UUID(identity))
    except (ValueError, AttributeError, TypeError):
        raise Refused(422, f"{what}: expected a UUID") from None


def page(rows: Iterable[Row], request: Request) -> list[Row]:
    """Return the part of a list that a request asks for by `offset` and `limit`."""
    offset, limit = (int(request.query.get(name, [usual])[0]) for name, usual in (("offset", "0"), ("limit", _PAGE)))
    return [*rows][offset : offset + limit]


def only_known(request: Request, *known: str) -> None:
    """Refuse a question that would be answered as if it were another.

    Raises:
        Refused: It has other parameters than those that are known.
    """
    if unknown := sorted(set(request.query) - {"offset", "limit", *known}):
        raise Refused(422, f"this server does not know the parameter {unknown[0]}")
