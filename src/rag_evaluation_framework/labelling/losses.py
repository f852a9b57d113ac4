"""Why a label is not found again, and what is nearest to it."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from rag_evaluation_framework.base.outside import name_line, shown
from rag_evaluation_framework.data import CharacterSpan, Corpus, DocumentId, pattern_of
from rag_evaluation_framework.data.label_contexts import CONTEXT, Anchor
from rag_evaluation_framework.labelling.telling import is_cut_at, nearest, tells
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.markup import STRUCK_OUT, Markup, effects
from rag_evaluation_framework.quotes.quote_locator import Located, QuoteLocator
from rag_evaluation_framework.quotes.suggestions import Suggestion, suggest, suggest_in_its_place, suggest_located
from rag_evaluation_framework.text.text_locator import TextLocator, is_long

# Labelled documents that are files of the folder of a corpus, and left out by its pattern of files.


def leaving_out(doc_id: str, corpus: Corpus) -> str | None:
    """Return the pattern of a corpus if it leaves out the file with this name in its folder; None if it does not."""
    folder, pattern = corpus.metadata.get("source"), corpus.metadata.get("glob_pattern")
    path = PurePosixPath(doc_id)
    hidden = any(part.startswith(".") for part in path.parts)  # or outside the folder, if it is ".."
    if doc_id in corpus or hidden or path.is_absolute() or not (isinstance(folder, str) and isinstance(pattern, str)):
        return None
    try:
        return pattern if (Path(folder) / path).is_file() else None
    except (OSError, ValueError):  # no file can be called so
        return None


def pattern_with(doc_ids: Iterable[str], corpus: Corpus) -> str | None:
    """Return a pattern that also reads files with these names, by their kinds; None if one has no extension."""
    names = [*(document.id for document in corpus), *doc_ids]
    suffixes = [PurePosixPath(name).suffix for name in names]
    return pattern_of(suffixes) if all(suffixes) else None


# Whether the text of a label is withdrawn now: it still stands in its document, and is no longer shown as valid.

_MANY_LINES = ("comments", "directives")  # what is hidden as such, may be so from far away


class Withdrawn:
    """Tells which labels are struck out or hidden by now: in a comment, a script or another part that is not shown.

    Args:
        corpus: The documents as they are now.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._markups: dict[DocumentId, Markup] = {}

    def how(self, anchor: Anchor, span: CharacterSpan) -> str:
        """Return how a label is withdrawn at a place, in words; "" if it is not, or was so when it was labelled.

        Args:
            anchor: The label.
            span: A place that holds its text, or shows it.
        """
        now = self.markup(span.doc_id)
        start = len(anchor.before)
        end = start + len(anchor.text)
        then = markup_of(anchor.doc_id, f"{anchor.before}{anchor.text}{anchor.after}")
        struck_out = _struck_out(now, span.start, span.end)
        if any(struck for _, struck in struck_out) and struck_out != _struck_out(then, start, end):
            return STRUCK_OUT
        if now.shows(span.start, span.end) or not then.shows(start, end):
            return ""
        from_afar = now.hidden_as(span.start).startswith(_MANY_LINES)
        return "hidden, as in a comment or an attribute" if from_afar or _hides_itself(now, span) else ""

    def markup(self, doc_id: DocumentId) -> Markup:
        """Return what is shown of a document."""
        if doc_id not in self._markups:
            self._markups[doc_id] = markup_of(doc_id, self.corpus[doc_id].content)
        return self._markups[doc_id]


def _hides_itself(markup: Markup, span: CharacterSpan) -> bool:
    """Return whether a place is hidden by what stands beside it, as near as the context of a label."""
    first = max(span.start - CONTEXT, 0)
    near = markup_of(span.doc_id, markup.source[first : span.end + CONTEXT])
    return not near.shows(span.start - first, span.end - first)


def _struck_out(markup: Markup, start: int, end: int) -> list[tuple[int, bool]]:
    """Return the letters and digits at which strikethrough may begin or end, and whether it does."""
    return [(place, STRUCK_OUT in names) for place, names in effects(markup, start, end)]


# What stands now where a label stood.

_LONGEST = 200  # characters of a label; one that is longer tells enough to be looked for
_MOST_PLACES = 50  # of a context
_MOST_LONGER = 30  # characters, beyond twice the label


def in_its_place(anchor: Anchor, corpus: Corpus) -> CharacterSpan | None:
    """Return what is between the two contexts of a label in its document; None if that is not one short text.

    Args:
        anchor: The label, which stands nowhere any more.
        corpus: The documents as they are now.
    """
    if anchor.doc_id not in corpus or len(anchor.text) > _LONGEST:
        return None
    if not (tells(anchor.before) and tells(anchor.after)):
        return None
    document = corpus[anchor.doc_id]
    before = re.compile(_form(nearest(anchor.before, before=True)))
    begins = [found.end() for found in islice(before.finditer(document.content), _MOST_PLACES + 1)]
    if len(begins) > _MOST_PLACES:
        return None
    most = 2 * len(anchor.text) + _MOST_LONGER
    after = _form(nearest(anchor.after, before=False))
    between = re.compile(rf"\s*(\S(?:.{{0,{most}}}?\S)??)\s*{after}", re.DOTALL)
    places = [found.span(1) for begin in begins if (found := between.match(document.content, begin))]
    if len(places) != 1:
        return None
    ((start, end),) = places
    return CharacterSpan(document.id, start, end, document.content[start:end])


