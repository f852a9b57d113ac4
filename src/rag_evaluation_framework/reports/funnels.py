"""Funnels in a terminal: from what a language model was asked for to what is in the dataset."""

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework.reports.tables import Column, show_table
from rag_evaluation_framework.reports.wrapped import print_wrapped
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
