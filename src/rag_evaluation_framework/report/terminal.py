"""Results in a terminal; outside text is printed literally, so neither markup nor control codes take effect."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rag_evaluation_framework._outside import fit_to_keep, name_line, one_line
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.levels.level_rules import LevelRules
from rag_evaluation_framework.report.summaries import show_summary, show_summary_table
from rag_evaluation_framework.report.tables import Column, show_table
from rag_evaluation_framework.report.wrapped import print_wrapped, quoted, shortened
from rag_evaluation_framework.results.query_result import QueryResult
from rag_evaluation_framework.results.result import EvaluationResult
from rag_evaluation_framework.results.summary import SKIPPED, number

_MOST_NAMED = 3
_LINE = 1000
_MOST_SKIPPED = 10

Result = EvaluationResult[Any]


def show_result(console: Console, result: Result) -> None:
    """Print the means of a result, with its counts and notes, the questions that were skipped, and the latency."""
    summary = result.summary()
    show_summary(console, summary, "metric")
    _show_skipped(console, result)
    if summary.latency is not None:
        show_summary_table(console, summary.latency)


def _show_skipped(console: Console, result: Result) -> None:
    """Print the labels that could not be placed, of many the first ten: question, quote and reason."""
    if result.skipped:
        console.print(Text(SKIPPED, style="bold"))
    for label in result.skipped[:_MOST_SKIPPED]:
        asked = f"{one_line(fit_to_keep(label.query.text), _LINE)} ({name_line(label.query.id)})"
        print_wrapped(console, Text(asked, "yellow"), 2)
        if label.quote:
            print_wrapped(console, Text(quoted(fit_to_keep(label.quote)), "dim"), 4)
        print_wrapped(console, one_line(fit_to_keep(label.reason), _LINE), 4)
    more = len(result.skipped) - _MOST_SKIPPED
    if more > 0:
        print_wrapped(console, f"{more:,} more label{'s' * (more > 1)} that could not be placed", 2)


def show_comparison(console: Console, results: Sequence[tuple[str, str, Result]], scores: Sequence[str]) -> None:
    """Print one row per result, with the best value of every score in green if there are several.

    Args:
        console: Where to print.
        results: Retriever, chunker and result of each row.
        scores: The columns.
    """
    words = [
        Column(Text("retriever"), [Text(name_line(retriever)) for retriever, _, _ in results]),
        Column(Text("chunker"), [Text(name_line(chunker)) for _, chunker, _ in results]),
    ]
    headers = [Text(name_line(name).replace("_", "\n").replace("@", "\n@")) for name in scores]
    means = [best_in_green([result.metrics[name] for _, _, result in results], number) for name in scores]
    show_table(console, words, list(map(Column, headers, means)))


def best_in_green(means: Sequence[float | None], written: Callable[[float | None], str]) -> list[Text]:
    """Return the means of several results as cells, the best in green; a single mean is not highlighted."""
    best = max((mean for mean in means if mean is not None), default=None) if len(means) > 1 else None
    return [Text(written(mean), style="bold green" if mean is not None and mean == best else "") for mean in means]


def show_worst(console: Console, result: Result, corpus: Corpus, n: int) -> None:
    """Print the weakest questions, each with its notes, its answers and the rank at which they were first found.

    Of an answer with several places, the one is shown of which the most was found, and where the others are.
    """
    name = result.score_names[0]
    scores = result.per_query(name)
    worst = [query for query in result.worst(n) if (scores[query.query_id] or 0.0) < 1.0]
    if not worst:
        return
    console.print(Text(f"Weakest questions by {name_line(name)}", style="bold"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for query in worst:
        title = Text.assemble(f"{one_line(query.noted_text, _LINE)} ", (f"({name_line(query.query_id)})", "dim"))
        answers = (
            Padding(_answer(answer, found, corpus, query, result.evaluation_type), (0, 0, 0, 2), expand=False)
            for answer, found in zip_longest(query.answers[:3], query.places_found[:3])
        )
        grid.add_row(Text(number(scores[query.query_id]), style="red"), Group(title, *answers))
    console.print(grid)


def _answer(
    answer: Answer[Any],
    found: tuple[Any, ...] | None,
    corpus: Corpus,
    query: QueryResult[Any],
    evaluation_type: EvaluationType,
) -> Text:
    rules = RULES[evaluation_type]
    place = found or answer.reference
    where, quote = rules.shown(place[0], corpus)
    quotes = [quote, *(rules.shown(unit, corpus)[1] for unit in place[1:])]
    others = [rules.shown(other[0], corpus)[0] for other in answer.places if other != place]
    became = f"{_became(place, query, rules)}{_also(others)}"
    if not quote:
        return Text.assemble((f"{name_line(where)}, ", "cyan"), (became, "dim"))
    return Text.assemble((f"{name_line(where)} ", "cyan"), (f"{became} ", "dim"), " … ".join(map(quoted, quotes)))


def _also(others: Sequence[str]) -> str:
    """Return in which documents the other places of an answer are; "" if it has none."""
    if not others:
        return ""
    names = [name_line(name) for name in dict.fromkeys(others)]
    more = len(names) - _MOST_NAMED
    named = f"{', '.join(names[:_MOST_NAMED])}{f' and {more} more documents' if more > 0 else ''}"
    return f"; {len(others)} other place{'s' * (len(others) != 1)}, in {named}"


def _became(place: Sequence[Any], query: QueryResult[Any], rules: LevelRules[Any]) -> str:
    """Return at which rank a place was first found, or why it was not."""
    if query.status == "failed":
        failure = next(failure for failure in query.failures if failure.stage == "retrieve")
        return f"retrieval failed: {shortened(one_line(f'{failure.kind}: {failure.message}'))}"
    count = len(query.hits)
    found = [rules.level.read(hit) for hit in query.hits]
    ranks = (
        rank for rank, hit in enumerate(found, 1) if hit is not None and any(rules.found(unit, hit) for unit in place)
    )
    first = next(ranks, None)
    return f"not in {count} result{'s' * (count != 1)}" if first is None else f"first found at rank {first}"
