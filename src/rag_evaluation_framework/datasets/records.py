"""What all readers of records share: strict validation that collects every problem with its place."""

import warnings
from reprlib import Repr
from typing import Any, TypeVar

from pydantic import AliasGenerator, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.ids import EvaluationType
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, TOKEN, Level

_MOST_PROBLEMS = 10
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 60


class Record(BaseModel):
    """An object of a file. Unknown keys are kept; files of TypeScript tools write camelCase."""

    model_config = ConfigDict(
        extra="allow",
        populate_by_name=True,
        strict=True,
        alias_generator=AliasGenerator(validation_alias=to_camel),
        loc_by_alias=False,
    )


RecordT = TypeVar("RecordT", bound=BaseModel)


class RecordReader:
    """Validates the records of one source.

    Attributes:
        source: The file, for messages.
        problems: What is wrong so far, each with its place.
        notes: What is no problem and yet worth a warning, one for each kind.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[str] = []
        self.notes: dict[str, str] = {}
        self._ids: set[str] = set()

    def validate(
        self, model: type[RecordT], data: Any, where: str, unknown: str = "is kept as metadata"
    ) -> RecordT | None:
        """Return a record, or None after noting what is wrong with it."""
        try:
            record = model.model_validate(data)
        except ValidationError as error:
            self.problems += [
                f"{where}{json_path(item['loc'])}: {item['msg']}, got {shown(item['input'])}" for item in error.errors()
            ]
            return None
        for key in record.model_extra or {}:
            self.note(key, f"{where}: unknown key {key!r} {unknown}")
        return record

    def problem(self, where: str, problem: object) -> None:
        """Note what is wrong at a place."""
        self.problems.append(f"{where}: {problem}")

    def note(self, kind: str, text: str) -> None:
        """Note what to warn of, the first of its kind only."""
        self.notes.setdefault(kind, text)

    def check_question(self, identity: str, text: str, where: str) -> None:
        """Note a question that is blank or no text of a file, or whose id another one has."""
        if not text.strip():
            self.problem(f"{where}.query", "is blank")
        if not storable(f"{identity}{text}"):
            self.problem(where, "the question holds a lone surrogate, which no file of text can hold")
        if identity in self._ids:
            self.problem(f"{where}.id", f"{identity!r} is the id of an earlier question; ids must be unique")
        self._ids.add(identity)

    def error(self) -> DatasetError:
        """Return the problems as an error."""
        return DatasetError(problem_list(self.source, self.problems))

    def warn(self) -> None:
        """Warn of what was noted."""
        for note in self.notes.values():
            warnings.warn(f"{self.source}: {note}", stacklevel=2)


def problem_list(source: str, problems: list[str]) -> str:
    """Return one message for several problems: one line if there is one, else a line each, the first ten."""
    if len(problems) == 1:
        return f"{source}: {problems[0]}"
    lines = "".join(f"\n  {problem}" for problem in problems[:_MOST_PROBLEMS])
    more = len(problems) - _MOST_PROBLEMS
    return f"{source}: {len(problems)} problems:{lines}" + (f"\n  … and {more} more" if more > 0 else "")


def json_path(location: tuple[int | str, ...]) -> str:
    """Return where a value stands below another: `.relevant_spans[0].start`."""
    parts = (f"[{part!r}]" if isinstance(part, int) or not part.isidentifier() else f".{part}" for part in location)
    return "".join(parts)


def storable(text: str) -> bool:
    """Return whether a file can hold a text, which has no half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: object) -> str:
    """Return a value for a message, however large or deeply nested it is."""
    return _SHORT.repr(value)[:60]


def checked_level(level: Any) -> Level[Any]:
    """Return a level as it is.

    Raises:
        LevelMismatch: It is no level.
    """
    if level not in (DOCUMENT, CHUNK, TOKEN):
        raise LevelMismatch(f"level={level!r:.60}: wanted TOKEN, CHUNK or DOCUMENT")
    wanted: Level[Any] = level
    return wanted


def check_level(source: str, found: EvaluationType, wanted: Level[Any]) -> None:
    """Refuse a file that holds another level than the one that is wanted.

    Raises:
        LevelMismatch: It does.
    """
    if found == wanted.evaluation_type:
        return
    if found == "token-level":
        name = "ChunkLevelEvaluation" if wanted.evaluation_type == "chunk-level" else "DocumentLevelEvaluation"
        advice = f"load it as it is, without a level; {name} projects it"
    else:
        name = found.removesuffix("-level").upper()
        advice = f"load it with load_dataset(path, {name}) and evaluate it at that level; labels are never refined"
    raise LevelMismatch(f"{source}: holds {found} ground truth, {wanted.evaluation_type} was asked for: {advice}")
