"""Finding labelled spans again in a corpus that was edited: by their text and its context, never by likeness."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rag_evaluation_framework._support.progress import progress
from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.label_contexts import CONTEXT, UNIQUE_TEXTS, WITH_SIBLINGS
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.copies import Versions, is_reworded, kept_and_other, new_names
from rag_evaluation_framework.labelling.earlier_documents import EarlierDocuments
from rag_evaluation_framework.labelling.label_finder import NOWHERE, LabelFinder, Several
from rag_evaluation_framework.labelling.losses import LossTeller, named
from rag_evaluation_framework.labelling.withdrawn import Withdrawn
from rag_evaluation_framework.quotes.suggestions import Suggestion


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
        is_among_several: Whether it was lost because its text stands in several places, and none of them is told.
    """

    anchor: Anchor
    span: CharacterSpan | None
    how: str
    nearest: Suggestion | None = None
    is_among_several: bool = False


def reanchor(anchors: Sequence[Anchor], corpus: Corpus, known: Mapping[str, str]) -> list[Reanchored]:
    """Return where labelled spans are in an edited corpus, in the same order.

    A span is where its whole text stands with as much of its context as told it apart when it was labelled; white space
    may differ. In a document that is unchanged, by its hash, the offset says where; so it does in the one that has that
    hash now, under another name. There the span is, whatever has its old name, unless its text and context were unique
    and are there, too: then that document was copied and edited. A text that was unique needs no context or, if it has
    fewer than 20 letters and digits, what says what it is about before it; one that was not needs both sides. Its own
    document comes before others, and is the only one for a text that stood between the same contexts elsewhere, too. A
    text that was unique and is no longer in its document as it stood is also found where that shows it as it was,
    beside the nearest 16 characters of one context. Where two places are possible, none is taken; nor is one if its own
    document, unless that is another one by its labels, says something else in its place: then the text that was found
    is a copy of what it said.

    Args:
        anchors: The spans as they were labelled.
        corpus: The documents as they are now.
        known: The SHA-256 of the texts of documents when they were labelled, as `known_documents` returns them. A
            document that is not among them counts as unchanged if text and context are where they were. What an anchor
            itself says of its document comes first.
    """
    work = _Reanchoring(anchors, corpus, known)
    found = {anchor: work.reanchored(anchor) for anchor in _with_progress([*dict.fromkeys(anchors)])}
    places = [(anchor, result.span) for anchor, result in found.items()]
    kept, others = kept_and_other(places)
    others |= work.earlier.renamed
    returned = {span.doc_id for anchor, span in places if span and span.doc_id in {*anchor.was_in} - {anchor.doc_id}}
    homes = new_names(places, kept - others)
    return [
        work.settled(_renamed_back(found[anchor], returned), kept, others - returned, homes)
        if anchor.name_is_taken
        else work.settled(found[anchor], kept, others, homes)
        for anchor in anchors
    ]


def _renamed_back(result: Reanchored, returned: Set[str]) -> Reanchored:
    """Return a result whose document has its name again, if it is one to which labels of it went back."""
    anchor = result.anchor
    if not anchor.name_is_taken or anchor.doc_id not in returned:
        return result
    return replace(result, anchor=replace(anchor, name_is_taken=False))


def _with_progress(anchors: list[Anchor]) -> Iterable[Anchor]:
    return progress(anchors, "Finding labels again", "label")


