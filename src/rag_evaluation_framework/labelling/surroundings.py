"""What readers are shown around a label: by it a text is known again whose neighbours were edited."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice, takewhile
from pathlib import PurePosixPath
from typing import Literal

from rag_evaluation_framework.data.label_contexts import CONTEXT, Anchor
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.shown_text import (
    CELL,
    FENCE,
    TELLING_KEYS,
    ShownWords,
    agreed,
    has_row_below,
    heading_above,
    is_below_rule,
    keys,
    kind_of_row,
    line_above_rows,
    words,
)
from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.markup import LINE_END, Markup

_FEWEST = 2  # that name a row: "FR"
_FEWEST_BEFORE = 6  # that are all of a context
_FEWEST_BESIDE = 8  # that begin a sentence
_READ = 4 * CONTEXT  # characters that are shown beside a place
_FARTHEST = 2_000  # characters: more than what is written between a text and what stood behind it
_QUESTION = re.compile(r"[?？؟](?:[\W_]|\{#[\w-]+\})*\Z")
_INTRODUCES = re.compile(r"[?:？：][\W_]*\Z")
_CUT_BEFORE = re.compile(r"\A(?:[^<>\n]*[\w\"'/]>|[^\s()\[\]]*\))")  # the end of a tag, or of the address of a link
_CUT_BEHIND = re.compile(r"(?:<[^<>]*|\]\([^()\s]*)\Z")
_ROW_END = re.compile(
    r"(?:[*_`.,;\"']|\]\([^()\s]*\)|\[\^[^\]\n]*\]|</\w+>|[ \t])*(?:\r?\n|\||<(?!su[bp])|\Z)", re.IGNORECASE
)
_CELL_END = {  # of tables in text; in a cell, white space stands behind a comma
    ".csv": re.compile(r"\"?(?:[,;](?![ \t])|[ \t]*(?:[\r\n]|\Z))"),
    ".tsv": re.compile(r"\"?[ ]*(?:[\t\r\n]|\Z)"),
}
_ELEMENT_END = re.compile(r"[.!?]?(?:</(?:a|b|code|em|i|strong)>)*[.!?]?\s*</(?:p|d[dt]|li|t[dh]|div)>", re.IGNORECASE)
_BEFORE_ITEM = re.compile(r"\n(?=[ \t]{0,3}(?:[-*+]|\d{1,9}[.)])[ \t])")
_SENTENCE_END = re.compile(r"(?:\]\([^()\s]*\)|\[\^[^\]\n]*\]|</\w+>|[*_`)\]\"'])*[.!?](?:\s|\Z)")
_BLOCK_END = re.compile(r"\n\s*(?:\n|[-*+#>|:]|\d{1,3}[.)]\s|\w+:\s)|</?(?:p|li|tr|div|h\d|d[dt])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is shown around a place; of texts, the letters and digits.

    Attributes:
        before: What is before it, as far as it is known.
        after: What is behind it.
        beside: The words before it in its line: in a row of a table, an item of a list, a setting.
        begins_line: Whether that is all of it.
        begins_cell: Whether it begins a cell of a table, so that what is beside it ends one.
        sentence: What is before it in its sentence; in a row, what is beside it.
        begins_sentence: Whether that is all of it.
        heading: The heading or the term right above it; "" if there is none, or it is not known.
        section: Of a row, the line above the rows, as far as it is known, such as a heading; "" if nothing is.
        question: What is before it in its line, or the line above, if it is a question; "" if it is none.
        row: What of its line says that it is one of several, each about something else: "marker" of a row, an item or
            a setting, "line" if the place is all of a line between others, and no sentence; "" if nothing does.
        ends_row: Whether its cell or its line ends behind it.
        ends_element: Whether its paragraph, cell or term of HTML ends behind it.
        ends_sentence: Whether its sentence ends behind it.
        goes_on: Whether neither does.
        is_first: Whether the line above ends with a colon or a question mark, or rules off the heads of a table, and no
            row is below.
    """

    before: str
    after: str
    beside: str
    begins_line: bool
    begins_cell: bool
    sentence: str
    begins_sentence: bool
    heading: str
    section: str
    question: str
    row: Literal["", "line", "marker"]
    ends_row: bool
    ends_element: bool
    ends_sentence: bool
    goes_on: bool
    is_first: bool

    @classmethod
    def of_anchor(cls, anchor: Anchor) -> "Surroundings":
        """Return what a label stood between, as far as its contexts tell.

        What is left of markup that the ends of the contexts cut is not among it.
        """
        before = anchor.before if len(anchor.before) < CONTEXT else _whole_lines(_CUT_BEFORE.sub("", anchor.before))
        after = _CUT_BEHIND.sub("", anchor.after) if len(anchor.after) == CONTEXT else anchor.after
        markup = markup_of(anchor.doc_id, f"{before}{anchor.text}{after}")
        start = len(before)
        return cls._of(markup, anchor.doc_id, start, start + len(anchor.text), len(anchor.before) < CONTEXT)

    @classmethod
    def of_place(cls, markup: Markup, span: CharacterSpan) -> "Surroundings":
        """Return what a place stands between.

        Args:
            markup: What is shown of its document.
            span: The place.
        """
        return cls._of(markup, span.doc_id, span.start, span.end, True)

    @classmethod
    def _of(cls, markup: Markup, doc_id: str, start: int, end: int, is_whole: bool) -> "Surroundings":
        lines = _lines_before(markup, start, ends_lines=True)
        beside, above = lines[0], next((line for line in lines[1:] if keys(line)), "")
        asking = beside if len(keys(beside)) >= _FEWEST else above
        cell_end = _CELL_END.get(PurePosixPath(doc_id).suffix.lower())
        before, row = keys(sign for line in reversed(lines) for sign in line), kind_of_row(markup.source, start, end)
        ends_sentence = _SENTENCE_END.match(markup.source, end) is not None
        line = markup.source.rfind("\n", 0, start) + 1
        ends_row = (cell_end or _ROW_END).match(markup.source, end) is not None
        sentence = keys(
            beside if cell_end or row == "marker" else _begun_sentence(lines, heading_above(markup.source, line))
        )
        return cls(
            before,
            keys(sign for sign, _, _ in islice(markup.characters(end, len(markup.source)), _READ)),
            words(beside).replace(LINE_END, " "),
            is_whole or len(lines) > 1,
            beside.rstrip(" \t").endswith(LINE_END),
            sentence,
            is_whole or len(sentence) < len(before),
            heading_above(markup.source, start),
            "" if cell_end or not row else line_above_rows(markup.source, start, is_whole),
            keys(asking[: asked.start()]) if (asked := _QUESTION.search(asking)) else "",
            "marker" if cell_end else row,
            ends_row,
            _ELEMENT_END.match(markup.source, end) is not None,
            ends_sentence,
            not (ends_row or ends_sentence),
            (_INTRODUCES.search(above) is not None or is_below_rule(markup.source, start))
            and not has_row_below(markup.source, end),
        )

    def are_of_another_row(self, now: "Surroundings") -> bool:
        """Return whether the row of a place begins with something else than that of a label: with BE, not with FR."""
        return self._are_of_rows(now) and self.beside != now.beside

    def are_told_by_row(self, now: "Surroundings", shown: ShownWords) -> bool:
        """Return whether the row of a place begins as that of a label did, and no other row of the document does."""
        is_named = len(self.beside) >= _FEWEST and self.beside == now.beside and self._are_of_rows(now)
        return is_named and shown.lines_begun(self.beside, now.begins_cell) == 1

    def introduce_others(self, shown: ShownWords) -> bool:
        """Return whether the begin of its row, its heading, or what is nearest to it before it, occurs elsewhere, too.

        Args:
            shown: The words of its document.
        """
        if self.row == "marker" and self.begins_line and len(self.beside) >= _FEWEST:
            return shown.lines_begun(self.beside, self.begins_cell) > 1
        nearest = self.heading or self.before[-TELLING_KEYS:]
        return bool(nearest) and shown.has_twice(nearest)

    def are_told_by_both(self, now: "Surroundings", shown: ShownWords, is_among_others: bool) -> bool:
        """Return whether what was behind a label is behind a place, and what was before it is before it.

        Of a row that begins with the text only the rows below it need be there; of a text right below its heading only
        that, and not what is above it.

        Args:
            now: What is around the place.
            shown: The words of its document; nothing else stands between both sides in it.
            is_among_others: Whether what was before the label was before other words, too. Then its sentence has to
                begin or go on as it did, or its rows have to be below the same heading.
        """
        if not self._is_behind_same(now):
            return False
        if is_among_others and not self._are_of_same(now, shown):
            return False
        if self._agreed_before(now) >= min(TELLING_KEYS, len(self.before)):
            return self.are_once(shown)
        tail = self.after[:TELLING_KEYS]
        if self.heading and self.heading == now.heading:
            return shown.has_once_between(self.heading, tail)
        if self._are_of_rows(now) and len(self.beside) < _FEWEST:
            return self.row == now.row and not (self.is_first or now.is_first)
        fewest = _FEWEST if self._are_of_rows(now) else _FEWEST_BESIDE
        is_begun = self.begins_line and self.beside == now.beside and len(self.beside) >= fewest
        return is_begun and shown.has_once_between(self.beside.replace(" ", ""), tail)

    def are_once(self, shown: ShownWords) -> bool:
        """Return whether no two things stand between the nearest 12 letters and digits before and behind a label."""
        return shown.has_once_between(self.before[-TELLING_KEYS:], self.after[:TELLING_KEYS])

    def are_told_by_before(self, now: "Surroundings", shown: ShownWords) -> bool:
        """Return whether what was before a label is before a place, and nowhere else.

        At least 12 letters and digits, or all that is known of it, if these are 6. If their sentences begin with
        something else, they have to go on as they did.

        Args:
            now: What is around the place.
            shown: The words of its document.
        """
        same = self._agreed_before(now)
        if same < max(min(TELLING_KEYS, len(self.before)), _FEWEST_BEFORE) or shown.has_twice(self.before[-same:]):
            return False
        return self._is_same_sentence(now) or (self.goes_on and self._is_behind_same(now))

    def _is_same_sentence(self, now: "Surroundings") -> bool:
        """Return whether the sentence of a place begins as that of a label, as far as it is known."""
        is_same = self.sentence == now.sentence
        return is_same or (not self.begins_sentence and now.sentence.endswith(self.sentence))

    def _is_behind_same(self, now: "Surroundings") -> bool:
        """Return whether the nearest 12 letters and digits behind a label, or none, are behind a place."""
        tail = self.after[:TELLING_KEYS]
        return agreed(tail, now.after) == len(tail) if tail else not now.after

    def _are_of_rows(self, now: "Surroundings") -> bool:
        return self.begins_line and self.row != "" != now.row

    def _are_of_same(self, now: "Surroundings", shown: ShownWords) -> bool:
        """Return whether a place is in the sentence of a label, or below the heading of its rows, if that is known.

        Right below a heading that others have, too, what is above that has to be there; no other sentence begins so.
        """
        if self.heading:
            return self._agreed_before(now) >= min(TELLING_KEYS, len(self.before))
        if self._are_of_rows(now):
            return bool(self.section and now.section) and _ends_alike(self.section, now.section)
        return self.goes_on or (self._is_same_sentence(now) and not shown.has_twice(self.sentence))

    def _agreed_before(self, now: "Surroundings") -> int:
        return agreed(self.before[::-1], now.before[::-1])

    def are_whole(self, now: "Surroundings") -> bool:
        """Return whether all that is known of what was around a label is around a place."""
        return now.before.endswith(self.before) and now.after.startswith(self.after)

    def are_of_another(self, now: "Surroundings", shown: ShownWords) -> bool:
        """Return whether a place is in another row, or answers another question, than a label, and its own is there.

        Args:
            now: What is around the place.
            shown: The words of its document; a question or the begin of a row that is not among them was reworded.
        """
        if self.question and now.question:
            return not _ends_alike(self.question, now.question) and shown.has(self.question)
        is_named = len(self.beside) >= _FEWEST and self.are_of_another_row(now)
        return is_named and shown.lines_begun(self.beside, is_cell=False) > 0


