"""Labels carried from the texts in which they were placed to the texts of today: where their words went."""

import csv
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
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
"""Outcome for a label in edited documents.

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
    """Outcome for a label, with its place in the documents of today.

    Attributes:
        kind: The outcome.
        span: Its place now; None unless it was found.
        proposal: The place that a person may want, if it was not found: that of the words in its place, or of its text
            elsewhere.
        why: The reason beside its words why it was not found, such as "struck out"; "" if its words say it.
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
        """Return the outcome for a label of the old corpus."""
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
        """Return the difference beyond markup and typography between a label and its words today; "" without one."""
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
        (column, row, start), (column_now, row_now, start_now) = heads_of(old, span.start), heads_of(new, now.start)
        last, last_now = heads_of(old, span.end - 1)[0], heads_of(new, now.end - 1)[0]  # a label may hold several cells
        if (column, last) != (column_now, last_now):
            return "another column"
        if row == row_now:
            return ""
        # A line that was wrapped anew has another key, or none: some words more or less before the same ones.
        run = self._aligned.run_around(*self._aligned.old.within(span.doc_id, start, span.end))
        begin, _ = self._aligned.new.within(now.doc_id, start_now, now.end)
        less, more = sorted((row.split(), row_now.split()), key=len)
        is_wrapped = run is not None and run[1] <= begin and more[len(more) - len(less) :] == less
        return "" if is_wrapped else "another row"

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


# What a value is about: the head of its column and of its row. Under or beside another one it says something else.

_DELIMITERS = {".csv": ",;", ".tsv": "\t"}
# The border between cells, and the line that is the key of the one below it: a short one, in definitions of any length.
_FORMS = dict.fromkeys([".html", ".htm"], (re.compile("\t"), re.compile(r"[^\n]{1,30}\n")))
_FORM = re.compile(r"(?<!\\)\|"), re.compile(r"[^\n]+\n(?=[ \t]*(?::[ \t]|<dd\b))")
_KEY = re.compile(  # "- **Team**:", "Team –", "team =", "<dt>Team</dt>"; without a mark not of a line of two sentences
    r"[ \t>]*(?P<marked>(?:[-*+•]|\d+[.)])[ \t]+|(?=[*_`:<]))?(?:<dt\b[^\n]*?</dt>|"
    r"(?:[^\n.!?:：]|[.!?:](?=[^\s*_`])){1,60}?(?:：|:[*_`]*(?=\s)|[ \t][-–—=]+>?(?=[ \t])))"
    r"(?(marked)|(?![^\n]*[.!?][ \t]+\S))"
)


def heads_of(document: Document, start: int) -> tuple[str, str, int]:
    """Return the heads of the column and of the row in which a label is, "" without, and where that of its row begins.

    Cells are those of comma- or tab-separated values, are parted by tabs in texts of HTML, and elsewhere by a border
    `|`. The first one with a text is the head of its row, the first row has those of the columns: with borders only
    above a rule. A line without cells has a key: what is before a colon, a dash or an equals sign within its first
    60 characters, or the line directly above: in text of HTML one of up to 30 characters, else that of a definition.
    """
    content, suffix = document.content, PurePosixPath(document.id).suffix.lower()
    border, key_line = _FORMS.get(suffix, _FORM)

    def line_from(begin: int) -> str:
        end = content.find("\n", begin)
        return content[begin : end if end >= 0 else len(content)]

    def shown(text: str) -> str:
        return flat(markup_of(document.id, text).text).strip()

    first = head = content.rfind("\n", 0, start) + 1
    heads, row = [""], [""]  # cells, the latter as far as to the label
    if suffix in _DELIMITERS:
        quotes = content.count('"', 0, first)
        while first and quotes % 2:  # the line begins within some
            before, first = first, content.rfind("\n", 0, first - 1) + 1
            quotes -= content.count('"', first, before)
        delimiter = max(_DELIMITERS[suffix], key=line_from(0).count)
        heads, row = _values(f"{line_from(0)}\n", delimiter), _values(f"{content[first:start]}_", delimiter)
    elif border.search(line_from(first)):
        while head > 0 and border.search(line_from(above := content.rfind("\n", 0, head - 1) + 1)):
            head = above
        rule, row = line_from(head + len(line_from(head)) + 1), border.split(content[first:start])
        if head < first and (suffix in _FORMS or (rule.strip() and not rule.strip("|-: \t\r"))):
            heads = border.split(line_from(head))
    else:
        above = content.rfind("\n", 0, max(first - 1, 0)) + 1
        if (key := _KEY.match(content, first) or key_line.match(content, above)) and key.end() <= start:
            first, row = key.start(), [key[0], ""]
    column, lead = len(row) - 1, next(filter(str.strip, row[:-1]), "")
    return shown(heads[column]) if column < len(heads) else "", shown(lead), first if lead else start


def _values(text: str, delimiter: str) -> list[str]:
    row = [""]
    with suppress(csv.Error):  # a cell of more than 131,072 characters
        *_, row = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    return row
