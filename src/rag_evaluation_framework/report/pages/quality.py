"""How good a dataset is as a test, beside public questions, as people read it; what is undefined is a dash."""

from collections.abc import Callable, Iterator, Sequence

from rag_evaluation_framework.base.outside import name_line
from rag_evaluation_framework.inspection import DatasetQuality, PublicQuestions, Spread
from rag_evaluation_framework.report.page import Line, Lines, Page, Table, line, plural

_UNDEFINED = "–"
_THIS = "yours"


def quality_page(quality: DatasetQuality, public: Sequence[PublicQuestions]) -> Page:
    """Return the figures of a dataset beside those of public questions.

    Args:
        quality: The figures of the dataset.
        public: Public questions and their figures.
    """
    columns = {_THIS: quality, **{known.title: known.quality for known in public}}
    sources = (
        line(f"{known.authors}. {known.source}", indent=13, before=known.title, role="muted") for known in public
    )
    return Page(
        f"{name_line(quality.name)} ({quality.evaluation_type})",
        (
            Lines(tuple(_verdict(quality, columns))),
            Table(
                ("", *columns),
                tuple((name, *map(cell, columns.values())) for name, cell in _ROWS),
                "Beside public questions",
                ("Answers and characters per question: median / 90th percentile",),
            ),
            Table(
                ("", *map(str, range(1, 11))),
                tuple((title, *_tenths(one)) for title, one in columns.items()),
                "Answers in each tenth of their documents, in %",
            ),
            Lines(tuple(sources), "Public questions"),
        ),
    )


def _verdict(quality: DatasetQuality, columns: dict[str, DatasetQuality]) -> Iterator[Line]:
    found = {title: one.bm25.found_at_1 for title, one in columns.items() if one.bm25 is not None}
    if _THIS in found:
        mine = _percent(found.pop(_THIS))
        others = ", ".join(f"{title} {_percent(share)}" for title, share in found.items())
        yield line((f"BM25 finds the answers of {mine} of the questions at rank 1 ({others})", "verdict"))
    if lost := quality.mismatched:
        labels = f"{plural(lost, 'label')} {'do' if lost > 1 else 'does'} not match the documents"
        asked = "their questions are" if lost > 1 else "its question is"
        yield line((f"{labels}, and {asked} not searched for: see dataset lint", "warning"))
    told = "whether users would ask these questions, nor whether the labels are all that answers them."
    yield line((f"None of this tells {told}", "muted"))


def _tenths(quality: DatasetQuality) -> list[str]:
    return [_UNDEFINED] * 10 if quality.positions is None else [f"{100 * share:.0f}" for share in quality.positions]


def _percent(share: float | None) -> str:
    return _UNDEFINED if share is None else f"{100 * share:.1f} %"


def _spread(spread: Spread | None) -> str:
    return _UNDEFINED if spread is None else f"{spread.median:,.0f} / {spread.p90:,.0f}"


def _of_bm25(name: str) -> Callable[[DatasetQuality], str]:
    return lambda quality: _percent(None if quality.bm25 is None else getattr(quality.bm25, name))


_ROWS: tuple[tuple[str, Callable[[DatasetQuality], str]], ...] = (
    ("questions", lambda quality: f"{quality.questions:,}"),
    ("of them with an answer", lambda quality: f"{quality.answerable:,}"),
    ("answers per question", lambda quality: _spread(quality.answers)),
    ("question characters", lambda quality: _spread(quality.question_characters)),
    ("answer characters", lambda quality: _spread(quality.answer_characters)),
    ("shared words", lambda quality: _percent(quality.shared_words)),
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
