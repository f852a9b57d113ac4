"""Gates: conditions on a run, parsed from a line of text such as `recall@10 drop <= 0.02 where tags=billing`."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, DecimalException
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from ...base.outside import shown
from ...data.cutoffs import Cutoff, ScoreName
from ...errors import ConfigError

Kind = Literal["score", "drop", "lost", "compared", "latency"]
"""What a gate bounds: a mean, how far it fell, the number of lost questions, the share compared, or a latency."""

Operator = Literal[">=", "<=", ">", "<"]

FORMS = (
    "'recall@10 >= 0.75', 'recall@10 drop <= 0.02', 'lost@10 <= 2 questions', 'p95 <= 300ms', 'p95(rerank) <= 50ms', "
    "'population(recall@10) drop <= 0.05', each also of a slice, as in '... where tags=billing', or 'compared >= 90 %'"
)
"""The forms that a gate has, for messages."""

_NEGLIGIBLE = 1e-9  # what rounding makes of a mean
_UNITS: Mapping[str, int] = {"ms": -3, "s": 0}  # powers of ten
_LONGEST = 15  # digits before the point, beyond which a limit has an exponent
_QUESTIONS = ("question", "questions")
_LARGEST_PERCENTILE = 99
_WRITTEN: Mapping[str, tuple[str, int, tuple[int, ...]]] = {
    "latency": (" ms", 1000, (1, 4, 7)),
    "compared": (" %", 100, (0, 2, 5)),
}
"""The unit of a value, its factor, and the digits behind the point that are tried."""
_COMPARED: Mapping[Operator, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_SLACK: Mapping[Operator, float] = {">=": -_NEGLIGIBLE, "<=": _NEGLIGIBLE, ">": _NEGLIGIBLE, "<": -_NEGLIGIBLE}


class Slice(NamedTuple):
    """Which questions a gate is about: those that have this value of a property."""

    by: str
    value: str

    def __str__(self) -> str:
        return f"{self.by}={self.value}"


Key: TypeAlias = tuple[Kind, str, int, bool, bool, Slice | None]


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition on a run. `Gate.parse` makes it of the text that `str` returns.

    Attributes:
        kind: What is bounded.
        name: The score; of lost questions the cutoff, of latency the stage: "" for the first one, and for the total.
        operator: How the measured value has to compare with the limit.
        limit: The limit, which is allowed by `>=` and `<=`; of latency in seconds.
        percentile: Of latency, from 1 to 99; else 0.
        population: Whether it is a claim about all questions like these, which chance may leave open.
        where: The questions that it is about; None for all.
        source: Where it was written, such as `--gate`, for people.
        off: Whether a threshold of 0 turns it off.
    """

    kind: Kind
    name: str
    operator: Operator
    limit: float
    percentile: int = 0
    population: bool = False
    where: Slice | None = None
    source: str = field(default="", compare=False)
    off: bool = field(default=False, compare=False)

    @classmethod
    def parse(cls, text: str, source: str = "") -> "Gate":
        """Parse a gate such as `recall@10 >= 0.75`.

        Args:
            text: The gate.
            source: Where it was written.

        Raises:
            ConfigError: The text is not a gate; the message says where it breaks, and what is expected there.
        """
        given: Any = text
        if not isinstance(given, str):
            raise ConfigError(f"gate {shown(text)}: expected a text, such as {FORMS}")
        return replace(_Reader(" ".join(given.split())).gate(), source=source)

    @property
    def key(self) -> Key:
        """What it bounds, and on which side; of two gates with one key, that of the higher source counts."""
        return self.kind, self.name, self.percentile, self.population, self.is_at_least, self.where

    @property
    def is_at_least(self) -> bool:
        """Whether high values pass."""
        return self.operator in (">=", ">")

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares the run with a baseline."""
        return self.kind in ("drop", "lost", "compared")

    def allows(self, value: float) -> bool:
        """Return whether a value passes; one that differs from the limit by rounding alone is equal to it."""
        return _COMPARED[self.operator](value, self.limit + _SLACK[self.operator])

    @property
    def subject(self) -> str:
        """What is bounded, as it is written before the operator."""
        if self.kind == "latency":
            return f"p{self.percentile}{f'({self.name})' if self.name else ''}"
        if self.kind == "lost":
            return f"lost{f'@{self.name}' if self.name else ''}"
        if self.kind == "compared":
            return "compared"
        name = f"population({self.name})" if self.population else self.name
        return f"{name} drop" if self.kind == "drop" else name

    def written(self, value: float) -> str:
        """Return a value of what is bounded, as people read it: so precisely that it is seen whether it passes."""
        if self.kind == "lost":
            return str(int(value))
        unit, scale, tried = _WRITTEN.get(self.kind, ("", 1, (3, 6, 9)))
        exact = (digits for digits in tried if self.allows(round(scale * value, digits) / scale) == self.allows(value))
        return f"{scale * value:z.{next(exact, tried[-1])}f}{unit}"

    def __str__(self) -> str:
        limit = _exactly(self.limit)
        if self.kind == "latency":
            limit = f"{_exactly(self.limit, 3)}ms"
        if self.kind == "lost":
            limit = f"{limit} question{'s' * (self.limit != 1)}"
        if self.kind == "compared":
            limit = f"{_exactly(self.limit, 2)} %"
        where = "" if self.where is None else f" where {self.where}"
        return f"{self.subject} {self.operator} {limit}{where}"


def with_default(gates: Sequence[Gate], *, has_baseline: bool) -> tuple[Gate, ...]:
    """Return the gates of a run: with a baseline also `compared >= 90 %`, unless another gate bounds that share."""
    default = Gate.parse("compared >= 90 %", "by default")
    is_missing = has_baseline and all(gate.key != default.key for gate in gates)
    return (*gates, default) if is_missing else (*gates,)


class _Reader:
    """Reads one line from the left, and says where it breaks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at: int = 0

    def gate(self) -> Gate:
        """Return the gate that the line is."""
        if not self._text:
            raise ConfigError(f"gate '': is empty; expected {FORMS}")
        kind, name, percentile, population = self._subject()
        compared = self._operator(kind)
        limit = self._limit(kind)
        return Gate(kind, name, compared, limit, percentile, population, self._slice(kind))

    def _subject(self) -> tuple[Kind, str, int, bool]:
        if latency := self._take(r"p([0-9]+)(?![\w@])"):
            percentile = int(latency[1][:4])
            if not 1 <= percentile <= _LARGEST_PERCENTILE:
                raise self._refused("a percentile from p1 to p99, such as p95", latency.start())
            stage = self._take(r"\(([^()]+)\)")
            return "latency", stage[1].strip() if stage else "", percentile, False
        if lost := self._take(r"lost(?![\w])(?:@([^\s<>=()]+))?"):
            return "lost", "" if lost[1] is None else str(self._cutoff(lost)), 0, False
        if self._take(r"compared(?![\w@])"):
            return "compared", "", 0, False
        population = self._take(r"population *\(")
        name = self._score()
        if population and not self._take(r"\)"):
            raise self._refused("')' behind the score, as in population(recall@10)")
        return "drop" if self._take(r"drop(?!\w)") else "score", name, 0, population is not None

    def _score(self) -> str:
        found = self._take(r"[^\s<>=()]+")
        if found is None:
            raise self._refused(f"the name of a score, as in {FORMS}")
        try:
            return str(ScoreName.parse(found[0]))
        except ConfigError as error:
            raise self._refused(
                "a score, such as recall@10 or span_recall@4000ch", found.start(), str(error)
            ) from error

    def _cutoff(self, found: re.Match[str]) -> Cutoff:
        try:
            return Cutoff.parse(found[1])
        except ConfigError as error:
            raise self._refused("a cutoff, as in lost@10 or lost@4000ch", found.start(1), str(error)) from error

    def _operator(self, kind: Kind) -> Operator:
        start = self._at
        found = self._take(r"[<>=!≤≥]+")
        if found is None or found[0] not in _COMPARED:
            raise self._refused(f"{'drop, or ' * (kind == 'score')}one of {', '.join(_COMPARED)}", start)
        compared = cast("Operator", found[0])
        if kind == "compared" and compared not in (">=", ">"):
            raise self._refused(">= or >, as compared is bounded from below", start)
        if kind in ("drop", "lost", "latency") and compared not in ("<=", "<"):
            what = kind if kind == "lost" else f"a {kind}"
            raise self._refused(f"<= or <, as {what} is bounded from above", start)
        return compared

    def _limit(self, kind: Kind) -> float:
        start = self._at
        found = self._take(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![\d.])")
        at = self._at
        unit = self._take(r"(?!where\b)[^\W\d_]+|%")
        written = "" if unit is None else unit[0]
        power = _UNITS.get(written, 0) if kind == "latency" else -2 if kind == "compared" else 0
        if found is None or not isfinite(limit := scaled(found[0], power)):
            raise self._refused("a number, such as 0.75", start)
        if kind == "latency" and written not in _UNITS:
            raise self._refused("ms or s behind the number, as in 300ms", at)
        if kind == "latency" and limit < 0:
            raise self._refused("a time of at least 0", start)
        if kind == "compared" and (written != "%" or not 0 < limit <= 1):
            raise self._refused("a share above 0 % and up to 100 %, such as 90 %", start)
        if kind == "lost" and written not in ("", *_QUESTIONS):
            raise self._refused("'questions' or nothing", at)
        if kind == "lost" and (limit < 0 or limit != int(limit)):
            raise self._refused("a whole number of questions", start)
        if kind in ("score", "drop") and written:
            raise self._refused("no unit: scores have none; 75 % is 0.75", at)
        return limit

    def _slice(self, kind: Kind) -> Slice | None:
        if self._at == len(self._text):
            return None
        if kind == "compared":
            raise self._refused("the end, as compared is of all questions")
        if not self._take(r"where(?!\w)"):
            raise self._refused("the end, or where and a slice, as in where tags=billing")
        found = self._take(r"([^=]*[^=\s]) *= *(\S.*)")
        if found is None:
            raise self._refused("a property and its value, as in where tags=billing")
        return Slice(found[1], found[2])

    def _take(self, pattern: str) -> re.Match[str] | None:
        """Return what comes next if it is that, and go on behind it and the space that follows."""
        found = re.compile(pattern).match(self._text, self._at)
        if found is not None:
            self._at = found.end() + self._text.startswith(" ", found.end())
        return found

    def _refused(self, expected: str, at: int | None = None, why: str = "") -> ConfigError:
        """Return the error of a text that is something else where it was read to, or at another place."""
        start = self._at if at is None else at
        rest = self._text[start:]
        where = f"at {shown(rest, 40)} (character {start + 1})" if rest else "at its end"
        return ConfigError(f"gate {shown(self._text)}: {where}: {f'{why}; ' if why else ''}expected {expected}")


def scaled(number: str | float, power: int) -> float:
    """Return a number times a power of ten, rounded once: 0.7 s and 700 ms are the same float."""
    try:
        return float(Decimal(str(number)).scaleb(power))
    except DecimalException:  # an exponent that no float has
        return float(number) * 10.0**power


def _exactly(number: float, power: int = 0) -> str:
    """Return a number times a power of ten so that reading it gives the same float again."""
    exact = Decimal(str(number)).scaleb(power).normalize()
    return f"{exact:f}" if abs(exact.adjusted()) <= _LONGEST else f"{exact}"
