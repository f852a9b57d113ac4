"""Labels carried from the texts in which they were placed to the texts of today: where their words went."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from rag_evaluation_framework.data import CharacterSpan, Corpus, Document
from rag_evaluation_framework.labelling.alignment import Alignment, Stood, Words
from rag_evaluation_framework.markups import Markup, markup_of
from rag_evaluation_framework.markups.characters import flat
from rag_evaluation_framework.markups.markup import effects
from rag_evaluation_framework.quotes.ends import are_cut
from rag_evaluation_framework.text import TextLocator

Kind: TypeAlias = Literal["unchanged", "moved", "taken", "changed", "uncertain", "gone"]
"""What became of a label.

`unchanged` and `moved`: it was found where it was, or elsewhere. `taken`: a person took what was proposed. `changed`:
some of its words are others now, or what is shown of them. `uncertain`: its words stand somewhere, and nobody can tell
whether they are its own. `gone`: none is left.
"""

_NEAR = 32  # characters on either side that tell whether a word or a number goes on
_LONGEST = 3  # times as many words as a label has, and 20 more, are where its words may be now
_MORE = 20
_HIDES = ("comments", "directives")


@dataclass(frozen=True)
class Carried:
    """What became of a label.

    Attributes:
        kind: What became of it.
        span: Where it is now; None unless it was found.
        proposal: Where a person may want it, if it was not found: what stands in its place, or its text elsewhere.
        why: What else keeps it from being found, such as "struck out"; "" if its words say it.
    """

    kind: Kind
    span: CharacterSpan | None = None
    proposal: CharacterSpan | None = None
    why: str = ""


class Carrier:
    """Carries labels of one corpus to another.

    Args:
        old: The documents in which labels were placed.
        new: The documents as they are now.
        stood: Returns which words stood in labelled documents that are not among these; see `Alignment`.
    """

    def __init__(self, old: Corpus, new: Corpus, stood: Stood | None = None) -> None:
        self.old, self.new, self._stood = old, new, stood

    @cached_property
    def _aligned(self) -> Alignment:
        return Alignment(self.old, self.new, self._stood)

    def carry(self, span: CharacterSpan) -> Carried:
        """Return what became of a label of the old corpus."""
        before = self.old[span.doc_id]
        if span.doc_id in self.new and self.new[span.doc_id].content == before.content:
            return Carried("unchanged", span)
        first, last = self._aligned.old.within(span.doc_id, span.start, span.end)
        if first >= last:
            return Carried("gone")
        words = self._between(first, last)
        if words is None:
            places = TextLocator.of(self.new).places(before.content[span.start : span.end], limit=2)
            return Carried("gone", None, places[0] if len(places) == 1 else None)
        now = self._with_signs(span, (first, last), words)
        if self._aligned.run_around(first, last) is None:
            return Carried("changed", None, now)
        if why := self._other(span, now):
            return Carried("changed", None, now, why)
        if not self._aligned.is_certain(first, last):
            return Carried("uncertain", None, now)
        same = (now.doc_id, now.start) == (span.doc_id, span.start)
        return Carried("unchanged" if same else "moved", now)

    def _between(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the words that stand today where those of a label were: from its first one that is left to its last.

        If words at an end of it are gone, they go as far as to the nearest word beside it in its line that is left;
        without one, as far as the line goes.
        """
        where, new = self._aligned.where, self._aligned.new
        low, high = self._aligned.old.line_at(first)[0], self._aligned.old.line_at(last - 1)[1]
        kept, ahead, behind = (
            [int(word) for word in where[slice(*place)] if word >= 0]
            for place in ((first, last), (low, first), (last, high))
        )
        near = [*kept, *ahead[-1:], *behind[:1]]
        if not near:
            return None
        begin = int(where[first]) if where[first] >= 0 else ahead[-1] + 1 if ahead else new.line_at(min(near))[0]
        end = (
            int(where[last - 1]) if where[last - 1] >= 0 else behind[0] - 1 if behind else new.line_at(max(near))[1] - 1
        )
        most = _LONGEST * (last - first) + _MORE
        for one, other in ((begin, end), (min(kept, default=-1), max(kept, default=-1))):
            if 0 <= one <= other < one + most and (new.codes[one : other + 1] >= 0).all():
                return one, other + 1
        return None

    def _with_signs(self, span: CharacterSpan, old: tuple[int, int], new: tuple[int, int]) -> CharacterSpan:
        """Return the place of words of today, with the signs at its ends that a label has at its ends.

        Args:
            span: The label.
            old: The first and one past the last word of the label.
            new: Those of its place.
        """
        words, before = self._aligned.new, self.old[span.doc_id]
        there = words.document_of(new[0])
        start, stop = int(words.starts[new[0]]), int(words.ends[new[1] - 1])
        low = int(words.ends[new[0] - 1]) if new[0] > words.bounds(there.id)[0] else 0
        high = int(words.starts[new[1]])  # of the gap behind a document, that is its end
        ahead = span.start, int(self._aligned.old.starts[old[0]])
        behind = int(self._aligned.old.ends[old[1] - 1]), span.end
        source, content = before.content, there.content
        shown, shown_there = self._markup(before, self._aligned.old), self._markup(there, words)
        if source[slice(*ahead)] == content[max(start - (ahead[1] - ahead[0]), 0) : start]:
            start -= ahead[1] - ahead[0]
        else:
            signs = _signs(shown, *ahead)
            start = next((at for at in range(start, low - 1, -1) if _signs(shown_there, at, start) == signs), start)
        if source[slice(*behind)] == content[stop : stop + behind[1] - behind[0]]:
            stop += behind[1] - behind[0]
        else:
            signs = _signs(shown, *behind)
            stop = next((at for at in range(stop, high + 1) if _signs(shown_there, stop, at) == signs), stop)
        return CharacterSpan(there.id, start, stop, content[start:stop])

    def _other(self, span: CharacterSpan, now: CharacterSpan) -> str:
        """Return what else than markup and typography differs in what is shown of a label and of its words today."""
        old, new = self.old[span.doc_id], self.new[now.doc_id]
        markup, markup_now = self._markup(old, self._aligned.old), self._markup(new, self._aligned.new)
        if flat(markup.shown(span.start, span.end)).strip() != flat(markup_now.shown(now.start, now.end)).strip():
            return "signs"
        if markup_now.hidden_as(now.start) in _HIDES and markup.hidden_as(span.start) not in _HIDES:
            return "hidden"
        if effects(markup, span.start, span.end) != effects(markup_now, now.start, now.end):
            return "struck out, raised or lowered"
        was, cut = _are_cut(old, span), _are_cut(new, now)
        if any(one and not other for one, other in zip(cut, was, strict=True)):
            return "part of another word or number"
        heads = zip(("column", "row"), heads_of(old, span), heads_of(new, now), strict=True)
        return next((f"another {what}" for what, one, other in heads if one != other), "")

    def _markup(self, document: Document, words: Words) -> Markup:
        if document.id not in words.markups:
            words.markups[document.id] = markup_of(document.id, document.content)
        return words.markups[document.id]


