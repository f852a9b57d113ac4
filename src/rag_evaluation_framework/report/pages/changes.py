"""What became of the labels of a dataset in edited documents, and of questions added to it, as people read it."""

from collections.abc import Iterator, Sequence
from itertools import chain

from rapidfuzz.distance import LCSseq

from rag_evaluation_framework.base.outside import name_line, one_line
from rag_evaluation_framework.data import Answer, CharacterSpan, Corpus, Query, count_skipped
from rag_evaluation_framework.labelling import Additions, LabelChange, Relabelled
from rag_evaluation_framework.report.page import Line, Lines, Page, Part, Passage, Passages, Role, line, plural
from rag_evaluation_framework.report.pages.quotes import quotes_page
from rag_evaluation_framework.report.wrapped import quoted
from rag_evaluation_framework.text.line_places import LinePlaces, folder_of

_MOST_SHOWN = 200
_MOST_PLACES = 3  # of one question, or one text
_ALL = "--json lists all of them"
_BESIDE, _LONGEST = 80, 120  # characters of a line on either side of a change, and of a question
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
        lost = [change for change in self.found.changed if not change.is_found]
        again = [[self._again(change, change.carried.span)] for change in self.found.changed if change.carried.span]
        folder = folder_of(self.corpus).removesuffix("/")
        more = len(lost) - _MOST_SHOWN
        return Page(
            f"{name_line(self.dataset.name)}{f', in {folder}' if folder else ''}",
            (
                Lines((*self._verdict(written), *(line((text, "muted")) for text in written))),
                change_passages(lost[:_MOST_SHOWN], self.corpus),
                Lines((line((f"… and {more:,} more; {_ALL}", "muted"), indent=2),) if more > 0 else ()),
                *([] if self.additions is None else [quotes_page(self.additions.check)]),
                *self._added(),
                _block(again, "Labels found again"),
            ),
        )

    def _verdict(self, written: Sequence[str]) -> Iterator[Line]:
        dataset, skipped = self.dataset, count_skipped(self.dataset.skipped)
        if self.found.changes or written:
            has_lost = any(not change.is_found for change in self.found.changes)
            yield line((self.found.counted(), "warning" if has_lost else "good"))
        if written:
            if self.additions is not None:
                yield line(self.additions.counted())
            answerable = f"{sum(bool(entry.relevant) for entry in dataset):,} with an answer"
            rest = f"{f'{skipped:,} more' if skipped else 'none'} {'are' if skipped > 1 else 'is'} skipped"
            yield line(f"The dataset has {plural(len(dataset), 'question')}, {answerable}; {rest}")

    def _again(self, change: LabelChange, span: CharacterSpan) -> Line:
        before = f"back{'' if change.kind == 'unchanged' else f', {change.kind}'}" if change.was_lost else change.kind
        was = f"{name_line(change.before.doc_id)}[{change.before.start}:{change.before.end}] → "
        text = f" {quoted(span.text if change.kind == 'taken' else change.before.text)}"
        return line((was, "muted"), (self.lines.path(span), "place"), text, indent=_KINDS, before=before)

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


def change_passages(changes: Sequence[LabelChange], corpus: Corpus) -> Passages:
    """Return labels that are for a person to look at, each as what stands in its place, with what differs.

    Args:
        changes: Labels that were not found.
        corpus: The documents as they are now.
    """
    lines = LinePlaces(corpus)
    return Passages(tuple(_shown(change, corpus, lines) for change in changes), "Labels to look at", around=0)


def _shown(change: LabelChange, corpus: Corpus, lines: LinePlaces) -> Passage:
    now, told = change.carried.proposal, f"{change.reason}: {one_line(change.query.text, _LONGEST)}"
    if now is None:
        return Passage((*word_diff(change.before.text, ""),), change.id, "", told)
    content = corpus[now.doc_id].content
    begin = content.rfind("\n", 0, now.start) + 1
    end = content.find("\n", now.end)
    before = one_line(content[max(begin, now.start - _BESIDE) : now.start])
    behind = one_line(content[now.end : min(end if end >= 0 else len(content), now.end + _BESIDE)])
    told = f"{told} (its text stands only here now)" if change.kind == "gone" else told
    parts = Part(f"{before} " * bool(before), "muted"), *word_diff(change.before.text, now.text)
    return Passage((*parts, Part(f" {behind}" * bool(behind), "muted")), f"{change.id} {lines.named(now)}", "", told)


def word_diff(before: str, now: str) -> Iterator[Part]:
    """Yield two texts as one, word by word: what went is between [- and -], what came between {+ and +}."""
    old, new = before.split(), now.split()
    at = there = 0
    between = ""
    for same in (*LCSseq.opcodes(old, new), None):
        if same is not None and same.tag != "equal":
            continue
        end, stop = (len(old), len(new)) if same is None else (same.src_start, same.dest_start)
        went, came = " ".join(old[at:end]), " ".join(new[there:stop])
        at, there = (end, stop) if same is None else (same.src_end, same.dest_end)
        kept = "" if same is None else " ".join(new[stop:there])
        told: dict[Role, str] = {"bad": went and f"[-{went}-]", "good": came and f"{{+{came}+}}", "": kept}
        for role, text in told.items():
            if text:
                yield Part(f"{between}{text}", role)
                between = " "


def _question(query: Query) -> Line:
    return line((query.text, "label"), (f" ({query.id})", "muted"), indent=2)


def _block(entries: Sequence[Sequence[Line]], title: str) -> Lines:
    """Return entries of some lines each, of many the first 200."""
    more = len(entries) - _MOST_SHOWN
    rest = [line((f"… and {more:,} more; {_ALL}", "muted"), indent=2)] * (more > 0)
    return Lines((*chain.from_iterable(entries[:_MOST_SHOWN]), *rest), title)
