"""Writes the generated part of docs/reference/metrics.md: `python docs/generate_metrics.py`, or `make docs`.

Every metric is described by the docstring of its class, and every example is computed. What is outside the two
markers of the page is written by hand and left alone. With `--check` nothing is written: the exit code is 1 if the page
is not what would be written.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_evaluation_framework.scoring import score_spans
from rag_evaluation_framework.scoring.metrics import ALL_METRICS, PrecisionOmega, SpanMetric, TokenSetMetric

PAGE = Path(__file__).resolve().parent / "reference" / "metrics.md"
STUB = PAGE.parents[2] / "src" / "rag_evaluation_framework" / "__init__.pyi"
COMMAND = "python docs/generate_metrics.py"
BEGIN = f"<!-- Generated from the docstrings of the metrics by `{COMMAND}`: edit those, not this. -->"
END = "<!-- End of what is generated. -->"
METRICS_IN_STUB = "# Every metric; written by docs/generate_metrics.py"
ENTRIES = ("Formula", "Range", "Undefined", "Source")


@dataclass(frozen=True)
class Group:
    """The metrics of some evaluation types, and the example they share.

    Attributes:
        title: The heading.
        evaluation_types: Those that each of the metrics can score.
        intro: What they compare, and what the example is.
        example: Code that sets `retrieved` and `relevant`.
    """

    title: str
    evaluation_types: frozenset[str]
    intro: str
    example: str


GROUPS = (
    Group(
        "Token level",
        frozenset({"token-level"}),
        "These compare text. In the examples, the relevant text has 24 characters. Two results were retrieved: they "
        "cover 37 characters, 7 of them twice, and 18 of the relevant ones. The token sets of the examples are words, "
        "split by `str.split`.",
        """\
from rag_evaluation_framework import CharacterSpan, DocumentId

text = "Install the agent. Restart the server once. Then wait."


def passage(words):
    start = text.index(words)
    return CharacterSpan(DocumentId("guide.md"), start, start + len(words), words)


relevant = [passage("Restart the server once.")]
chunks = [passage("Install the agent. Restart"), passage("Restart the server"), passage("once. Then wait.")]
retrieved = chunks[:2]
""",
    ),
    Group(
        "Document and chunk level",
        frozenset({"document-level", "chunk-level"}),
        "These compare ranked ids of documents or chunks; a repeated id counts at its first rank. "
        "In the examples, two of three relevant documents are at ranks 2 and 3 of four.",
        """\
relevant = ["a.md", "b.md", "c.md"]
retrieved = ["x.md", "b.md", "a.md", "y.md"]
""",
    ),
    Group(
        "Chunk level",
        frozenset({"chunk-level"}),
        "These compare sets of chunk ids. In the examples, two of three relevant chunks are among the four that were "
        "retrieved.",
        """\
from rag_evaluation_framework import generate_chunk_id

a, b, c, x, y = (generate_chunk_id(f"The text of chunk {name}.") for name in "abcxy")
relevant = [a, b, c]
retrieved = [x, b, a, y]
""",
    ),
)


@dataclass(frozen=True)
class Description:
    """What the docstring of a metric says.

    Attributes:
        tells: Its first sentence.
        details: Its other paragraphs.
        entries: The text behind `Formula:`, `Range:`, `Undefined:` and `Source:`.
    """

    tells: str
    details: tuple[str, ...]
    entries: dict[str, str]

    @classmethod
    def of(cls, metric: type) -> "Description":
        """Read the docstring of a metric's class.

        Raises:
            ValueError: It lacks one of the entries, or holds one twice.
        """
        tells, *details = inspect.cleandoc(metric.__doc__ or "").split("\n\n")
        last = details.pop() if details else ""
        parts = re.split(rf"^({'|'.join(ENTRIES)}):\s", last, flags=re.MULTILINE)
        if parts[0].strip() or tuple(parts[1::2]) != ENTRIES or not all(text.strip() for text in parts[2::2]):
            raise ValueError(
                f"{metric.__module__}.{metric.__qualname__}: the docstring ends with {last!r}; expected a paragraph "
                f"with one entry each for {', '.join(f'{entry}:' for entry in ENTRIES)} in this order"
            )
        entries = {entry: _one_line(text) for entry, text in zip(parts[1::2], parts[2::2], strict=True)}
        return cls(_one_line(tells), tuple(map(_one_line, details)), entries)


def reference() -> str:
    """Return the generated part of the page."""
    return "\n\n".join([_overview(), *(block for group in GROUPS for block in _section(group))])


def renewed(page: str) -> str:
    """Return the page with the generated part as it should be.

    Raises:
        ValueError: The page does not hold both markers, once each.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in before + after:
        raise ValueError(
            f"docs/reference/metrics.md: expected the lines {BEGIN!r} and {END!r}, once each and in this order"
        )
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


