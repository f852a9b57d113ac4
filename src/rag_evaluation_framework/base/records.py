"""Strict validation of records and settings; problems are collected and reported together."""

import ast
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import cleandoc, getsource
from itertools import islice, pairwise
from reprlib import Repr
from typing import Any, TypeVar

from pydantic import AliasGenerator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from ..errors import ConfigError, DatasetError, InputError
from .files import is_list, is_object
from .notes import note
from .outside import bounded, first_of, grouped, shown

# Faults that are found one by one and told together.


class Faults:
    """Problems of one input, collected so that all are reported at once."""

    def __init__(self) -> None:
        self._found: list[InputError] = []

    @contextmanager
    def gathered(self) -> Generator[None]:
        """Keep the faults that the body raises, and go on behind it."""
        try:
            yield
        except InputError as error:
            self._found += error.faults or [error]

    def tell(self) -> None:
        """Raise what was gathered: of several faults one error that lists them.

        Raises:
            InputError: Something was; several faults of different kinds are a `ConfigError`.
        """
        if len(self._found) == 1:
            raise self._found[0]
        if self._found:
            kinds = {type(error) for error in self._found}
            listed = "".join(f"\n  {error}" for error in self._found)
            together = (kinds.pop() if len(kinds) == 1 else ConfigError)(f"{len(self._found)} problems:{listed}")
            together.faults = tuple(self._found)
            raise together


# Strict validation of records from files, which collects every problem with its location.

_MOST_PROBLEMS = _MOST_NOTES = 10
_MOST_OF_RECORDS = 50  # somebody wrote these, and mends them one by one
_LONGEST_PROBLEM = 600  # characters
_MOST_KEYS = 8
KEPT, IGNORED = "is kept as metadata", "is ignored"
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


T = TypeVar("T")
RecordT = TypeVar("RecordT", bound=BaseModel)


class Problems:
    """Problems of one source: the first ones, and how many there are.

    The others are only counted: nobody reads a million of them, and each may quote the file.
    """

    def __init__(self, problems: Iterable[str] = (), most: int = _MOST_PROBLEMS) -> None:
        self._most = most
        self._first: list[str] = []
        self._count = 0
        for problem in problems:
            self.append(problem)

    def append(self, problem: str) -> None:
        """Count a problem, which is kept if it is one of the first."""
        if self._count < self._most:
            self._first.append(bounded(problem, _LONGEST_PROBLEM))
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def message(self, source: str) -> str:
        """Return one message for all problems: one line for a single problem, else one line each for the first ones."""
        if self._count == 1:
            return f"{source}: {self._first[0]}"
        lines = "".join(f"\n  {problem}" for problem in self._first)
        more = self._count - len(self._first)
        return f"{source}: {self._count} problems:{lines}" + (f"\n  … and {more} more" if more else "")


