"""How good a dataset is as a test, beside public questions, in a terminal."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import name_line
from rag_evaluation_framework.inspection.dataset_info import Spread
from rag_evaluation_framework.inspection.quality import DatasetQuality, PublicQuestions
from rag_evaluation_framework.report.tables import Column, show_table
from rag_evaluation_framework.report.wrapped import print_wrapped

_UNDEFINED = "–"
_NOT_TOLD = (
    "None of this tells whether users would ask these questions, nor whether the labels are all that answers them."
)


def show_quality(console: Console, quality: DatasetQuality, public: Sequence[PublicQuestions]) -> None:
    """Print the figures of a dataset beside those of public questions; what is undefined is a dash.

    Args:
        console: Where to print.
        quality: The figures of the dataset.
        public: Public questions and their figures.
    """
    console.print(Text(f"{name_line(quality.name)} ({quality.evaluation_type})", style="bold"))
    columns = [("this dataset", quality), *((one.title, one.quality) for one in public)]
    words = Column(Text(""), [Text(label) for label, _ in _ROWS])
    show_table(
        console, [words], [Column(Text(title), [Text(cell(one)) for _, cell in _ROWS]) for title, one in columns]
    )
    print_wrapped(console, "Answers in each tenth of their documents, first to last, in %:", 0)
    for title, one in columns:
        print_wrapped(console, _tenths(one), 15, f"  {title}", "dim")
    console.print()
    if quality.mismatched:
        many = quality.mismatched != 1
        lost = f"! {quality.mismatched:,} label{'s do' if many else ' does'} not match the documents, and "
        lost += "their questions are not searched for" if many else "its question is not searched for"
        print_wrapped(console, Text(f"{lost}: see dataset lint", "yellow"), 0)
    for known in public:
        print_wrapped(console, Text(f"{known.title}: {known.authors}. {known.source}", "dim"), 0)
    print_wrapped(console, _NOT_TOLD, 0)


def _tenths(quality: DatasetQuality) -> str:
    if quality.positions is None:
        return _UNDEFINED
    return " ".join(f"{100 * share:3.0f}" for share in quality.positions)


def _percent(share: float | None) -> str:
    if share is None:
        return _UNDEFINED
    return f"{100 * share:.1f} %"


def _spread(spread: Spread | None) -> str:
    return _UNDEFINED if spread is None else f"{spread.median:,.0f} / {spread.p90:,.0f}"


def _of_bm25(name: str) -> Callable[[DatasetQuality], str]:
    return lambda quality: _percent(None if quality.bm25 is None else getattr(quality.bm25, name))


_ROWS: tuple[tuple[str, Callable[[DatasetQuality], str]], ...] = (
    ("questions", lambda quality: f"{quality.questions:,}"),
    ("of them with an answer", lambda quality: f"{quality.answerable:,}"),
    ("answers, median / 90th pct", lambda quality: _spread(quality.answers)),
    ("question characters", lambda quality: _spread(quality.question_characters)),
    ("answer characters", lambda quality: _spread(quality.answer_characters)),
    ("words shared with the answer", lambda quality: _percent(quality.shared_words)),
    ("questions that share none", lambda quality: _percent(quality.no_shared_words)),
    ("questions that copy it", lambda quality: _percent(quality.copied)),
    ("near-duplicate questions", lambda quality: _percent(quality.near_duplicates)),
    ("documents with an answer", lambda quality: _percent(quality.documents)),
    ("text that is an answer", lambda quality: _percent(quality.text)),
    ("BM25: found at rank 1", _of_bm25("found_at_1")),
    ("BM25: found by rank 10", _of_bm25("found_at_10")),
    ("BM25: recall at 10", _of_bm25("recall_at_10")),
    ("BM25: MRR at 10", lambda quality: _UNDEFINED if quality.bm25 is None else f"{quality.bm25.mrr_at_10:.3f}"),
)