def renewed_stub(stub: str) -> str:
    """Return the stub of the root with the metrics that the stub of their room registers."""
    before, marker, _ = stub.partition(METRICS_IN_STUB)
    if not marker:
        raise ValueError(f"{STUB.name}: expected the line {METRICS_IN_STUB!r}")
    lines = (
        f"from .scoring.metrics import {type(metric).__name__} as {type(metric).__name__}"
        for metric in ALL_METRICS.values()
    )
    return "\n".join([before + marker, *lines, ""])


def metrics_of(group: Group) -> list[Any]:
    """Return the metrics of a group, in the order of `ALL_METRICS`."""
    return [metric for metric in ALL_METRICS.values() if metric.evaluation_types == group.evaluation_types]


def _overview() -> str:
    rows = ["| Name | Class | What it tells |", "|---|---|---|"]
    for metric in (metric for group in GROUPS for metric in metrics_of(group)):
        tells = Description.of(type(metric)).tells.replace("|", r"\|")
        rows.append(f"| [`{metric.name}`](#{metric.name}) | `{type(metric).__name__}` | {tells} |")
    return "\n".join(["## At a glance", "", *rows])


def _section(group: Group) -> Iterator[str]:
    yield f"## {group.title}"
    yield group.intro
    yield f"```python\n{group.example}```"
    names: dict[str, Any] = {"score_spans": score_spans}
    exec(group.example, names)  # noqa: S102  the code is ours, and is on the page
    for metric in metrics_of(group):
        description = Description.of(type(metric))
        yield f"### `{metric.name}`"
        yield f"**{type(metric).__name__}.** {description.tells}"
        yield from description.details
        code = call(metric)
        score = eval(code, {**names, type(metric).__name__: type(metric)})  # noqa: S307  as above
        # Lines are not wrapped: one that began with a minus would be the item of a list.
        lines = {**description.entries, "Example": f"`{code}` is {score:.3f}."}
        yield "\n".join(f"- **{entry}:** {text}" for entry, text in lines.items())


def call(metric: Any) -> str:
    """Return the code of the example."""
    if isinstance(metric, SpanMetric) and metric.needs_budget:
        name = f"{metric.name}@40ch"
        return f'score_spans({{"q": relevant}}, {{"q": retrieved}}, ["{name}"]).mean["{name}"]'
    given = "tokenizer=str.split" if isinstance(metric, TokenSetMetric) else ""
    found = "chunks" if isinstance(metric, PrecisionOmega) else "retrieved"
    return f"{type(metric).__name__}({given}).calculate({found}, relevant)"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page and the stub, or check them."""
    parser = argparse.ArgumentParser(description="Write what follows from the metrics: their page and the stub.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something is stale")
    check = parser.parse_args(arguments).check
    for path, renew in ((PAGE, renewed), (STUB, renewed_stub)):
        text = path.read_text(encoding="utf-8")
        expected = renew(text)
        if check and text != expected:
            sys.exit(f"{path.name} is stale: the metrics have changed. Renew it with: {COMMAND}")
        if not check:
            path.write_text(expected, encoding="utf-8")


if __name__ == "__main__":
    main()
