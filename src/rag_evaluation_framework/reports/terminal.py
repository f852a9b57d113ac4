"""Results in a terminal. Whatever comes from outside is shown as text: no markup and no control codes take effect."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.quotes import QuoteCheck
from rag_evaluation_framework.experiments.query_result import QueryResult
from rag_evaluation_framework.experiments.results import EvaluationResult
from rag_evaluation_framework.experiments.summary import number
from rag_evaluation_framework.ids import EvaluationType
from rag_evaluation_framework.levels import LEVELS
from rag_evaluation_framework.reports.tables import Column, show_table
from rag_evaluation_framework.spans import CharacterSpan

_CONTROL = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), "\N{REPLACEMENT CHARACTER}")
_QUOTE_LENGTH = 160
_DETECTABLE = 0.85

Result = EvaluationResult[Any]


def printable(text: str) -> str:
    """Return text on one line whose control characters have no effect."""
    return " ".join(text.split()).translate(_CONTROL)


def show_result(console: Console, result: Result) -> None:
    """Print the means of one result and what stands behind them."""
    summary = result.summary()
    names, *means = (
        Column(Text(header or "metric"), [Text(printable(cell)) for cell in cells])
        for header, *cells in zip(summary.header, *summary.rows, strict=True)
    )
    console.print(Text(printable(summary.title), style="bold"))
    console.print(Text(printable(summary.headline), style="dim"))
    show_table(console, [names], means)
    for note in summary.notes:
        console.print(Text(f"! {printable(note)}", style="yellow"))


def show_comparison(console: Console, results: Sequence[tuple[str, str, Result]], scores: Sequence[str]) -> None:
    """Print one row a result, the best of every score in bold if there are several.

    Args:
        console: Where to print.
        results: Retriever, chunker and result of each row.
        scores: The columns.
    """
    words = [
        Column(Text("retriever"), [Text(printable(retriever)) for retriever, _, _ in results]),
        Column(Text("chunker"), [Text(printable(chunker)) for _, chunker, _ in results]),
    ]
    headers = [Text(name.replace("_", "\n").replace("@", "\n@")) for name in scores]
    means = [best_in_green([result.metrics[name] for _, _, result in results], number) for name in scores]
    show_table(console, words, list(map(Column, headers, means)))


def best_in_green(means: Sequence[float | None], written: Callable[[float | None], str]) -> list[Text]:
    """Return the means of several results as cells, the best in green; of a single one nothing is best."""
    best = max((mean for mean in means if mean is not None), default=None) if len(means) > 1 else None
    return [Text(written(mean), style="bold green" if mean is not None and mean == best else "") for mean in means]


def show_worst(console: Console, result: Result, corpus: Corpus, n: int) -> None:
    """Print the weakest questions: the answer, and at which rank it was first met."""
    name = result.score_names[0]
    worst = [query for query in result.worst(n) if (query.scores.get(name) or 0.0) < 1.0]
    if not worst:
        return
    console.print(Text(f"Weakest questions by {name}", style="bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for query in worst:
        title = Text.assemble(f"{printable(query.text)} ", (f"({printable(query.query_id)})", "dim"))
        answers = (
            Padding(_answer(unit, corpus, query, result.evaluation_type), (0, 0, 0, 2), expand=False)
            for unit in query.relevant[:3]
        )
        grid.add_row(Text(number(query.scores.get(name)), style="red"), Group(title, *answers))
    console.print(grid)


def show_quotes(console: Console, check: QuoteCheck) -> None:
    """Print how many quotes were located, and each one that was not."""
    counts = Counter(row.status for row in check.rows)
    console.print(
        f"{counts['located']} of {len(check.rows)} quote{'s' * (len(check.rows) != 1)} located, "
        f"{counts['ambiguous']} ambiguous, "
        f"{counts['missing']} missing; questions without an answer: {counts['no-answer']}",
        highlight=False,
    )
    for row in check.problems:
        console.print(Text(printable(str(row)), style="yellow"))
        console.print(
            Padding(Text(f"“{printable(row.quote)[:_QUOTE_LENGTH]}”", style="dim"), (0, 0, 0, 2), expand=False)
        )
    if check.problems:
        console.print(Text(f"questions left out until their quotes are certain: {len(check.left_out)}", style="yellow"))


def detectable_difference(questions: int) -> float:
    """Return the smallest mean difference that so many questions can show, roughly: 0.85 / √n.

    For a paired comparison at 80 % power and α = .05, given that differences between pipelines vary with a standard
    deviation of about 0.3 per question, as they did between chunk sizes on 472 public questions.
    """
    return min(1.0, _DETECTABLE / sqrt(max(questions, 1)))


def _answer(unit: Any, corpus: Corpus, query: QueryResult[Any], evaluation_type: EvaluationType) -> Text:
    read = LEVELS[evaluation_type].read
    count = len(query.hits)
    ranks = [rank for rank, hit in enumerate(query.hits, 1) if _meets(read(hit), unit)]
    met = f"first met at rank {ranks[0]}" if ranks else f"not among {count} result{'s' * (count != 1)}"
    if not isinstance(unit, CharacterSpan):
        return Text.assemble((f"{printable(unit)} ", "cyan"), (met, "dim"))
    text = printable(corpus[unit.doc_id].content[unit.start : unit.end])
    shown = text if len(text) <= _QUOTE_LENGTH else f"{text[: _QUOTE_LENGTH - 1]}…"
    return Text.assemble((f"{printable(unit.doc_id)} ", "cyan"), (f"{met} ", "dim"), f"“{shown}”")


def _meets(found: Any, unit: Any) -> bool:
    if found is None:
        return False
    if isinstance(unit, CharacterSpan):
        return bool(unit.overlaps(found))
    return bool(found == unit or (unit.endswith("*") and found.startswith(unit[:-1])))
