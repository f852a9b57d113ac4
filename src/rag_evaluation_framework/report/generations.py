"""Generations in a terminal: what they will need, and what became of the questions that were asked for."""

from collections import defaultdict
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.report.tables import Column, show_table
from rag_evaluation_framework.report.wrapped import print_wrapped, quoted
from rag_evaluation_framework.synthesis.asking import FailedRequests
from rag_evaluation_framework.synthesis.candidates import Funnel, Rejection
from rag_evaluation_framework.synthesis.estimate import Estimate

_NOT_COUNTED = (
    "Not counted: requests that are made again, and what a model thinks before it answers, unless --max-tokens "
    "bounds it"
)
_EXAMPLES = 2
_MOST_TOLD = 400  # characters of what is particular about an example


def show_funnel(console: Console, funnel: Funnel) -> None:
    """Print how many questions were asked for and kept, and what was lost between, by its reason."""
    rows: list[tuple[Text, Text]] = [(Text("asked for"), Text(f"{funnel.asked:,}"))]
    for stage, count in (("parsed", funnel.parsed), ("verified", funnel.verified), ("kept", funnel.kept)):
        for lost, reasons in funnel.rejected.items():
            if lost == stage:
                rows += [
                    (Text(f"  {reason}", "dim"), Text(f"-{number:,}", "dim")) for reason, number in reasons.items()
                ]
        rows.append((Text(stage, "bold" if stage == "kept" else ""), Text(f"{count:,}")))
    words, numbers = zip(*rows, strict=True)
    show_table(console, [Column(Text("questions"), words)], [Column(Text(""), numbers)])
    if funnel.quotes:
        told = ", ".join(f"{count:,} {reason}" for reason, count in funnel.quotes.items())
        print_wrapped(console, Text(f"left out of questions: {told}", "dim"), 0)
    if funnel.extra:
        print_wrapped(console, Text(f"written beyond what was asked for, and not used: {funnel.extra:,}", "dim"), 0)


def show_rejections(console: Console, rejections: Sequence[Rejection], failed: Sequence[FailedRequests]) -> None:
    """Print for each reason up to two examples of what was not taken.

    Args:
        console: Where to print.
        rejections: What was not taken.
        failed: The requests that failed, which `show_failed` prints.
    """
    of_failures = {message for each in failed for message in each.messages}
    by_reason: defaultdict[str, list[Rejection]] = defaultdict(list)
    for rejection in rejections:
        if rejection.detail not in of_failures and (rejection.question or rejection.detail):
            by_reason[rejection.reason].append(rejection)
    if by_reason:
        console.print(Text("Not taken, for example", "bold"))
    for reason, examples in by_reason.items():
        print_wrapped(console, Text(reason), 2)
        for each in examples[:_EXAMPLES]:
            asked = quoted(each.question) if each.question else ", ".join(map(name_line, each.doc_ids))
            print_wrapped(console, Text(asked, "cyan"), 4)
            print_wrapped(console, Text(one_line(each.detail, _MOST_TOLD), "dim"), 6)


def show_failed(console: Console, failed: Sequence[FailedRequests]) -> None:
    """Print how many requests failed in which way, with what was told of the first of each, and how to go on."""
    if failed:
        console.print(Text("Requests that failed", "bold red"))
    for each in failed:
        count = len(each.messages)
        print_wrapped(
            console, Text(f"{count:,} time{'s' * (count != 1)}, {each.asking[:1].lower()}{each.asking[1:]}"), 2
        )
        print_wrapped(console, Text(one_line(each.messages[0], _MOST_TOLD), "dim"), 4)
    if any(each.asked_again for each in failed):
        print_wrapped(console, "Run the same command again: only what failed is asked.", 2)
    if any(not each.asked_again for each in failed):
        told = (
            "The other answers are kept: what cannot be used is asked for again with a greater --max-retries, what was "
            "cut off with a greater --max-tokens, and what the model refuses with another model."
        )
        print_wrapped(console, told, 2)


def show_estimate(console: Console, estimate: Estimate) -> None:
    """Print how many calls and tokens a generation needs, and what it costs: at least, usually and at most."""
    rows = {"calls": estimate.calls, "tokens read": estimate.input_tokens, "tokens written": estimate.output_tokens}
    if estimate.embedded_tokens is not None:
        rows["tokens embedded"] = estimate.embedded_tokens
    texts = [(name, [f"{end:,.0f}" for end in (each.least, each.usual, each.most)]) for name, each in rows.items()]
    if (cost := estimate.cost) is not None:
        texts.append(("cost", [f"{end:,.4g}" for end in (cost.least, cost.usual, cost.most)]))
    names = Column(
        Text(f"{estimate.questions:,} question{'s' * (estimate.questions != 1)}"), [Text(name) for name, _ in texts]
    )
    ends = [
        Column(Text(header), [Text(cells[number]) for _, cells in texts])
        for number, header in enumerate(("at least", "usually", "at most"))
    ]
    show_table(console, [names], ends)
    print_wrapped(console, Text(_NOT_COUNTED, "dim"), 0)