def _form(text: str) -> str:
    return r"\s+".join(map(re.escape, text.split()))


MOST_PLACES = 20
_MOST_NAMED = 3
_MOST_COMPARED = 200  # texts: of the largest corpora, one takes 30 ms


class LossTeller:
    """Tells why labels are lost.

    Args:
        corpus: The documents as they are now.
        withdrawn: Tells which labels are struck out or hidden.
    """

    def __init__(self, corpus: Corpus, withdrawn: Withdrawn) -> None:
        self.corpus, self.withdrawn = corpus, withdrawn
        self.locator, self.quotes = TextLocator.of(corpus), QuoteLocator.of(corpus)  # kept, or each would be made anew
        self.compared = 0

    def told(self, anchor: Anchor) -> tuple[str, Suggestion | None, bool]:
        """Return `lost: …` and why, a place of the text of a label or the passage it may mean, and if it has several.

        Passages are looked for only for the first 200 texts that stand nowhere.
        """
        if not anchor.text.strip():
            return "lost: its label has no text to look for", None, False
        gone = "" if anchor.doc_id in self.corpus else f"its document {name_line(anchor.doc_id)} {self._absent(anchor)}"
        places = self._places(anchor)
        if not places:
            why = f"{gone} and its text is in no other" if gone else "its text is gone"
            self.compared += 1
            return f"lost: {why}", self._nearest(anchor) if self.compared <= _MOST_COMPARED else None, False
        several = "its text now stands in several places" if len(places) > 1 else "its text stands"
        withdrawn = {self.withdrawn.how(anchor, place) for place in places}
        how = withdrawn.pop() if len(withdrawn) == 1 else ""
        why = f"{gone}{gone and ', and '}{several}{self._where(anchor, places, how)} ({named(places)})"
        return f"lost: {why}", self.text_at(places), len(places) > 1

    def _places(self, anchor: Anchor) -> list[CharacterSpan]:
        """Return where the text of a label stands; of one of some letters or digits, where it is not part of a word."""
        found = self.locator.places_in_context(anchor.text, limit=MOST_PLACES)
        if is_long(anchor.text):
            return found
        return [place for place in found if not is_cut_at(anchor, place, self.corpus[place.doc_id].content)] or found

    def _where(self, anchor: Anchor, places: Sequence[CharacterSpan], how: str) -> str:
        """Return what is around the places of a text that was lost, if it is not struck out or hidden there."""
        if how:
            return f" {how}"
        same = sum(self._has_context(anchor, place) for place in places)
        if not same:
            return " with another context"
        if len(places) == 1:
            return " with the same context, but may be another one"
        return f"{', some' if same < len(places) else ''} with the same context"

    def _has_context(self, anchor: Anchor, place: CharacterSpan) -> bool:
        content = self.corpus[place.doc_id].content
        before, after = content[max(place.start - CONTEXT, 0) : place.start], content[place.end : place.end + CONTEXT]
        return (before.split(), after.split()) == (anchor.before.split(), anchor.after.split())

    def text_at(self, places: Sequence[CharacterSpan]) -> Suggestion:
        """Return the text of a label that was lost where it stands, for people to look at."""
        return suggest_located(Located(tuple((place,) for place in places)), self.quotes, "")

    def _absent(self, anchor: Anchor) -> str:
        pattern = leaving_out(anchor.doc_id, self.corpus)
        return "is gone" if pattern is None else f"is left out by the pattern {shown(pattern)}"

    def _nearest(self, anchor: Anchor) -> Suggestion | None:
        """Return what stands in the place of a label, or what is nearest to it in its document, or elsewhere."""
        text = markup_of(anchor.doc_id, anchor.text).shown(0, len(anchor.text))
        there = in_its_place(anchor, self.corpus)
        if there and (found := suggest_in_its_place(text, there, self.quotes)):
            return found
        own = suggest(text, self.quotes, anchor.doc_id) if anchor.doc_id in self.corpus else None
        return own if own and own.document == anchor.doc_id else suggest(text, self.quotes)


def named(places: Sequence[CharacterSpan]) -> str:
    """Return the first three of some places, and how many more there are."""
    told = ", ".join(f"{name_line(span.doc_id)}[{span.start}:{span.end}]" for span in places[:_MOST_NAMED])
    more = len(places) - _MOST_NAMED
    return f"{told} and {more if len(places) < MOST_PLACES else 'many'} more" if more > 0 else told
