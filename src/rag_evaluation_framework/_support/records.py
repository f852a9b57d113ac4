"""Strict validation of records from files, which collects every problem with its location."""

from difflib import get_close_matches
from itertools import islice
from reprlib import Repr
from typing import Any, TypeVar

from pydantic import AliasGenerator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.errors import DatasetError

_MOST_PROBLEMS = 10
_MOST_KEYS = 8
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60


class Record(BaseModel):
    """Base model of the objects in a file. Unknown keys are kept; camelCase keys of TypeScript tools are accepted."""

    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        strict=True,
        alias_generator=AliasGenerator(validation_alias=to_camel),
        loc_by_alias=False,
    )


RecordT = TypeVar("RecordT", bound=BaseModel)


class RecordReader:
    """Reader that validates the records of one source.

    Attributes:
        source: The file, for messages.
        problems: The problems found so far, each with its location.
        notes: Notes that are not problems, one of each kind.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[str] = []
        self.notes: dict[str, str] = {}
        self._ids: set[str] = set()

    def validate(
        self, model: type[RecordT], data: Any, where: str, unknown: str = "is kept as metadata"
    ) -> RecordT | None:
        """Return the validated record, or None after recording what is wrong with it."""
        try:
            record = model.model_validate(data)
        except ValidationError as error:
            self.problems += [
                f"{where}{json_path(item['loc'])}: {item['msg']}, got {_got(item)}" for item in error.errors()
            ]
            return None
        for key in record.model_extra or {}:
            self.note(key, f"{where}: unknown key {key!r} {unknown}")
        return record

    def problem(self, where: str, problem: object) -> None:
        """Record a problem at a location."""
        self.problems.append(f"{where}: {problem}")

    def note(self, kind: str, text: str) -> None:
        """Record a warning; only the first of each kind is kept."""
        self.notes.setdefault(kind, text)

    def check_query(self, identity: str, text: str, where: str) -> None:
        """Check that a question is not blank, can be written as UTF-8 and has a unique id; record what is wrong."""
        if not text.strip():
            self.problem(f"{where}.query", "is blank")
        if not storable(f"{identity}{text}"):
            self.problem(where, "the question contains a lone surrogate, which cannot be written as UTF-8")
        if identity in self._ids:
            self.problem(f"{where}.id", f"{identity!r} is already the id of an earlier question; ids must be unique")
        self._ids.add(identity)

    def error(self) -> DatasetError:
        """Return the problems as an error."""
        return DatasetError(problem_list(self.source, self.problems))

    def warn(self) -> None:
        """Warn of what was noted."""
        for text in self.notes.values():
            note(f"{self.source}: {text}")


def problem_list(source: str, problems: list[str]) -> str:
    """Return one message for several problems: a single line for one, else one line each for the first ten."""
    if len(problems) == 1:
        return f"{source}: {problems[0]}"
    lines = "".join(f"\n  {problem}" for problem in problems[:_MOST_PROBLEMS])
    more = len(problems) - _MOST_PROBLEMS
    return f"{source}: {len(problems)} problems:{lines}" + (f"\n  … and {more} more" if more > 0 else "")


def _got(item: ErrorDetails) -> str:
    """Return what was found instead, for messages: where a key is missing, the keys that are there."""
    if item["type"] != "missing":
        return brief_repr(item["input"])
    keys: dict[str, str] = {key.replace("_", "").lower(): key for key in item["input"]}
    if not keys:
        return "an empty object"
    similar = get_close_matches(str(item["loc"][-1]).replace("_", ""), keys, n=1, cutoff=0.8)
    advice = f"; if {brief_repr(keys[similar[0]])} means this, rename it" if similar else ""
    more = f" and {len(keys) - _MOST_KEYS} more" if len(keys) > _MOST_KEYS else ""
    return f"the keys {', '.join(map(brief_repr, islice(keys.values(), _MOST_KEYS)))}{more}{advice}"


def json_path(location: tuple[int | str, ...]) -> str:
    """Return the path of a value within another: `.relevant_spans[0].start`."""
    parts = (f"[{part!r}]" if isinstance(part, int) or not part.isidentifier() else f".{part}" for part in location)
    return "".join(parts)


def storable(text: str) -> bool:
    """Return whether a text can be written as UTF-8, that is, has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def brief_repr(value: object) -> str:
    """Return a shortened repr for messages, however large or deeply nested the value is."""
    text = _SHORT.repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
