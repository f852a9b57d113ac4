"""Finding labelled spans again in a corpus that was edited: by their text and its context, never by likeness."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from tqdm import tqdm

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus, Document
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.label_contexts import CONTEXT
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.anchors import is_long, tells
from rag_evaluation_framework.labelling.copies import Versions, is_reworded, kept_and_other
from rag_evaluation_framework.labelling.losses import MOST_PLACES, LossTeller, named
from rag_evaluation_framework.labelling.shown_places import ShownPlaces
from rag_evaluation_framework.labelling.withdrawn import Withdrawn
from rag_evaluation_framework.labelling.written_between import is_written_between
from rag_evaluation_framework.quotes.ends import are_cut
from rag_evaluation_framework.quotes.suggestions import Suggestion
from rag_evaluation_framework.text.text_locator import TextLocator


@dataclass(frozen=True, slots=True)
class Reanchored:
    """What became of a labelled span.

    Attributes:
        anchor: The span as it was labelled.
        span: The span in the edited corpus, with its text there; None if it was lost.
        how: `unchanged`, `moved`, `renamed` (its document is gone, and another one holds it), `in normal form` (its
            white space has changed), `in normal form, ignoring: …` (its markup or typography has), or `lost: …` and
            why.
        nearest: Of a lost span, its text where it stands or the passage that it may mean (`suggest`), for people to
            look at; None if nothing is similar enough. Passages are looked for only for the first 200 texts that stand
            nowhere.
    """

    anchor: Anchor
    span: CharacterSpan | None
    how: str
    nearest: Suggestion | None = None


def reanchor(anchors: Sequence[Anchor], corpus: Corpus, known: Mapping[str, str]) -> list[Reanchored]:
    """Return where labelled spans are in an edited corpus, in the same order.

    A span is where its whole text stands with as much of its context as told it apart when it was labelled; white space
    may differ. In a document that is unchanged, by its hash, the offset says where; so it does in the one that has that
    hash now, under another name. There the span is, whatever has its old name, unless its text and context were unique
    and are there, too: then that document was copied and edited. A text that was unique needs no context, or that of
    one side, with nothing written between it and that of the other, if it has fewer than 20 letters and digits; one
    that was not needs both sides. Its own document comes before others, and is the only one for a text that stood
    between the same contexts elsewhere, too. A text that was unique and is no longer in its document as it stood is
    also found where that shows it as it was, beside the nearest 16 characters of one context. Where two places are
    possible, none is taken; nor is one if its own document, unless that is another one by its labels, says something
    else in its place: then the text that was found is a copy of what it said.

    Args:
        anchors: The spans as they were labelled.
        corpus: The documents as they are now.
        known: The SHA-256 of the texts of documents when they were labelled, as `known_documents` returns them. A
            document that is not among them counts as unchanged if text and context are where they were. What an anchor
            itself says of its document comes first.
    """
    finder = _Finder(anchors, corpus, known)
    found = {anchor: finder.reanchored(anchor) for anchor in _with_progress([*dict.fromkeys(anchors)])}
    kept, others = kept_and_other((anchor, result.span) for anchor, result in found.items())
    return [finder.settled(found[anchor], kept, others | finder.renamed) for anchor in anchors]


def _with_progress(anchors: list[Anchor]) -> Iterable[Anchor]:
    return tqdm(anchors, desc="Finding labels again", unit="label", delay=2, disable=None, leave=False)


_Found: TypeAlias = tuple[CharacterSpan | None, tuple[str, ...]]
_NOWHERE: _Found = (None, ())


class _Several(Exception):
    """More than one place is possible; the argument is a list of them."""


class _Finder:
    def __init__(self, anchors: Sequence[Anchor], corpus: Corpus, known: Mapping[str, str]) -> None:
        self.corpus, self.known = corpus, known
        self.locator = TextLocator.of(corpus)
        self.shown, self.withdrawn = ShownPlaces(corpus), Withdrawn(corpus)
        self.losses, self.versions = LossTeller(corpus, self.withdrawn), Versions(corpus)
        self.unchanged: set[str] = set()
        self.by_hash: dict[str, list[Document]] = defaultdict(list)  # those whose text was known under another name
        names: dict[str, set[str]] = defaultdict(set)
        for doc_id, digest in (*known.items(), *((anchor.doc_id, anchor.document) for anchor in anchors)):
            names[digest].add(doc_id)
        for document in corpus:
            digest = document.content_hash
            if known.get(document.id) == digest:
                self.unchanged.add(document.id)
            elif digest in names and document.id not in names[digest]:
                self.by_hash[digest].append(document)
        self.renamed = {document.id for found in self.by_hash.values() for document in found}

    def reanchored(self, anchor: Anchor) -> Reanchored:
        try:
            span = self._where_it_was(anchor)
            if span is not None:
                return Reanchored(anchor, span, "unchanged")
            span, ignoring = self._elsewhere(anchor)
        except _Several as several:
            return self._of_several(anchor, several.args[0])
        if span is None:
            return Reanchored(anchor, None, *self.losses.told(anchor))
        return _result(anchor, span, ignoring, "moved" if anchor.doc_id in self.corpus else "renamed")

    def settled(self, result: Reanchored, kept: Set[str], others: Set[str]) -> Reanchored:
        """Return a result unless it is a copy of what its document says no longer; then what its document itself has.

        Args:
            result: The result.
            kept: The documents that are what they were.
            others: The names that other documents have now.
        """
        anchor, span = result.anchor, result.span
        if result.how == "unchanged" or anchor.doc_id not in self.corpus or anchor.doc_id in others:
            return result
        if not (self._is_archived(anchor) if span is None else self._is_copy(anchor, span, kept)):
            return result
        try:
            own, ignoring = self._in_own(anchor)
            if own is None and anchor.doc_id in kept:
                own = self._text_alone(anchor, anchor.doc_id)
        except _Several:
            own, ignoring = _NOWHERE
        if own is not None and not self._is_copy(anchor, own, kept):
            if anchor.doc_id in kept:
                return _result(anchor, own, ignoring, "moved")
            return result if span is None else self._of_several(anchor, [own, span])
        if span is None:
            return result
        why = f"its document says something else now, and what it said stands in {named([span])}"
        return Reanchored(anchor, None, f"lost: {why}", self.losses.text_at([span]))

    def _of_several(self, anchor: Anchor, places: list[CharacterSpan]) -> Reanchored:
        how = f"lost: it now stands in several places ({named(places)})"
        return Reanchored(anchor, None, how, self.losses.text_at(places))

    def _is_copy(self, anchor: Anchor, span: CharacterSpan, kept: Set[str]) -> bool:
        """Return whether a place may hold a copy of a label, as its document says something else instead."""
        own, there = self.corpus[anchor.doc_id].content, self.corpus[span.doc_id]
        before, after = (
            there.content[max(span.start - CONTEXT, 0) : span.start],
            there.content[span.end : span.end + CONTEXT],
        )
        stands_as_it_did = (before.split(), after.split()) == (anchor.before.split(), anchor.after.split())
        if span.doc_id == anchor.doc_id:
            return not stands_as_it_did and is_reworded(anchor, own, span)
        archived = there.content_hash == self._digest(anchor) and anchor.doc_id in kept
        if archived or (stands_as_it_did and self.versions.are(anchor.doc_id, span.doc_id)):
            return True
        return is_reworded(anchor, own, span)

    def _is_archived(self, anchor: Anchor) -> bool:
        """Return whether another document has the text that the one of a label had."""
        return self._digest(anchor) in self.by_hash

    def _digest(self, anchor: Anchor) -> str:
        """Return the hash of the document of a label when it was labelled; "" if it is not known."""
        return anchor.document or self.known.get(anchor.doc_id, "")

    def _where_it_was(self, anchor: Anchor) -> CharacterSpan | None:
        """Return the place of a span by its offset, if its document is not known to have changed."""
        if anchor.doc_id not in self.corpus:
            return None
        document, digest = self.corpus[anchor.doc_id], self._digest(anchor)
        if digest:
            return _at_offset(anchor, document) if document.content_hash == digest else None
        span = _at_offset(anchor, document)
        around = f"{anchor.before}{anchor.text}{anchor.after}"
        first = anchor.start - len(anchor.before)
        same = document.content[max(first, 0) : first + len(around)].split() == around.split()
        return span if same else None

    def _elsewhere(self, anchor: Anchor) -> _Found:
        """Return the one place of a span in documents that have changed or are new, and what was ignored there.

        Raises:
            _Several: More than one is possible.
        """
        if not anchor.text.strip():
            return _NOWHERE
        renamed = self._renamed(anchor)
        if renamed is not None and anchor.unique_with not in ("text", "context"):
            return renamed, ()  # its old name may be that of another document, which has the same text
        own, ignoring = self._in_own(anchor)
        if own is not None and ignoring and renamed is not None:
            raise _Several([own, renamed])
        if own is not None:
            return own, ignoring
        return renamed or self._in_context(anchor, None) or self._text_alone(anchor), ()

    def _in_own(self, anchor: Anchor) -> _Found:
        """Return the one place of a span in its own document, as it stood or as it was shown, and what was ignored.

        Raises:
            _Several: More than one is possible.
        """
        own = self._in_context(anchor, anchor.doc_id)
        return (own, ()) if own is not None else self._as_shown(anchor)

    def _renamed(self, anchor: Anchor) -> CharacterSpan | None:
        """Return the place of a span by its offset in the one document that has the text of its own, as it was."""
        found = self.by_hash.get(self._digest(anchor), [])
        return _at_offset(anchor, found[0]) if len(found) == 1 else None

    def _in_context(self, anchor: Anchor, doc_id: str | None) -> CharacterSpan | None:
        """Return the one place with both contexts of a span or, if there is none, with one of them where that will do.

        Raises:
            _Several: More than one is possible.
        """
        if anchor.unique_with == "nothing" or (anchor.unique_with == "document" and doc_id is None):
            return None
        if tells(anchor.before, anchor.after):
            both = self._only(anchor, self._places(anchor, anchor.before, anchor.after, doc_id))
            if both is not None and (anchor.unique_with == "text" or self._at_same_edges(anchor, both)):
                return both
        if anchor.unique_with in ("context", "document") or (
            anchor.unique_with is None and not self._stands_once(anchor)
        ):
            return None  # another copy may have come to stand beside the same words, or be left alone there
        before = self._places(anchor, anchor.before, "", doc_id) if tells(anchor.before) else []
        after = self._places(anchor, "", anchor.after, doc_id) if tells(anchor.after) else []
        one = self._only(anchor, list(dict.fromkeys([*before, *after])))
        if one is None or is_long(anchor.text):
            return one
        apart = is_written_between(anchor, self.corpus[one.doc_id].content, one.start, one.end)
        return one if one.text == anchor.text and not apart else None

    def _text_alone(self, anchor: Anchor, doc_id: str | None = None) -> CharacterSpan | None:
        """Return the only place of a long text that was unique, or may have been; None if there is another."""
        if anchor.unique_with not in (None, "text") or not is_long(anchor.text):
            return None
        places = self.locator.places_in_context(anchor.text, doc_id=doc_id, limit=2)
        return self._only(anchor, places) if len(places) == 1 else None

    def _as_shown(self, anchor: Anchor) -> _Found:
        """Return the one place in its document at which a unique text is shown as it was, and what was ignored.

        Other documents may have shown it before: as HTML, or in an older version.

        Raises:
            _Several: More than one is possible.
        """
        if anchor.unique_with not in (None, "text"):
            return _NOWHERE  # its copies may have been shown between the same contexts
        places = self.shown.places(anchor, MOST_PLACES, self._may_be)
        if len(places) > 1:
            raise _Several(list(places))
        return next(iter(places.items()), _NOWHERE)

    def _stands_once(self, anchor: Anchor) -> bool:
        return len(self.locator.places_in_context(anchor.text, limit=2)) == 1

    def _at_same_edges(self, anchor: Anchor, span: CharacterSpan) -> bool:
        """Return whether a place is at the begin or end of its document if the span was."""
        content = self.corpus[span.doc_id].content
        begins = len(anchor.before) == CONTEXT or content[: span.start].split() == anchor.before.split()
        return begins and (len(anchor.after) == CONTEXT or content[span.end :].split() == anchor.after.split())

    def _places(self, anchor: Anchor, before: str, after: str, doc_id: str | None) -> list[CharacterSpan]:
        places = self.locator.places_in_context(anchor.text, before, after, doc_id, MOST_PLACES)
        if len(places) == MOST_PLACES:  # there may be more, of which some are possible
            raise _Several(places)
        return [span for span in places if self._may_be(anchor, span)]

    def _may_be(self, anchor: Anchor, span: CharacterSpan) -> bool:
        """Return whether a place was not there already, in another document, and shows the label, as valid, in full.

        In "50 days", "take 5" is another text.
        """
        if (span.doc_id != anchor.doc_id and span.doc_id in self.unchanged) or self._is_of_another(anchor, span.doc_id):
            return False
        content = self.corpus[span.doc_id].content
        was = are_cut(anchor.before, anchor.text, anchor.after)
        now = are_cut(
            content[max(span.start - CONTEXT, 0) : span.start], span.text, content[span.end : span.end + CONTEXT]
        )
        if any(here and not there for here, there in zip(now, was, strict=True)):
            return False
        return not self.withdrawn.how(anchor, span)

    def _is_of_another(self, anchor: Anchor, doc_id: DocumentId) -> bool:
        """Return whether a document has the text that another one had, so that all in it was there already."""
        return doc_id in self.renamed and self.corpus[doc_id].content_hash != self._digest(anchor)

    def _only(self, anchor: Anchor, places: list[CharacterSpan]) -> CharacterSpan | None:
        if len(places) > 1:
            raise _Several(places)
        return self._verbatim(anchor, places[0]) if places and self._may_be(anchor, places[0]) else None

    def _verbatim(self, anchor: Anchor, span: CharacterSpan) -> CharacterSpan:
        """Return the span with the white space at the ends of the text that was labelled, if it stands there."""
        start = span.start - (len(anchor.text) - len(anchor.text.lstrip()))
        content = self.corpus[span.doc_id].content
        if start >= 0 and content.startswith(anchor.text, start):
            return CharacterSpan(span.doc_id, start, start + len(anchor.text), anchor.text)
        return span


def _result(anchor: Anchor, span: CharacterSpan, ignoring: tuple[str, ...], how: str) -> Reanchored:
    if span.text != anchor.text:
        ignored = f", ignoring: {', '.join(ignoring)}" if ignoring else ""
        return Reanchored(anchor, span, f"in normal form{ignored}")
    if (span.doc_id, span.start) == (anchor.doc_id, anchor.start):
        return Reanchored(anchor, span, "unchanged")
    return Reanchored(anchor, span, how)


def _at_offset(anchor: Anchor, document: Document) -> CharacterSpan | None:
    """Return the span of a document at the offset of an anchor, if it has the same text up to white space."""
    end = anchor.start + len(anchor.text)
    there = document.content[anchor.start : end]
    if len(there) < len(anchor.text) or there.split() != anchor.text.split() or not there.strip():
        return None
    return CharacterSpan(DocumentId(document.id), anchor.start, end, there)
