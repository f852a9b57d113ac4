"""Where a ranking is cut, and the names of scores that say it: `span_recall@5`, `span_recall@4000ch`."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from rag_evaluation_framework.errors import ConfigError

Unit = Literal["", "ch", "tok"]

_LARGEST = 10**9
_CUTOFF = re.compile(r"(?P<size>\d{1,20})(?P<unit>ch|tok)?(?P<whole>_whole)?")
_FORMS = "a number of results (5), characters (4000ch) or tokens (1000tok), the last two also as 4000ch_whole"


@dataclass(frozen=True, slots=True)
class Cutoff:
    """How much of a ranking is looked at: the first k results, or a context budget.

    A budget is spent from the top of the ranking, text that was retrieved twice being paid for twice; the result that
    crosses the budget is cut there. With `whole` it is left out instead.

    Attributes:
        size: k, or the budget; at least 1, at most 10^9.
        unit: `""` for k results, `"ch"` for characters, `"tok"` for tokens.
        whole: Only results that fit whole; budgets only.

    Raises:
        ConfigError: The size is out of range, or `whole` is asked of k results.
    """

    size: int
    unit: Unit = ""
    whole: bool = False

    def __post_init__(self) -> None:
        if not _is_count(self.size):
            raise ConfigError(f"cutoff {self.size!r:.80}: wanted a whole number of at least 1 and at most {_LARGEST:,}")
        if self.unit not in get_args(Unit):
            raise ConfigError(f"cutoff unit {self.unit!r}: wanted 'ch', 'tok', or '' for results")
        if self.whole and not self.unit:
            raise ConfigError(f"cutoff '{self.size}_whole': results are always whole; `_whole` goes with a budget")

    @classmethod
    def parse(cls, text: "str | int | Cutoff") -> "Cutoff":
        """Read a cutoff as it is printed.

        Raises:
            ConfigError: The text is no cutoff.
        """
        if isinstance(text, Cutoff):
            return text
        match = _CUTOFF.fullmatch(str(text).strip()) if not isinstance(text, bool) else None
        if match is None:
            raise ConfigError(f"cutoff {text!r}: wanted {_FORMS}")
        unit: Unit = "ch" if match["unit"] == "ch" else "tok" if match["unit"] == "tok" else ""
        return cls(int(match["size"]), unit, match["whole"] is not None)

    @property
    def is_budget(self) -> bool:
        """Whether text is counted instead of results."""
        return self.unit != ""

    def __str__(self) -> str:
        return f"{self.size}{self.unit}{'_whole' if self.whole else ''}"


@dataclass(frozen=True, slots=True)
class ScoreName:
    """The name of one score: a metric and, usually, a cutoff.

    Attributes:
        metric: The metric's name, such as `span_recall`.
        cutoff: Where the ranking is cut; None stands for the k of the run.
    """

    metric: str
    cutoff: Cutoff | None = None

    @classmethod
    def parse(cls, text: str) -> "ScoreName":
        """Read a name as it is printed.

        Raises:
            ConfigError: The text is no name of a score.
        """
        metric, at, cutoff = text.strip().partition("@")
        if not metric or (at and not cutoff):
            raise ConfigError(f"score name {text!r}: wanted metric@cutoff, the cutoff being {_FORMS}")
        return cls(metric.strip(), Cutoff.parse(cutoff) if at else None)

    def __str__(self) -> str:
        return self.metric if self.cutoff is None else f"{self.metric}@{self.cutoff}"


def _is_count(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and 1 <= size <= _LARGEST