def _signs(markup: Markup, start: int, end: int) -> str:
    return flat(markup.shown(start, end)).strip()


def _are_cut(document: Document, span: CharacterSpan) -> tuple[bool, bool]:
    content = document.content
    before, behind = content[max(span.start - _NEAR, 0) : span.start], content[span.end : span.end + _NEAR]
    return are_cut(document.id, before, content[span.start : span.end], behind)


# What a cell of a table is about: its column and its row. A value under or beside another one says something else.

_CELL = {".csv": re.compile("[,;]"), ".tsv": re.compile("\t")}
_BORDER = re.compile(r"(?<!\\)\|")


def heads_of(document: Document, span: CharacterSpan) -> tuple[str, str]:
    """Return the words at the head of the column and of the row of a table in which a label is, "" where it has none.

    Rows are lines one below the other with a border `|` between their cells, in files of comma- or tab-separated values
    all lines. The first cell is the head of its row, the first line has those of the columns: all lines of such a file
    do, of other tables one above a rule.
    """
    content = document.content
    border = _CELL.get(PurePosixPath(document.id).suffix.lower(), _BORDER)

    def line_from(first: int) -> str:
        end = content.find("\n", first)
        return content[first : end if end >= 0 else len(content)]

    first = head = content.rfind("\n", 0, span.start) + 1
    if border.search(line_from(first)) is None:
        return "", ""
    while head > 0 and border.search(line_from(above := content.rfind("\n", 0, head - 1) + 1)):
        head = above
    column, lead = len(border.findall(content, first, span.start)), line_from(first)[:1] == "|"
    row = border.split(line_from(first))[lead] if column > lead else ""
    rule = line_from(head + len(line_from(head)) + 1)
    has_heads = border is not _BORDER or (rule.strip() and not rule.strip("|-: \t\r"))
    heads = border.split(line_from(head)) if head < first and has_heads else []
    return " ".join(heads[column].split()) if column < len(heads) else "", " ".join(row.split())