class _Reanchoring:
    def __init__(self, anchors: Sequence[Anchor], corpus: Corpus, known: Mapping[str, str]) -> None:
        withdrawn = Withdrawn(corpus)
        self.corpus, self.earlier = corpus, EarlierDocuments(anchors, corpus, known)
        self.finder = LabelFinder(corpus, self.earlier, withdrawn)
        self.losses, self.versions = LossTeller(corpus, withdrawn), Versions(corpus)

    def reanchored(self, anchor: Anchor) -> Reanchored:
        try:
            span = self.finder.where_it_was(anchor)
            if span is not None:
                return Reanchored(anchor, span, "unchanged")
            span, ignoring = self.finder.elsewhere(anchor)
        except Several as several:
            return self._of_several(anchor, several.args[0])
        if span is None:
            return Reanchored(anchor, None, *self.losses.told(anchor))
        return _result(anchor, span, ignoring, "moved" if anchor.doc_id in self.corpus else "renamed")

    def settled(self, result: Reanchored, kept: Set[str], others: Set[str], homes: Mapping[str, str]) -> Reanchored:
        """Return a result unless it is a copy of what its document says no longer; then what its document itself has.

        Args:
            result: The result.
            kept: The documents that are what they were.
            others: The names that other documents have now.
            homes: The new names of documents by their old ones, by the labels that they have.
        """
        anchor, span = result.anchor, result.span
        if span is not None and anchor.unique_with in WITH_SIBLINGS and not self._is_certain(anchor, span, homes):
            why = (
                f"what stands in {named([span])} may be that of another page or row: the same words are around it there"
            )
            return Reanchored(anchor, None, f"lost: {why}", self.losses.text_at([span]))
        if anchor.doc_id not in self.corpus and span is None and anchor.doc_id in homes:
            return self._at_home(result, homes[anchor.doc_id])
        if result.how == "unchanged" or anchor.doc_id not in self.corpus:
            return result
        if anchor.doc_id in others or anchor.name_is_taken:
            return self._in_home(result, homes)
        doubtful = self.earlier.under_another_name(anchor) if span is None else self._is_copy(anchor, span, kept)
        if not doubtful:
            return result
        try:
            own, ignoring = self.finder.in_own(anchor)
            if own is None and anchor.doc_id in kept:
                own = self.finder.text_alone(anchor, anchor.doc_id)
        except Several:
            own, ignoring = NOWHERE
        if own is not None and not self._is_copy(anchor, own, kept):
            if anchor.doc_id in kept:
                return _result(anchor, own, ignoring, "moved")
            return result if span is None else self._of_several(anchor, [own, span])
        if span is None:
            return result
        why = f"its document says something else now, and what it said stands in {named([span])}"
        return Reanchored(anchor, None, f"lost: {why}", self.losses.text_at([span]))

    def _is_certain(self, anchor: Anchor, span: CharacterSpan, homes: Mapping[str, str]) -> bool:
        """Return whether a place is in the document of a label, whose contexts may stand on other pages, too."""
        if span.doc_id in (anchor.doc_id, homes.get(anchor.doc_id)):
            return True
        return any(document.id == span.doc_id for document in self.earlier.under_another_name(anchor))

    def _at_home(self, result: Reanchored, home: str) -> Reanchored:
        """Return a result, of a label that was not found elsewhere, in the document that has its name no longer."""
        try:
            own = self.finder.in_context(result.anchor, home)
        except Several as several:
            return self._of_several(result.anchor, several.args[0])
        return result if own is None else _result(result.anchor, own, (), "renamed")

    def _in_home(self, result: Reanchored, homes: Mapping[str, str]) -> Reanchored:
        """Return a result unless it is in another document that has its name now; then what its own one has."""
        anchor, span = result.anchor, result.span
        if span is None or span.doc_id != anchor.doc_id or anchor.unique_with in UNIQUE_TEXTS:
            return result
        home = homes.get(anchor.doc_id)
        try:
            own = None if home is None else self.finder.in_context(anchor, home)
        except Several as several:
            return self._of_several(anchor, several.args[0])
        if own is not None:
            return _result(anchor, own, (), "moved")
        why = f"its document has another name now, or is gone, and its text in {named([span])} is that of another one"
        anchor = replace(anchor, name_is_taken=True)
        return Reanchored(anchor, None, f"lost: {why}", self.losses.text_at([span]))

    def _of_several(self, anchor: Anchor, places: list[CharacterSpan]) -> Reanchored:
        how = f"lost: it now stands in several places ({named(places)})"
        return Reanchored(anchor, None, how, self.losses.text_at(places), is_among_several=True)

    def _is_copy(self, anchor: Anchor, span: CharacterSpan, kept: Set[str]) -> bool:
        """Return whether a place may hold a copy of a label, as its document says something else instead."""
        there = self.corpus[span.doc_id]
        before, after = (
            there.content[max(span.start - CONTEXT, 0) : span.start],
            there.content[span.end : span.end + CONTEXT],
        )
        stands_as_it_did = (before.split(), after.split()) == (anchor.before.split(), anchor.after.split())
        if span.doc_id == anchor.doc_id:
            return not stands_as_it_did and is_reworded(anchor, self.finder.locator, anchor.doc_id, span)
        archived = self.earlier.now[span.doc_id] == self.earlier.hash_of(anchor) and anchor.doc_id in kept
        if archived or (stands_as_it_did and self.versions.are(anchor.doc_id, span.doc_id)):
            return True
        return is_reworded(anchor, self.finder.locator, anchor.doc_id, span)


def _result(anchor: Anchor, span: CharacterSpan, ignoring: tuple[str, ...], how: str) -> Reanchored:
    if span.text != anchor.text:
        ignored = f", ignoring: {', '.join(ignoring)}" if ignoring else ""
        return Reanchored(anchor, span, f"in normal form{ignored}")
    if (span.doc_id, span.start) == (anchor.doc_id, anchor.start):
        return Reanchored(anchor, span, "unchanged")
    return Reanchored(anchor, span, how)