def _whole_lines(before: str) -> str:
    """Return a context in which lines are read as in their document: no fence opens code, and items begin lists."""
    fence = FENCE.search(before)
    return _BEFORE_ITEM.sub("\n\n", before[fence.end() :] if fence else before, count=1)


def is_written_behind(then: Surroundings, now: Surroundings, markup: Markup, end: int) -> bool:
    """Return whether something was written between a label and what stood behind it, in the same paragraph or row.

    Args:
        then: What the label stood between.
        now: What is around its place.
        markup: What is shown of the document.
        end: One past the last character of the place.
    """
    if then.row and now.row and then.ends_row:
        return not now.ends_row
    if then.ends_element:
        return not now.ends_element
    if now.ends_sentence:
        return False
    if then.ends_sentence and now.goes_on:
        return True
    tail = then.after[:TELLING_KEYS]
    signs = [
        (part, first)
        for sign, first, _ in islice(markup.characters(end, len(markup.source)), _FARTHEST)
        for part in key(sign)
    ]
    at = "".join(part for part, _ in signs).find(tail)
    return len(tail) == TELLING_KEYS and at > 0 and not _is_parted(markup.source, end, signs[at][1])


def _is_parted(source: str, start: int, end: int) -> bool:
    """Return whether a block ends between two offsets."""
    found = _BLOCK_END.search(source, start, end + CONTEXT)
    return found is not None and found.start() < end


