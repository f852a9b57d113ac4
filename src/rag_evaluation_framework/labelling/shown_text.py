"""Labels, rows and words of a document as a renderer shows them, recognised whatever their markup is."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from rag_evaluation_framework.data import CharacterSpan, Corpus
from rag_evaluation_framework.data.label_contexts import CONTEXT, Anchor
from rag_evaluation_framework.labelling.telling import tells
from rag_evaluation_framework.markups.characters import flat, key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.markup import LINE_END, Effects, Markup, effects
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.quotes.quote_matcher import in_order
from rag_evaluation_framework.text.text_locator import is_long

# The words of a document as they are shown, by which it is told how often something stands in it.

CELL = re.compile(r"\||</?t[dh]\b", re.IGNORECASE)
"""What begins or ends a cell of a table."""

_BORDER = "\x1f"
_BETWEEN = 200  # letters and digits that are looked through for another value between two texts
_GAP = re.compile(rf"[ \n{_BORDER}]")
_BLANKS = re.compile(r" {2,}")
_LINE_END = re.compile(r" ?\n[ \n]*")
_BORDERS = re.compile(rf"[ \n]*{_BORDER}[ \n]*")


class ShownWords:
    """The words of a document: their letters and digits.

    Args:
        markup: What is shown of the document.
    """

    def __init__(self, markup: Markup) -> None:
        self._lines = f"\n{words(_with_borders(markup))}\n"
        self._keys = _GAP.sub("", self._lines)

    def has(self, keys: str) -> bool:
        """Return whether some letters and digits stand in the document."""
        return keys in self._keys

    def has_twice(self, keys: str) -> bool:
        """Return whether some letters and digits stand in the document more than once."""
        return self._keys.find(keys, self._keys.find(keys) + 1) >= 0

    def has_once_between(self, before: str, after: str) -> bool:
        """Return whether no two things stand between two stretches of letters and digits; at most 200 of them each.

        Behind the first stretch, if the second is empty.
        """
        if not after:
            return not self.has_twice(before)
        found: set[int] = set()
        at = 0
        while before and (at := self._keys.find(before, at)) >= 0:
            at += len(before)
            if (behind := self._keys.find(after, at, at + _BETWEEN + len(after))) > at:
                found.add(behind)
        return len(found) < 2

    def lines_begun(self, begin: str, is_cell: bool) -> int:
        """Return how many lines or cells begin with some words, as `words` returns them.

        Args:
            begin: The words.
            is_cell: Whether they have to end a cell, too.
        """
        written = rf"[ \n{_BORDER}]".join(map(re.escape, begin.split()))
        behind = _BORDER if is_cell else rf"[ \n{_BORDER}]"
        return len(re.findall(rf"[\n{_BORDER}]{written}(?={behind})", self._lines))


def _with_borders(markup: Markup) -> str:
    """Return what is shown of a document, with a sign of its own where a cell of a table begins or ends."""
    pieces: list[str] = []
    at = 0
    for first, behind, _, shown in markup.parts(0, len(markup.source)):
        pieces += (markup.source[at:first], _BORDER if CELL.match(markup.source, first) else shown)
        at = behind
    return "".join((*pieces, markup.source[at:]))


def words(shown: str) -> str:
    """Return the letters and digits of a text, a blank or a line end where other characters stand."""
    signs = {ord(sign): key(sign) or (sign if sign in (LINE_END, _BORDER) else " ") for sign in set(shown)}
    lines = _LINE_END.sub(LINE_END, _BLANKS.sub(" ", shown.translate(signs))).strip(" \n")
    return _BORDERS.sub(_BORDER, lines) if _BORDER in lines else lines


# A labelled span as a renderer shows it: recognised although its markup and its typography have changed.

FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n`]*\n(?!.*^[ \t>]*(?:`{3,}|~{3,}))", re.MULTILINE | re.DOTALL)
TELLING_KEYS = 12  # letters and digits: about as many as 16 characters have
_SHOWN = 4 * CONTEXT  # characters beside a place: more than what is shown of a context


@dataclass(frozen=True)
class ShownAnchor:
    """What is shown of a labelled span and its contexts; of the labelled document nothing else is known.

    Attributes:
        anchor: The span.
        text: What is shown of its text.
        before: What is shown of the context before it; None if the text was read without it.
        after: What is shown of the context behind it.
        leading: The markup with which its text begins: "emphasis", "list markers".
        trailing: The markup with which it ends.
        ignoring: All markup within it.
        effects: What of it is struck out, raised or lowered.
        is_read: Whether markup is read before and behind what is shown of it: it neither begins nor ends within code.
        in_code: Whether its first character is code, or of a document without markup.
    """

    anchor: Anchor
    text: str
    before: str | None
    after: str
    leading: tuple[str, ...]
    trailing: tuple[str, ...]
    ignoring: tuple[str, ...]
    effects: Effects
    is_read: tuple[bool, bool]
    in_code: bool

    @classmethod
    def readings(cls, anchor: Anchor) -> "list[ShownAnchor]":
        """Render a labelled span with its contexts, as the suffix of its document says.

        There are several ways to read it, as the context is cut somewhere: what stands below the fence of a code block
        is code, or the block has ended; a sign of markup in the context opens something, or closes it.
        """
        whole, fence = cls._of(anchor, 0), FENCE.search(anchor.before)
        cuts = [*([fence.end()] if fence else []), *([] if whole.in_code else [len(anchor.before)])]
        others = [cls._of(anchor, cut) for cut in cuts]
        return [whole, *(other for other in others if other.text != whole.text)]

    @classmethod
    def _of(cls, anchor: Anchor, cut: int) -> "ShownAnchor":
        source = f"{anchor.before[cut:]}{anchor.text}{anchor.after}"
        markup = markup_of(anchor.doc_id, source)
        start = len(anchor.before) - cut
        end = start + len(anchor.text)
        shown = [place for sign, place, _ in markup.characters(start, end) if not sign.isspace()] or [start]
        return cls(
            anchor,
            markup.shown(start, end),
            None if cut else markup.shown(0, start),
            markup.shown(end, len(source)),
            tuple(what for _, _, what, _ in markup.parts(start, shown[0])),
            tuple(what for _, _, what, _ in markup.parts(shown[-1] + 1, end)),
            tuple(dict.fromkeys(what for _, _, what, _ in markup.parts(start, end))),
            effects(markup, start, end),
            _is_read(markup, shown[0], shown[-1] + 1),
            not markup.is_read(shown[0]),
        )

    def is_at(self, markup: Markup, span: CharacterSpan, unique: bool) -> bool:
        """Return whether a place that shows the text of the label is its place.

        It has both contexts beside it, with the ends of the document if they reached them; of a unique text, the
        nearest 12 letters and digits of one will do: what was unique as it stood may have been shown elsewhere, too. Of
        a short one, others tell whether what is before it says the same of it. It begins
        a block if the label has its list marker or number signs, and the same of it is struck out, raised or lowered.
        Signs that are hidden in the label may have stood in code, of which neither begin nor end is known: then they
        would stand in code here.

        Args:
            markup: What is shown of the document.
            span: The place.
            unique: Whether the text was unique, and is so as it is shown.
        """
        read = _is_read(markup, span.start, span.end)
        if self.ignoring and any(before and not now for now, before in zip(read, self.is_read, strict=True)):
            return False
        if effects(markup, span.start, span.end) != self.effects:
            return False
        if self.text.lstrip(" \t").startswith(LINE_END) and not _begins_block(markup, span.start):
            return False
        around = self._around(markup, span.start, span.end)
        if unique and not is_long(self.text):
            return True
        if unique and any(agreed(*map(keys, pair)) >= TELLING_KEYS for side in around for pair in side):
            return True
        cut = len(self.anchor.before) == CONTEXT, len(self.anchor.after) == CONTEXT
        beside = [
            any(there.startswith(wanted) if goes_on else there == wanted for wanted, there in side)
            for goes_on, side in zip(cut, around, strict=True)
        ]
        return all(beside) and tells(self.anchor.before, self.anchor.after)

    def _around(self, markup: Markup, start: int, end: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return what should be before and behind a place, and what is: as shown, and as it stands; nearest first.

        Of a link that is cut by the end of a context, nobody knows what is shown.
        """
        first, last = self.widened(markup, start, end)
        before = "".join(sign for sign, _, _ in reversed(markup.characters_before(start, _SHOWN)))
        behind = "".join(sign for sign, _, _ in islice(markup.characters(end, len(markup.source)), _SHOWN))
        stands = markup.source[max(first - _SHOWN, 0) : first], markup.source[last : last + _SHOWN]
        return (
            [
                (flat(wanted).strip()[::-1], flat(there).strip()[::-1])
                for wanted, there in ((self.before, before), (self.anchor.before, stands[0]))
                if wanted is not None
            ],
            [
                (flat(self.after).strip(), flat(behind).strip()),
                (flat(self.anchor.after).strip(), flat(stands[1]).strip()),
            ],
        )

    def widened(self, markup: Markup, start: int, end: int) -> tuple[int, int]:
        """Return a place with the markup around it that the label included, as far as it is there."""
        first, last = markup.touching(start, end)
        starts = [place for place, _, what, _ in markup.parts(first, start) if what in self.leading]
        ends = [behind for _, behind, what, _ in markup.parts(end, last) if what in self.trailing]
        return min(starts, default=start), max(ends, default=end)


