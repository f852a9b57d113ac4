"""Cutoffs of rankings, and score names that include them: `span_recall@5`, `span_recall@4000ch`."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, TypeGuard, get_args

from ..base.outside import shown
from ..errors import ConfigError
from .values import gives_items, items

Unit = Literal["", "ch", "tok", "topK"]

_LARGEST = 10**9
_CUTOFF = re.compile(r"(?P<size>\d{1,1000})(?P<unit>ch|tok)?(?P<whole>_whole)?")
_FORMS = "a number of results (5), characters (4000ch) or tokens (1000tok); budgets also as 4000ch_whole"

# Under which names ir_measures 0.4 registers what our metrics compute; its set measures are those of whole rankings.
_THEIRS = {
    "hit": ("Success",),
    "recall": ("R", "Recall", "SetR"),
    "precision": ("P", "Precision", "SetP"),
    "f1": ("SetF",),
    "mrr": ("RR", "MRR"),
    "map": ("AP", "MAP"),
    "ndcg": ("nDCG", "NDCG"),
    "r_precision": ("Rprec", "RPrec"),
}
SPELLINGS = {theirs: ours for ours, names in _THEIRS.items() for theirs in names}
"""Names of metrics as ir_measures spells them, and ours."""


@dataclass(frozen=True, slots=True)
class Cutoff:
    """Cutoff of a ranking: the first k results, a context budget, or the number of results a question asks for.

    A budget is spent from the top of the ranking, and text that was retrieved twice is charged twice; the result that
    exceeds the budget is truncated. With `whole` it is dropped instead.

    Attributes:
        size: k, or the budget; at least 1, at most 10^9. With the unit `"topK"`, 1.
        unit: `""` for k results, `"ch"` for characters, `"tok"` for tokens, `"topK"` for as many results as each
            question asks for, where those of a dataset ask for different numbers.
        whole: Keep only results that fit completely; budgets only.

    Raises:
        ConfigError: The size is out of range, or `whole` is used with k results.
    """

    size: int
    unit: Unit = ""
    whole: bool = False

    def __post_init__(self) -> None:
        unit: Any = self.unit
        if not isinstance(unit, str) or unit not in get_args(Unit):
            raise ConfigError(f"cutoff unit {shown(unit)}: expected 'ch', 'tok', 'topK', or '' for results")
        size: Any = self.size
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= _LARGEST:
            given = f"budget '{shown(size)}{unit}'" if unit else f"cutoff {shown(size)}"
            raise ConfigError(f"{given}: expected a whole number of at least 1 and at most {_LARGEST:,}")
        if unit == "topK" and size != 1:
            raise ConfigError(f"cutoff {size} times topK: expected 1, as each question has its own topK")
        if self.whole and not self.is_budget:
            raise ConfigError(f"cutoff '{self.size}_whole': results are always whole; `_whole` goes with a budget")

    @classmethod
    def parse(cls, text: "str | int | Cutoff") -> "Cutoff":
        """Parse a cutoff such as `5`, `4000ch_whole` or `topK`.

        Raises:
            ConfigError: The text is not a valid cutoff.
        """
        given: Any = None if isinstance(text, bool) else text
        if isinstance(given, Cutoff):
            return given
        if isinstance(given, Integral):
            return cls(int(given))
        if isinstance(given, str) and given == str(OWN_CUTOFF):
            return OWN_CUTOFF
        match = _CUTOFF.fullmatch(given.strip()) if isinstance(given, str) else None
        if match is None:
            raise ConfigError(f"cutoff {shown(text)}: expected {_FORMS}")
        unit: Any = match["unit"] or ""
        return cls(int(match["size"]), unit, match["whole"] is not None)

    @classmethod
    def parse_all(cls, cutoffs: "str | int | Cutoff | Iterable[str | int | Cutoff]") -> "tuple[Cutoff, ...]":
        """Parse one cutoff or several, in their order.

        Raises:
            ConfigError: One is not valid or is given twice, or there is none.
        """
        parsed = _different(cutoffs if gives_items(cutoffs, str) else [cutoffs])
        if not parsed:
            raise ConfigError("no cutoffs were given; expected at least one, such as [5, '4000ch']")
        return parsed

    @classmethod
    def parse_k(cls, k: int | Sequence[int]) -> "tuple[Cutoff, ...]":
        """Parse one number of results or several, in their order; there may be none.

        Raises:
            ConfigError: One is not a whole number of at least 1, or is given twice.
        """
        given: Any = k
        numbers: list[Any] = [*given] if isinstance(given, list | tuple | range) else [given]
        for number in numbers:
            if isinstance(number, int) and number < 1:
                raise ConfigError(f"k: cutoff {number}: expected a whole number of at least 1, as in k=5 (--k 5)")
        parsed = _different(numbers)
        if budget := next((cutoff for cutoff in parsed if cutoff.is_budget), None):
            raise ConfigError(f"k={str(budget)!r}: is a budget; pass it as budgets=['{budget}']")
        return parsed

    @classmethod
    def parse_budgets(cls, budgets: "Iterable[str | Cutoff]") -> "tuple[Cutoff, ...]":
        """Parse budgets, in their order; there may be none.

        Raises:
            ConfigError: One is not a number of characters or tokens, or is given twice; or they are not a list.
        """
        if not gives_items(budgets, str):
            raise ConfigError(f"budgets={shown(budgets)}: expected a list such as ['4000ch'], or [] for none")
        parsed = _different(budgets)
        if number := next((cutoff for cutoff in parsed if not cutoff.is_budget), None):
            raise ConfigError(f"budget '{number}': expected characters (4000ch) or tokens (1000tok)")
        return parsed

    @property
    def is_budget(self) -> bool:
        """Whether the cutoff is a budget of text rather than a number of results."""
        return self.unit in ("ch", "tok")

    def __str__(self) -> str:
        return "topK" if self.unit == "topK" else f"{self.size}{self.unit}{'_whole' if self.whole else ''}"


@dataclass(frozen=True, slots=True)
class ScoreName:
    """Name of a score: a metric and, usually, a cutoff.

    Attributes:
        metric: The metric's name, such as `span_recall`.
        cutoff: Where the ranking is cut. None is the whole ranking where a score is computed, and the first cutoff of
            the metric where one is looked up.
    """

    metric: str
    cutoff: Cutoff | None = None

    @classmethod
    def parse(cls, text: str) -> "ScoreName":
        """Parse a score name such as `span_recall@5`.

        Raises:
            ConfigError: The text is not a valid score name.
        """
        given: Any = text
        metric, at, cutoff = given.strip().partition("@") if isinstance(given, str) else ("", "", "")
        if not metric or (at and not cutoff):
            raise ConfigError(f"score name {shown(text)}: expected metric@cutoff, where the cutoff is {_FORMS}")
        return cls(metric.strip(), Cutoff.parse(cutoff) if at else None)

    @property
    def canonical(self) -> "ScoreName":
        """The name in our spelling, if the metric is written as ir_measures spells it."""
        return replace(self, metric=SPELLINGS.get(self.metric, self.metric))

    def __str__(self) -> str:
        return self.metric if self.cutoff is None else f"{self.metric}@{self.cutoff}"


def is_metric_name(name: Any) -> TypeGuard[str]:
    """Return whether a metric can be called so: one word without `@`, so that names of scores are read as written."""
    return isinstance(name, str) and name != "" and "@" not in name and name == "".join(name.split())


def _different(given: Any) -> tuple[Cutoff, ...]:
    parsed = tuple(map(Cutoff.parse, items(given, "k or budgets")))
    for cutoff, times in Counter(parsed).items():
        if times > 1:
            raise ConfigError(f"cutoff {str(cutoff)!r} is given twice")
    if OWN_CUTOFF in parsed:
        raise ConfigError("cutoff 'topK': is each question's own, in runs without k; expected a number, such as 5")
    return parsed


OWN_CUTOFF = Cutoff(1, "topK")
"""As many results as each question asks for."""