def _lines_before(markup: Markup, start: int, ends_lines: bool) -> list[str]:
    """Return what is shown before a place, by lines, the nearest first; the cells of a row are in one line.

    Args:
        markup: What is shown of the document.
        start: The first character of the place.
        ends_lines: Whether a line ends where one ends in the source.
    """
    lines: list[list[str]] = [[]]
    for sign, first, behind in markup.characters_before(start, _READ):
        hidden = markup.source[first:behind] != sign
        if sign == LINE_END and (hidden or ends_lines) and not (hidden and CELL.match(markup.source, first)):
            lines.append([])
        else:
            lines[-1].append(sign)
    return ["".join(reversed(line)) for line in lines]


def _begun_sentence(lines: Sequence[str], heading: str) -> str:
    """Return what is shown before a place in its sentence; it may begin in a line above.

    Args:
        lines: The lines before the place, the nearest first.
        heading: The letters and digits of the heading above its line, if there is one.
    """
    begun: list[str] = []
    for line in chain(lines[:1], takewhile(lambda line: keys(line) not in ("", heading), lines[1:])):
        *ended, rest = _SENTENCE_END.split(line)
        begun.append(rest)
        if ended:
            break
    return " ".join(reversed(begun))


def _ends_alike(first: str, second: str) -> bool:
    return first.endswith(second) or second.endswith(first)
