"""What became of the labels of a dataset in edited documents, and of questions added to it, as people read it."""

from collections.abc import Iterator, Sequence
from itertools import chain

from rag_evaluation_framework.base.outside import name_line
from rag_evaluation_framework.data import Answer, CharacterSpan, Corpus, Query, count_skipped
from rag_evaluation_framework.labelling import Additions, LabelChange, Relabelled
from rag_evaluation_framework.report.page import Line, Lines, Page, line, plural
from rag_evaluation_framework.report.pages.quotes import nearest_lines, quotes_page
from rag_evaluation_framework.report.wrapped import quoted
from rag_evaluation_framework.text.line_places import LinePlaces, folder_of

_MOST_SHOWN = 200
_MOST_PLACES = 3  # of one question, or one text
_NOTHING = "nothing similar in the corpus"
_KINDS = 15  # characters of the first column


def update_page(
    found: Relabelled, corpus: Corpus, additions: Additions | None = None, written: Sequence[str] = ()
) -> Page:
    """Return what became of labels and questions, of each kind the first 200, those that were lost before the others.

    Args:
        found: What became of the labels.
        corpus: The documents as they are now.
        additions: What became of the questions of a table.
        written: What was written; nothing if the dataset stays as it was.
    """
    return _Update(found, corpus, additions).page(written)


def relabelling_text(skipped: int, again: str) -> str:
    """Return how the questions that a dataset skips are labelled again.

    Args:
        skipped: How many there are.
        again: The command that reads their quotes.
    """
    which, what = ("questions", "their answers") if skipped > 1 else ("question", "its answer")
    return f"\nTo label the skipped {which} again, quote {what} in a table of question and quote, then:{again}"


class _Update:
    def __init__(self, found: Relabelled, corpus: Corpus, additions: Additions | None) -> None:
        self.found, self.corpus, self.additions = found, corpus, additions
        self.dataset = found.dataset if additions is None else additions.dataset
        self.lines = LinePlaces(corpus)

    def page(self, written: Sequence[str]) -> Page:
        lost = [self._lost(change) for change in self.found.changed if change.found.span is None]
        again = [[self._again(change, change.found.span)] for change in self.found.changed if change.found.span]
        folder = folder_of(self.corpus).removesuffix("/")
        return Page(
            f"{name_line(self.dataset.name)}{f', in {folder}' if folder else ''}",
            (
                Lines((*self._verdict(written), *(line((text, "muted")) for text in written))),
                _block(lost, "Lost labels"),
                *([] if self.additions is None else [quotes_page(self.additions.check)]),
                *self._added(),
                _block(again, "Labels found again"),
            ),
        )

    def _verdict(self, written: Sequence[str]) -> Iterator[Line]:
        dataset, skipped = self.dataset, count_skipped(self.dataset.skipped)
        if self.found.changes or written:
            has_lost = any(change.found.span is None for change in self.found.changes)
            yield line((self.found.counted_spans(), "warning" if has_lost else "good"))
        if written:
            if self.additions is not None:
                yield line(self.additions.counted())
            answerable = f"{sum(bool(entry.relevant) for entry in dataset):,} with an answer"
            rest = f"{f'{skipped:,} more' if skipped else 'none'} {'are' if skipped > 1 else 'is'} skipped"
            yield line(f"The dataset has {plural(len(dataset), 'question')}, {answerable}; {rest}")

    def _again(self, change: LabelChange, span: CharacterSpan) -> Line:
        ignored = f" ({change.particulars})" if change.particulars else ""
        text = f" {quoted(change.before.text)}{ignored}"
        return line(
            (f"{change.was} → ", "muted"), (self.lines.path(span), "place"), text, indent=_KINDS, before=change.kind
        )

    def _lost(self, change: LabelChange) -> list[Line]:
        """Return what is needed to label a question again: why its label was lost, and the nearest text."""
        nearest = change.found.nearest
        why = f"{change.was}: {change.particulars}{f'; {change.left}' if change.left else ''}"
        return [
            _question(change.query),
            line((quoted(change.before.text), "muted"), indent=4),
            line((why, "warning"), indent=4),
            *(nearest_lines(nearest, folder_of(self.corpus)) if nearest else [line(_NOTHING, indent=4)]),
        ]

    def _added(self) -> Iterator[Lines]:
        if self.additions is not None:
            for kind, queries in (("Added", self.additions.added), ("Corrected", self.additions.corrected)):
                ids = {query.id for query in queries}
                entries = (entry for entry in self.dataset if entry.query.id in ids)
                yield _block([[_question(entry.query), *self._answers(entry.answers)] for entry in entries], kind)

    def _answers(self, answers: Sequence[Answer[CharacterSpan]]) -> Iterator[Line]:
        """Yield where the answers of a question are; the places of one are told apart by "or"."""
        spans = [
            ("or " * (number > 0 and not at), span)
            for answer in answers
            for number, place in enumerate(answer.places)
            for at, span in enumerate(place)
        ]
        for other, span in spans[:_MOST_PLACES]:
            yield line(other, (self.lines.path(span), "place"), f" {quoted(span.text)}", indent=4)
        if not spans:
            yield line("no answer in the corpus", indent=4)
        if len(spans) > _MOST_PLACES:
            yield line((f"… and {len(spans) - _MOST_PLACES:,} more", "muted"), indent=4)


def _question(query: Query) -> Line:
    return line((query.text, "label"), (f" ({query.id})", "muted"), indent=2)


def _block(entries: Sequence[Sequence[Line]], title: str) -> Lines:
    """Return entries of some lines each, of many the first 200."""
    more = len(entries) - _MOST_SHOWN
    rest = [line((f"… and {more:,} more; --changes FILE writes all of them", "muted"), indent=2)] * (more > 0)
    return Lines((*chain.from_iterable(entries[:_MOST_SHOWN]), *rest), title)
