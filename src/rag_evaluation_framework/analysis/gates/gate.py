"""Gates: conditions on a run, parsed from a line of text such as `recall@10 drop <= 0.02 where tags=billing`."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
_LONGEST = 15  # digits before the point, beyond which a limit has an exponent
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


_NAME = r"[^\s<>=()]+"
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_GATE = re.compile(
    r"(?:p(?P<percentile>[0-9]+)(?: ?\((?P<stage>[^()]+)\))?"
    rf"|(?P<lost>lost)(?:@(?P<cutoff>{_NAME}))?|(?P<compared>compared)"
    rf"|(?!(?:lost|(?:compared|p[0-9]+)(?!@))\b)(?P<score>{_NAME})(?P<drop> drop)?"
    rf"|population ?\( ?(?P<claim>{_NAME}) ?\)(?P<fall> ?drop)?)"
    rf" ?(?P<operator>[<>]=?) ?(?P<limit>{NUMBER}) ?(?P<unit>ms|s|%|questions?)?"
    r"(?: ?where (?P<by>[^=]*[^=\s]) ?= ?(?P<value>\S.*))?"
)
_ALLOWED: Mapping[Kind, tuple[Sequence[str], Sequence[str], str, str]] = {
    "score": ((">=", "<=", ">", "<"), ("",), "a number", "recall@10 >= 0.75"),
    "drop": (("<=", "<"), ("",), "a number", "recall@10 drop <= 0.02"),
    "lost": (("<=", "<"), ("", "question", "questions"), "a whole number of at least 0", "lost@10 <= 2 questions"),
    "compared": ((">=", ">"), ("%",), "a share of all questions, above 0 % and up to 100 %", "compared >= 90 %"),
    "latency": (("<=", "<"), ("ms", "s"), "a time of at least 0, and a percentile from p1 to p99", "p95 <= 300ms"),
}
"""The operators and units of each kind, what its limit has to be, and an example."""


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
            ConfigError: The text is not a gate.
        """
        given: Any = text
        if not isinstance(given, str):
            raise ConfigError(f"gate {shown(text)}: expected a text, such as {FORMS}")
        line = " ".join(given.split())
        found = _GATE.fullmatch(line)
        if found is None:
            raise ConfigError(f"gate {shown(line)}: expected {FORMS}")
        part = found.groupdict("")
        kind: Kind = "drop" if part["drop"] or part["fall"] else "score"
        name, percentile, where = part["score"] or part["claim"], 0, None
        if part["percentile"]:
            kind, name, percentile = "latency", part["stage"].strip(), int(part["percentile"][:4])
        elif part["compared"]:
            kind, name = "compared", ""
        try:
            if part["lost"]:
                kind, name = "lost", part["cutoff"] and str(Cutoff.parse(part["cutoff"]))
            elif kind in ("score", "drop"):
                name = str(ScoreName.parse(name))
        except ConfigError as error:
            raise ConfigError(f"gate {shown(line)}: {error}") from error
        if part["by"]:
            where = Slice(part["by"], part["value"])
        limit = scaled(part["limit"], -3 if part["unit"] == "ms" else -2 if part["unit"] == "%" else 0)
        operators, units, possible, example = _ALLOWED[kind]
        is_possible = {
            "lost": limit >= 0 and limit % 1 == 0,
            "compared": 0 < limit <= 1 and where is None,
            "latency": limit >= 0 and 1 <= percentile <= 99,
        }
        wanted = {
            " or ".join(operators): part["operator"] in operators,
            f"{' or '.join(filter(None, units)) or 'no unit'} behind the number": part["unit"] in units,
            possible: isfinite(limit) and is_possible.get(kind, True),
        }
        for expected, is_met in wanted.items():
            if not is_met:
                raise ConfigError(f"gate {shown(line)}: expected {expected}, as in {example}")
        compared = cast("Operator", part["operator"])
        return cls(kind, name, compared, limit, percentile, bool(part["claim"]), where, source)

    @property
    def key(self) -> Key:
        """Subject and side of the bound; of two gates with one key, the one of the higher source counts."""
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
        """Subject of the bound, as written before the operator."""
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
        limit = _exactly(self.limit, {"latency": 3, "compared": 2}.get(self.kind, 0))
        limit += {"latency": "ms", "compared": " %", "lost": f" question{'s' * (self.limit != 1)}"}.get(self.kind, "")
        where = "" if self.where is None else f" where {self.where}"
        return f"{self.subject} {self.operator} {limit}{where}"


def with_default(gates: Sequence[Gate], *, has_baseline: bool) -> tuple[Gate, ...]:
    """Return the gates of a run: with a baseline also `compared >= 90 %`, unless another gate bounds that share."""
    default = Gate.parse("compared >= 90 %", "by default")
    is_missing = has_baseline and all(gate.key != default.key for gate in gates)
    return (*gates, default) if is_missing else (*gates,)


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
