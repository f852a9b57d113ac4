"""Generations in a terminal: what they will need, and what became of the questions that were asked for."""

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework.reports.tables import Column, show_table
from rag_evaluation_framework.reports.wrapped import print_wrapped
from rag_evaluation_framework.synthesis.estimate import Estimate
from rag_evaluation_framework.synthesis.funnel import Funnel


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


def show_estimate(console: Console, estimate: Estimate) -> None:
    """Print how many calls and tokens a generation needs, and what it costs: at least, usually and at most."""
    rows = {"calls": estimate.calls, "tokens read": estimate.input_tokens, "tokens written": estimate.output_tokens}
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
