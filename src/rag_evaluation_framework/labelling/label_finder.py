"""Finding one labelled span in documents that were edited."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rag_evaluation_framework.data import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.data.document_resolver import is_same_path
from rag_evaluation_framework.data.label_contexts import AMONG_OTHERS, CONTEXT, UNIQUE_TEXTS, WITH_SIBLINGS, Anchor
from rag_evaluation_framework.labelling.losses import MOST_PLACES, Withdrawn
from rag_evaluation_framework.labelling.shown_text import ShownPlaces, ShownWords
from rag_evaluation_framework.labelling.surroundings import Surroundings, is_written_behind
from rag_evaluation_framework.labelling.telling import is_cut_at, tells
from rag_evaluation_framework.text.text_locator import TextLocator, is_long

# What is known of documents when they were labelled: which are unchanged, and which have another name now.


class EarlierDocuments:
    """Documents as they were when they were labelled, by their hashes.

    Args:
        anchors: The labels; some know the hash of their document.
        corpus: The documents as they are now.
        known: The hashes of all others, by id.

    Attributes:
        now: The hash of each document of the corpus, by id.
        renamed: The names of documents that have the text that was known under another name.
    """

    def __init__(self, anchors: Sequence[Anchor], corpus: Corpus, known: Mapping[str, str]) -> None:
        self._known = known
        lost = {(anchor.doc_id, anchor.document) for anchor in anchors}
        self._by_hash: dict[str, list[Document]] = defaultdict(list)
        names: dict[str, set[str]] = defaultdict(set)
        for doc_id, digest in (*known.items(), *lost):
            names[digest].add(doc_id)
        self.now: dict[str, str] = {document.id: document.content_hash for document in corpus}
        self._unchanged = {doc_id for doc_id, digest in self.now.items() if known.get(doc_id) == digest}
        self._restored = {doc_id for doc_id, digest in self.now.items() if (doc_id, digest) in lost} - self._unchanged
        for document in corpus:
            digest = self.now[document.id]
            if names[digest] and document.id not in names[digest]:
                self._by_hash[digest].append(document)
        self.renamed = {document.id for found in self._by_hash.values() for document in found}

    def hash_of(self, anchor: Anchor) -> str:
        """Return the hash of the document of a label when it was labelled; "" if it is not known."""
        return anchor.document or self._known.get(anchor.doc_id, "")

    def under_another_name(self, anchor: Anchor) -> list[Document]:
        """Return the documents that have the text of that of a label under names that it did not have.

        Those that have its path from another folder up or down, if there are any.
        """
        found = self._by_hash.get(self.hash_of(anchor), [])
        return [document for document in found if is_same_path(anchor.doc_id, document.id)] or found

    def had_all(self, anchor: Anchor, doc_id: str) -> bool:
        """Return whether all that is in a document was in another one than that of a label already."""
        was_there = doc_id in self._unchanged or (doc_id in self._restored and doc_id not in anchor.was_in)
        if doc_id != anchor.doc_id and was_there:
            return True
        return doc_id in self.renamed and self.now[doc_id] != self.hash_of(anchor)


Found: TypeAlias = tuple[CharacterSpan | None, tuple[str, ...]]
NOWHERE: Found = (None, ())


class Several(Exception):
    """More than one place is possible; the argument is a list of them."""


class LabelFinder:
    """Finds labels by their texts, with as much of their contexts as told them apart when they were labelled.

    Args:
        corpus: The documents as they are now.
        earlier: What is known of the documents when they were labelled.
        withdrawn: Tells which labels are struck out or hidden.
    """

    def __init__(self, corpus: Corpus, earlier: EarlierDocuments, withdrawn: Withdrawn) -> None:
        self.corpus, self.earlier, self.withdrawn = corpus, earlier, withdrawn
        self.locator, self.shown = TextLocator.of(corpus), ShownPlaces(corpus)
        self._words: dict[DocumentId, ShownWords] = {}

    def where_it_was(self, anchor: Anchor) -> CharacterSpan | None:
        """Return the place of a span by its offset, if its document is not known to have changed."""
        if anchor.doc_id not in self.corpus:
            return None
        document, digest = self.corpus[anchor.doc_id], self.earlier.hash_of(anchor)
        if digest:
            return _at_offset(anchor, document) if self.earlier.now[document.id] == digest else None
        span = _at_offset(anchor, document)
        around = f"{anchor.before}{anchor.text}{anchor.after}"
        first = anchor.start - len(anchor.before)
        same = document.content[max(first, 0) : first + len(around)].split() == around.split()
        return span if same else None

    def elsewhere(self, anchor: Anchor) -> Found:
        """Return the one place of a span in documents that have changed or are new, and what was ignored there.

        Raises:
            Several: More than one is possible.
        """
        if not anchor.text.strip():
            return NOWHERE
        renamed = self._renamed(anchor)
        if renamed is not None and anchor.unique_with not in UNIQUE_TEXTS | {"context"}:
            return renamed, ()  # its old name may be that of another document, which has the same text
        own, ignoring = self.in_own(anchor)
        if own is not None and ignoring and renamed is not None:
            raise Several([own, renamed])
        if own is not None:
            return own, ignoring
        return renamed or self.in_context(anchor, None) or self.text_alone(anchor), ()

    def in_own(self, anchor: Anchor) -> Found:
        """Return the one place of a span in its own document, as it stood or as it was shown, and what was ignored.

        Raises:
            Several: More than one is possible.
        """
        own = self.in_context(anchor, anchor.doc_id)
        return (own, ()) if own is not None else self._as_shown(anchor)

    def _renamed(self, anchor: Anchor) -> CharacterSpan | None:
        """Return the place of a span by its offset in the one document that has the text of its own, as it was."""
        found = self.earlier.under_another_name(anchor)
        return _at_offset(anchor, found[0]) if len(found) == 1 else None

    def in_context(self, anchor: Anchor, doc_id: str | None) -> CharacterSpan | None:
        """Return the one place with both contexts of a span or, if there is none, with one of them where that will do.

        Raises:
            Several: More than one is possible.
        """
        if anchor.unique_with == "nothing" or (anchor.unique_with == "document" and doc_id is None):
            return None
        is_unique, is_short = anchor.unique_with in UNIQUE_TEXTS, not is_long(anchor.text)
        if is_unique and is_short and doc_id is not None:
            return self._of_short(anchor, doc_id)
        if tells(anchor.before, anchor.after):
            both = self._only(anchor, self._places(anchor, anchor.before, anchor.after, doc_id))
            if both is not None and (is_unique or self._at_same_edges(anchor, both)):
                return None if is_short and both.doc_id == anchor.doc_id != doc_id else both
        if not is_unique and (anchor.unique_with is not None or not self.locator.occurs_once(anchor.text)):
            return None  # another copy may have come to stand beside the same words, or be left alone there
        if is_short:  # "3 days" stands beside the same words on another page
            return None if doc_id is None else self._of_short(anchor, doc_id)
        before = self._places(anchor, anchor.before, "", doc_id) if tells(anchor.before) else []
        after = self._places(anchor, "", anchor.after, doc_id) if tells(anchor.after) else []
        one = self._only(anchor, list(dict.fromkeys([*before, *after])))
        return None if one is None or self._is_another(anchor, one) else one

    def _of_short(self, anchor: Anchor, doc_id: str) -> CharacterSpan | None:
        """Return the one place of a short text at which that is before it which says what it is about.

        Raises:
            Several: More than one is possible.
        """
        whole = self._places(anchor, anchor.before, anchor.after, doc_id)
        if len(whole) == 1 and self._at_same_edges(anchor, whole[0]) and self._is_only_there(anchor, doc_id):
            return self._only(anchor, whole)
        if not tells(anchor.before, anchor.after):
            return None
        places = self._places(anchor, "", "", doc_id)
        return self._only(anchor, [span for span in places if not self._is_another(anchor, span)])

    def _is_only_there(self, anchor: Anchor, doc_id: str) -> bool:
        """Return whether nothing else stands elsewhere in a document between what is nearest to a label."""
        then = Surroundings.of_anchor(anchor)
        return anchor.unique_with in WITH_SIBLINGS or then.are_once(self._shown(DocumentId(doc_id)))

    def _is_another(self, anchor: Anchor, span: CharacterSpan) -> bool:
        """Return whether a place is not that of a label, by what is around it.

        That of a short text is told by what is before it; that of a long one is another if it is in another row, or
        answers another question, and its own is still there.
        """
        markup, shown = self.withdrawn.markup(span.doc_id), self._shown(span.doc_id)
        then, now = Surroundings.of_anchor(anchor), Surroundings.of_place(markup, span)
        if is_long(anchor.text):
            return then.are_of_another(now, shown)
        if then.are_of_another_row(now) or is_written_behind(then, now, markup, span.end):
            return True
        is_among_others = anchor.unique_with in AMONG_OTHERS
        if then.are_told_by_before(now, shown) or (not is_among_others and then.are_told_by_row(now, shown)):
            return False
        is_whole = anchor.unique_with in WITH_SIBLINGS and then.are_whole(now)
        return not (is_whole or then.are_told_by_both(now, shown, is_among_others))

    def _shown(self, doc_id: DocumentId) -> ShownWords:
        if doc_id not in self._words:
            self._words[doc_id] = ShownWords(self.withdrawn.markup(doc_id))
        return self._words[doc_id]

    def text_alone(self, anchor: Anchor, doc_id: str | None = None) -> CharacterSpan | None:
        """Return the only place of a long text that was unique, or may have been; None if there is another."""
        if anchor.unique_with not in UNIQUE_TEXTS | {None} or not is_long(anchor.text):
            return None
        places = self.locator.places_in_context(anchor.text, doc_id=doc_id, limit=2)
        one = self._only(anchor, places) if len(places) == 1 else None
        return None if one is None or self._is_another(anchor, one) else one

    def _as_shown(self, anchor: Anchor) -> Found:
        """Return the one place in its document at which a unique text is shown as it was, and what was ignored.

        Other documents may have shown it before: as HTML, or in an older version.

        Raises:
            Several: More than one is possible.
        """
        if anchor.unique_with not in UNIQUE_TEXTS | {None}:
            return NOWHERE  # its copies may have been shown between the same contexts
        places = self.shown.places(anchor, MOST_PLACES, self._may_be)
        places = {span: names for span, names in places.items() if not self._is_another(anchor, span)}
        if len(places) > 1:
            raise Several(list(places))
        return next(iter(places.items()), NOWHERE)

    def _at_same_edges(self, anchor: Anchor, span: CharacterSpan) -> bool:
        """Return whether a place is at the begin or end of its document if the span was."""
        content = self.corpus[span.doc_id].content
        begins = len(anchor.before) == CONTEXT or content[: span.start].split() == anchor.before.split()
        return begins and (len(anchor.after) == CONTEXT or content[span.end :].split() == anchor.after.split())

    def _places(self, anchor: Anchor, before: str, after: str, doc_id: str | None) -> list[CharacterSpan]:
        places = self.locator.places_in_context(anchor.text, before, after, doc_id, MOST_PLACES)
        if len(places) == MOST_PLACES:  # there may be more, of which some are possible
            raise Several(places)
        return [span for span in places if self._may_be(anchor, span)]

    def _may_be(self, anchor: Anchor, span: CharacterSpan) -> bool:
        """Return whether a place was not there already, in another document, and shows the label, as valid, in full.

        In "50 days", "take 5" is another text.
        """
        if self.earlier.had_all(anchor, span.doc_id):
            return False
        if is_cut_at(anchor, span, self.corpus[span.doc_id].content):
            return False
        return not self.withdrawn.how(anchor, span)

    def _only(self, anchor: Anchor, places: list[CharacterSpan]) -> CharacterSpan | None:
        if len(places) > 1:
            raise Several(places)
        return self._verbatim(anchor, places[0]) if places and self._may_be(anchor, places[0]) else None

    def _verbatim(self, anchor: Anchor, span: CharacterSpan) -> CharacterSpan:
        """Return the span with the white space at the ends of the text that was labelled, if it stands there."""
        start = span.start - (len(anchor.text) - len(anchor.text.lstrip()))
        content = self.corpus[span.doc_id].content
        if start >= 0 and content.startswith(anchor.text, start):
            return CharacterSpan(span.doc_id, start, start + len(anchor.text), anchor.text)
        return span


def _at_offset(anchor: Anchor, document: Document) -> CharacterSpan | None:
    """Return the span of a document at the offset of an anchor, if it has the same text up to white space."""
    end = anchor.start + len(anchor.text)
    there = document.content[anchor.start : end]
    if len(there) < len(anchor.text) or there.split() != anchor.text.split() or not there.strip():
        return None
    return CharacterSpan(DocumentId(document.id), anchor.start, end, there)
