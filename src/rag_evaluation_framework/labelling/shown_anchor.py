"""A labelled span as a renderer shows it: recognised although its markup and its typography have changed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.label_contexts import CONTEXT
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.telling import is_long, tells
from rag_evaluation_framework.markups.characters import flat, key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.markup import LINE_END, Markup
from rag_evaluation_framework.markups.text_effects import Effects, effects

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
