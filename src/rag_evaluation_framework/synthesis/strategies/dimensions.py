"""`DimensionQuestions`: questions of every persona, difficulty, type and style."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from math import gcd
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.files import checked_path, is_list, is_object, read_text
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.strict_yaml import parse_yaml
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy, Section
from rag_evaluation_framework.data.values import FrozenDict
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.synthesis.forms import load_prompt
from rag_evaluation_framework.synthesis.sections import by_document, shared_out

_SINGULAR = {"personas": "persona", "difficulties": "difficulty", "query_types": "query_type", "styles": "style"}
_RESERVED = ("query_source", "source_docs", "generation_model", "generation_type", "strategy", "prompt_versions")
_MOST = 10_000
_GOLDEN = 0.618  # steps of about this part of all combinations leave the smallest gaps


@dataclass(frozen=True)
class DimensionQuestions(QuestionStrategy):
    """Questions of all combinations of dimensions, in turn: `{"persona": ["a new user"], "difficulty": ["easy"]}`.

    Each question has the values of its combination in its metadata.

    Attributes:
        dimensions: The values of each dimension, as a list, or with a description of each:
            `{"persona": {"admin": "runs the servers"}}`. `personas`, `difficulties`, `query_types` and `styles` are
            called by their singular.

    Raises:
        ConfigError: There is no dimension, one has no values, or they have more than 10,000 combinations.
    """

    dimensions: Mapping[str, Mapping[str, str]] = field(hash=False)

    def __post_init__(self) -> None:
        given = _items(self.dimensions)
        if not given:
            raise ConfigError(
                f"dimensions={shown(self.dimensions)}; expected the values of each, {{'persona': ['a new user']}}"
            )
        known = {_SINGULAR.get(str(name), str(name)): _described(name, values) for name, values in given.items()}
        combinations = 1
        for values in known.values():
            combinations *= len(values)
        if combinations > _MOST:
            raise ConfigError(f"dimensions: {combinations:,} combinations; expected at most {_MOST:,}")
        object.__setattr__(self, "dimensions", FrozenDict(known))

    @classmethod
    def from_file(cls, path: str | Path) -> "DimensionQuestions":
        """Return the strategy of a YAML file, which has a list of values, or of values with descriptions, by dimension.

        Raises:
            ConfigError: It cannot be read, or has something else.
        """
        path = checked_path(path, ConfigError)
        text = read_text(path, ConfigError)
        try:
            given: Any = parse_yaml(text)
            if not is_object(given):
                raise ValueError(f"got {shown(given)}; expected the values of each dimension")
            return cls(given)
        except ValueError as error:
            raise ConfigError(f"{path}: {error}") from error

    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        """Return a request for each section and combination that get questions."""
        prompt, numbers = load_prompt("dimensions"), count()
        combinations = [
            dict(zip(self.dimensions, values, strict=True)) for values in product(*self.dimensions.values())
        ]
        step = next(
            size for size in count(max(round(len(combinations) * _GOLDEN), 1)) if gcd(size, len(combinations)) == 1
        )
        requests: list[QuestionRequest] = []
        for document in by_document(sections):
            for section, questions in shared_out(document, queries_per_doc):
                chosen = Counter(next(numbers) * step % len(combinations) for _ in range(questions))
                requests += [
                    QuestionRequest(
                        prompt.filled("wish", dimensions=self._told(combinations[number])),
                        (section,),
                        share,
                        combinations[number],
                        prompt.version,
                    )
                    for number, share in chosen.items()
                ]
        return requests

    def _told(self, combination: Mapping[str, str]) -> str:
        lines: list[str] = []
        for name, value in combination.items():
            described = self.dimensions[name][value]
            lines.append(f"- {name.replace('_', ' ')}: {value}{f' ({described})' if described else ''}")
        return "\n".join(lines)


def _items(given: Any) -> dict[Any, Any]:
    return {**given} if isinstance(given, Mapping) else {}


def _described(name: object, given: Any) -> FrozenDict[str, str]:
    """Return the values of a dimension with their descriptions, "" where there is none.

    Raises:
        ConfigError: There are none, or something else.
    """
    listed: Any = dict.fromkeys(given, "") if is_list(given) and all(isinstance(each, str) for each in given) else given
    values = _items(listed)
    texts = [*values, *values.values()]
    if not values or not all(isinstance(text, str) for text in texts) or not all(map(str.strip, values)):
        raise ConfigError(f"dimension {shown(name)}: got {shown(given)}; expected a list of texts, ['easy', 'hard']")
    if not isinstance(name, str) or not name.isidentifier() or name in _RESERVED:
        raise ConfigError(
            f"dimension {shown(name)}: expected a name such as persona, and none of {', '.join(_RESERVED)}"
        )
    return FrozenDict(values)
