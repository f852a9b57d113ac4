"""What became of the labels of a dataset in edited documents, and of questions added to it, as people read it."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from rapidfuzz.distance import LCSseq

from rag_evaluation_framework.base.outside import name_line, one_line
from rag_evaluation_framework.data import Answer, CharacterSpan, Corpus, Query, count_skipped
from rag_evaluation_framework.labelling import Additions, LabelChange, Relabelled
from rag_evaluation_framework.report.page import Line, Lines, Part, Passage, Passages, Role, line, plural
from rag_evaluation_framework.report.page import Page as Page
from rag_evaluation_framework.report.pages.quotes import more_lines, quotes_page, shares
from rag_evaluation_framework.report.wrapped import quoted
from rag_evaluation_framework.text.text_locator import LinePlaces, folder_of

_MOST_PLACES = 3  # of one question, or one text
_BESIDE, _LONGEST = 80, 120  # characters of a line on either side of a change, and of a question
_KINDS = 15  # characters of the first column
_LOOK = {"gone": "Gone", "uncertain": "Not certain", "changed": "Changed"}  # the weakest first


def update_page(
    found: Relabelled,
    corpus: Corpus,
    additions: Additions | None = None,
    written: Sequence[str] = (),
    whole: bool = False,
) -> Page:
    """Return what became of labels and questions, the weakest first: those that are gone, uncertain, and changed.

    Args:
        found: What became of the labels.
        corpus: The documents as they are now.
        additions: What became of the questions of a table.
        written: What was written; nothing if the dataset stays as it was.
        whole: Up to 5,000 of them, instead of the 4 that fit on a screen.
    """
    return _Update(found, corpus, additions, whole).page(written)


def relabelling_text(skipped: int, label: str, table: str) -> str:
    """Return how the questions that a dataset skips are labelled again.

    Args:
        skipped: How many there are.
        label: The command that asks a person about them.
        table: The command that reads their quotes.
    """
    which, what = ("questions", "their answers") if skipped > 1 else ("question", "its answer")
    return (
        f"\nTo label the skipped {which} again, by choosing among passages:{label}\n\n"
        f"Or quote {what} in a table of question and quote, then:{table}"
    )


class _Update:
    def __init__(self, found: Relabelled, corpus: Corpus, additions: Additions | None, whole: bool) -> None:
        self.found, self.corpus, self.additions, self.whole = found, corpus, additions, whole
        self.dataset = found.dataset if additions is None else additions.dataset
        self.lines = LinePlaces(corpus)

    def page(self, written: Sequence[str]) -> Page:
        folder = folder_of(self.corpus).removesuffix("/")
        look: dict[str, Sequence[Any]] = {
            title: [one for one in self.found.changed if not one.is_found and one.kind == kind]
            for kind, title in _LOOK.items()
        }
        fine: dict[str, Sequence[Any]] = {"Labels found again": [one for one in self.found.changed if one.is_found]}
        if self.additions is not None:
            for kind, queries in (("Added", self.additions.added), ("Corrected", self.additions.corrected)):
                ids = {query.id for query in queries}
                fine[kind] = [entry for entry in self.dataset if entry.query.id in ids]
        kinds = look | fine
        shown = shares([*map(len, kinds.values())], self.whole)
        if not self.whole and shown != [*map(len, kinds.values())] and any(look.values()):
            kinds, shown = look, shares([*map(len, look.values())], False)  # the others are counted above
        counted = zip(kinds.items(), shown, strict=True)
        pages = {title: self._kind(title, entries, count) for (title, entries), count in counted if count}
        first = [pages.pop(title) for title in look if title in pages]
        table = () if self.additions is None else (quotes_page(self.additions.check, self.whole),)
        verdict = Lines((*self._verdict(written), *(line((text, "muted")) for text in written)))
        title = f"{name_line(self.dataset.name)}{f', in {folder}' if folder else ''}"
        return Page(title, (verdict, *first, *table, *pages.values()))

    def _kind(self, title: str, entries: Sequence[Any], most: int) -> Page:
        """Return entries of one kind, of many the first ones: labels to look at, labels that were found, questions."""
        blocks: list[Lines | Passages] = []
        if title in _LOOK.values():
            blocks.append(change_passages(entries[:most], self.corpus, None))
        elif title == "Labels found again":
            spans = ((change, change.carried.span) for change in entries[:most])
            blocks.append(Lines(tuple(self._again(change, span) for change, span in spans if span)))
        else:
            told = ([_question(one.query), *self._answers(one.answers)] for one in entries[:most])
            blocks.append(Lines(tuple(chain.from_iterable(told))))
        count = f"{len(entries):,}" if len(entries) > most or self.whole else ""
        rest = Lines(more_lines(len(entries), most))
        return Page(title, (*blocks, rest), aside=count, folded=self.whole and title not in _LOOK.values())

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
        if any(change.carried.proposal for change in self.found.changes):
            yield line("--take ID makes a label what stands there now.")

    def _again(self, change: LabelChange, span: CharacterSpan) -> Line:
        before = f"back{'' if change.kind == 'unchanged' else f', {change.kind}'}" if change.was_lost else change.kind
        was = f"{name_line(change.before.doc_id)}[{change.before.start}:{change.before.end}] → "
        text = f" {quoted(span.text if change.kind == 'taken' else change.before.text)}"
        return line((was, "muted"), (self.lines.path(span), "place"), text, indent=_KINDS, before=before)

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


def change_passages(changes: Sequence[LabelChange], corpus: Corpus, around: int | None = _BESIDE) -> Passages:
    """Return labels that are for a person to look at, each as what stands in its place, with what differs.

    Args:
        changes: Labels that were not found.
        corpus: The documents as they are now.
        around: How many lines around what differs a terminal shows; by default all, None for those next to it.
    """
    lines = LinePlaces(corpus)
    return Passages(tuple(_shown(change, corpus, lines) for change in changes), around=around)


def _shown(change: LabelChange, corpus: Corpus, lines: LinePlaces) -> Passage:
    now, question = change.carried.proposal, one_line(change.query.text, _LONGEST)
    if now is None:
        return Passage((*word_diff(change.before.text, ""),), "", change.id, f"{change.reason}: {question}")
    content = corpus[now.doc_id].content
    begin = content.rfind("\n", 0, now.start) + 1
    end = content.find("\n", now.end)
    before = one_line(content[max(begin, now.start - _BESIDE) : now.start])
    behind = one_line(content[now.end : min(end if end >= 0 else len(content), now.end + _BESIDE)])
    is_there = now.doc_id == change.before.doc_id and not change.carried.why
    told = f"{change.kind if is_there else change.reason}: {question}"
    told = f"{told} (its text stands only here now)" if change.kind == "gone" else told
    parts = Part(f"{before} " * bool(before), "muted"), *word_diff(change.before.text, now.text)
    return Passage((*parts, Part(f" {behind}" * bool(behind), "muted")), lines.path(now), change.id, told)


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