def _begins_block(markup: Markup, start: int) -> bool:
    return all(sign == LINE_END for sign, _, _ in markup.characters_before(start, 1))


def _is_read(markup: Markup, start: int, end: int) -> tuple[bool, bool]:
    first, behind = markup.touching(start, end)
    return markup.is_read(first), markup.is_read(behind)


def keys(signs: Iterable[str]) -> str:
    """Return the letters and digits of a text, as they are compared."""
    return "".join(map(key, signs))


def agreed(first: str, second: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    pairs = zip(first, second, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(first), len(second)))


# Where labels are shown as they were, in their documents whose markup and typography have changed.

MayBe = Callable[[Anchor, CharacterSpan], bool]
ShownPlace = dict[CharacterSpan, tuple[str, ...]]


class ShownPlaces:
    """Finds labels by what a renderer shows of them and of their contexts.

    Args:
        corpus: The documents as they are now.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._locators: dict[str, QuoteLocator] = {}

    def places(self, anchor: Anchor, limit: int, may_be: MayBe) -> ShownPlace:
        """Return the places of a label in its document, and what is ignored at each.

        Args:
            anchor: The label; of a text that was unique.
            limit: A text that is shown so often is not looked at.
            may_be: Whether a place of the text is possible.
        """
        if anchor.doc_id not in self.corpus:
            return {}
        quotes = self._quotes(anchor.doc_id)
        readings = (_places(label, quotes, limit, may_be) for label in ShownAnchor.readings(anchor))
        nowhere: ShownPlace = {}
        return next(filter(None, readings), nowhere)

    def _quotes(self, doc_id: str) -> QuoteLocator:
        if doc_id not in self._locators:
            self._locators[doc_id] = QuoteLocator.of(Corpus([self.corpus[doc_id]]))
        return self._locators[doc_id]


def _places(label: ShownAnchor, quotes: QuoteLocator, limit: int, may_be: MayBe) -> ShownPlace:
    found = quotes.places_as_shown(label.text, limit=limit)
    possible = [(span, names) for span, names in found if may_be(label.anchor, span)] if len(found) < limit else []
    unique = len(possible) == 1
    places: ShownPlace = {}
    for span, names in possible:
        markup = quotes.markups[quotes.numbers[span.doc_id]]
        if label.is_at(markup, span, unique):
            start, end = label.widened(markup, span.start, span.end)
            whole = CharacterSpan(span.doc_id, start, end, markup.source[start:end])
            places[whole] = in_order((*label.ignoring, *names))
    return places


# Rows of tables, items of lists and settings, in the source of a document: what says that a line is one of several.

_READ = 4 * CONTEXT  # characters before a place
_FARTHEST = 2_000  # characters: more than a list of rows has, as a rule
_ROW = re.compile(
    r"\s*(?:[-*+•>#|]|\d{1,3}[.)]\s|<(?:li|tr|t[dh]|option)\b|:\w[^:\n]*:\s|[\w\"'][\w\"' .-]{0,40}[:=])", re.IGNORECASE
)
_ROW_BEGIN = re.compile(r"[ \t]*(?:[-*+•>|:]|\d{1,3}[.)])?")
_LINE = re.compile(r"(?<![.!?])[ \t]*\r?\n[ \t]*[^\s]")
_HEADING = re.compile(
    r"(?:\A|\n)[ \t]*(?:#{1,6}[ \t]+([^\n]+?)[ \t#]*\n\s*|(\*\*[^\n]+\*\*)[ \t]*\n\s*"
    r"|([^\n]*\w[^\n]*)\n[-=~^\"'*+#.]{2,}[ \t]*\n\s*|(\w[^\n.,;|]*)\n[ \t]{2,}"
    r"|<(?:h[1-6]|dt)\b[^>]*>([^<\n]+)</(?:h[1-6]|dt)>\s*(?:<\w+[^<>]*>\s*)*)\Z",
    re.IGNORECASE,
)
_ROW_BELOW = re.compile(rf"[^\n]*\n(?![ \t\r]*\n){_ROW.pattern}", re.IGNORECASE)
_RULE = re.compile(r"[\s|:+]*[-=][\s|:+=-]*")


def heading_above(source: str, start: int) -> str:
    """Return the letters and digits of the heading, or of the term, right above a place; "" if there is none."""
    found = _HEADING.search(source[max(start - _READ, 0) : start])
    return keys(next(filter(None, found.groups()))) if found else ""


def line_above_rows(source: str, start: int, is_whole: bool) -> str:
    """Return the letters and digits of the line above the rows or items of which a place is one; "" if there is none.

    Args:
        source: The text, not of HTML.
        start: The first character of the place.
        is_whole: Whether the text begins with a line; a part of one is known as no row if a blank line is below it.
    """
    first = source.rfind("\n", 0, start) + 1
    above = source[max(first - _FARTHEST, 0) : max(first - 1, 0)].splitlines()
    if not is_whole and (len(above) < 2 or above[1].strip()):
        above = above[1:]
    begin = _row_begin(source[first:start])
    return next((keys(line) for line in reversed(above) if keys(line) and _row_begin(line) != begin), "")


def _row_begin(line: str) -> tuple[str, bool]:
    """Return the indentation of a row with its marker, if it has one, and whether it is a setting without one."""
    begin = _ROW_BEGIN.match(line)
    sign = begin[0] if begin else ""
    return sign.strip("0123456789") if sign.strip() else sign, not sign.strip() and _ROW.match(line) is not None


def kind_of_row(source: str, start: int, end: int) -> Literal["", "line", "marker"]:
    """Return what says that the line of a place is one of several."""
    line = source.rfind("\n", 0, start) + 1
    if _ROW.match(source, line, end):
        return "marker"
    begins = not source[max(line, start - _READ) : start].strip()
    return "line" if begins and _line_above(source, start).strip() and _LINE.match(source, end) else ""


def _line_above(source: str, start: int) -> str:
    line = source.rfind("\n", 0, start) + 1
    return source[max(source.rfind("\n", 0, max(line - 1, 0)) + 1, line - _READ) : line]


def is_below_rule(source: str, start: int) -> bool:
    """Return whether the line above that of a place rules off the heads of a table."""
    return _RULE.fullmatch(_line_above(source, start)) is not None


def has_row_below(source: str, end: int) -> bool:
    """Return whether a row is in the line below that in which a place ends."""
    return _ROW_BELOW.match(source, end) is not None