class RecordReader:
    """Reader that validates the records of one source.

    Attributes:
        source: The file, for messages.
        problems: The problems found so far, each with its location.
        notes: Notes that are not problems, one of each kind.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems = Problems(most=_MOST_OF_RECORDS)
        self.notes: dict[str, str] = {}
        self._ids: set[str] = set()

    def validate(self, model: type[RecordT], data: Any, where: str, unknown: str = KEPT) -> RecordT | None:
        """Return the validated record, or None after recording what is wrong with it."""
        try:
            record = model.model_validate(data)
        except ValidationError as error:
            for item in error.errors():
                self.problems.append(f"{where}{json_path(item['loc'])}: {item['msg']}, got {_got(item)}")
            return None
        for key in record.model_extra or {}:
            self.note(key, f"{where}: unknown key {key!r} {unknown}")
        return record

    def attempt(self, where: str, read: Callable[..., T], *given: Any) -> T | None:
        """Return what `read` returns of what is given at a location, or None after recording why it cannot be read."""
        try:
            return read(*given)
        except ValueError as error:
            self.problem(where, error)
            return None

    def problem(self, where: str, problem: object) -> None:
        """Record a problem at a location."""
        self.problems.append(f"{where}: {problem}")

    def note(self, kind: str, text: str) -> None:
        """Record a warning; only the first of each kind is kept."""
        self.notes.setdefault(kind, bounded(text, _LONGEST_PROBLEM))

    def check_query(self, identity: str, text: str, where: str) -> None:
        """Check that a question is not blank, can be written as UTF-8 and has a unique id; record what is wrong."""
        if not text.strip():
            self.problem(f"{where}.query", "is blank")
        if not storable(f"{identity}{text}"):
            self.problem(where, "the question contains a lone surrogate, which cannot be written as UTF-8")
        self.check_id(identity, where)

    def check_id(self, identity: str, where: str) -> None:
        """Check that the id of a question is unique; record it if it is not."""
        if identity in self._ids:
            self.problem(f"{where}.id", f"{identity!r} is already the id of an earlier question; ids must be unique")
        self._ids.add(identity)

    def error(self) -> DatasetError:
        """Return the problems as an error."""
        return DatasetError(self.problems.message(self.source))

    def warn(self) -> None:
        """Warn of what was noted: of the first ten, and of how many there are besides."""
        for text in islice(self.notes.values(), _MOST_NOTES):
            note(f"{self.source}: {text}")
        if len(self.notes) > _MOST_NOTES:
            note(f"{self.source}: … and {len(self.notes) - _MOST_NOTES} more of the kind")


def _got(item: ErrorDetails) -> str:
    """Return what was found instead, for messages: where a key is missing, the keys that are there."""
    if item["type"] != "missing":
        return brief_repr(item["input"])
    keys: dict[str, str] = {key.replace("_", "").lower(): key for key in item["input"]}
    if not keys:
        return "an empty object"
    similar = get_close_matches(str(item["loc"][-1]).replace("_", ""), keys, n=1, cutoff=0.8)
    advice = f"; if {brief_repr(keys[similar[0]])} means this, rename it" if similar else ""
    return f"the keys {first_of([*map(brief_repr, keys.values())], _MOST_KEYS)}{advice}"


def as_list(value: Any, of: str = "") -> list[Any]:
    """Return a list that a file gives; raise DatasetError if it is something else."""
    if not is_list(value):
        raise DatasetError(f"expected a list{of}, got {brief_repr(value)}")
    return value


def as_object(value: Any, of: str = "") -> dict[str, Any]:
    """Return an object that a file gives; raise DatasetError if it is something else."""
    if not is_object(value):
        raise DatasetError(f"expected an object{of}, got {brief_repr(value)}")
    return value


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


# Settings that are given in Python, in files or by options: what a model refuses of them, in one line each.

_NEAR = 0.8  # of a key to what was meant; chunk_size is no slip of chunk_id
_TYPES = {
    "int_type": "a whole number",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a mapping",
    "path_type": "a path",
}
"""What values of these types are called, by the type of the error that another one makes."""


@contextmanager
def refused(model: type[BaseModel]) -> Generator[None]:
    """Refuse values that a model refuses in one line, by the names of its fields."""
    try:
        yield
    except ValidationError as error:
        problems = refusals(error, model, lambda *location: ".".join(map(str, location[:1])))
        cause = error.errors()[0].get("ctx", {}).get("error")
        if len(problems) == 1 and isinstance(cause, InputError):
            raise cause from None
        raise ConfigError("; ".join(problems)) from None


def refuse_unknown(given: Iterable[str], *known: str, where: str = "") -> None:
    """Refuse keywords that are not known.

    Raises:
        ConfigError: There is one; what was meant is named, or all that are known.
    """
    for key in given:
        if key not in known:
            raise ConfigError(f"{where}{key}: {_unknown(key, known, '; there are ' + ', '.join(known))}")


def own_first(model: type[BaseModel]) -> list[str]:
    """Return the fields of a model, its own before those that it inherits."""
    listed = (name for kind in model.__mro__ for name in vars(kind).get("__annotations__", ()))
    return [name for name in dict.fromkeys(listed) if name in model.model_fields]


def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of the fields of a model, its own and those that it inherits.

    They are read from the source, for who shows them: pydantic would read it whenever the model is imported.
    """
    found: dict[str, str] = {}
    for kind in model.__mro__[: model.__mro__.index(BaseModel)]:
        (stated,) = ast.parse(getsource(kind)).body
        body: Iterable[Any] = getattr(stated, "body", ())
        for field, text in pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found.setdefault(ast.unparse(field.target), cleandoc(ast.literal_eval(text.value)))
    return found


def refusals(error: ValidationError, model: type[BaseModel], place: Callable[..., str]) -> list[str]:
    """Return what is wrong with each value of a model, the first ones of many.

    Args:
        error: What pydantic says.
        model: The model.
        place: Names the place of a value by its location: the key, and what is inside of it.
    """
    places = grouped((place(*item["loc"]), item) for item in error.errors())
    around = {where.rpartition("[")[0] for where in places if "[" in where}  # what is wrong inside of them says more
    keys = f"; there are {', '.join(own_first(model))}"
    listed: list[str] = []
    for where, alternatives in places.items():
        if where in around:
            continue
        problem = _message(where, alternatives, model.model_fields, keys)
        told = any(other.endswith(keys) for other in listed)
        listed.append(problem.removesuffix(keys) if told else problem)
    more = len(listed) - _MOST_PROBLEMS
    return [*listed[:_MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]


def _message(where: str, alternatives: list[ErrorDetails], known: Mapping[str, Any], keys: str) -> str:
    """Return what is wrong with a value, which each of the types that it may have refuses."""
    item = alternatives[0]
    cause, key = item.get("ctx", {}).get("error"), str(item["loc"][0]) if item["loc"] else ""
    if isinstance(cause, InputError):
        said = str(cause)
        if not key:
            return said
        return f"{where}{said.removeprefix(key)}" if said.startswith(f"{key}=") else f"{where}: {said}"
    if item["type"] == "extra_forbidden":
        return f"{where}: {_unknown(key, known, keys)}"
    types = [_TYPES[kind["type"]] for kind in alternatives if kind["type"] in _TYPES]
    message = f"expected {' or '.join(types)}" if types else item["msg"][0].lower() + item["msg"][1:]
    return f"{where}: {message}" + ("" if item["type"] == "missing" else f", got {shown(item['input'], 60)}")


def _unknown(key: str, known: Iterable[str], keys: str) -> str:
    near = get_close_matches(key.lower(), known, n=1, cutoff=_NEAR)
    return f"unknown key{f'; did you mean {near[0]}?' if near else keys}"
