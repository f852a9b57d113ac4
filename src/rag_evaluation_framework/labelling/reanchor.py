"""Finding labelled spans again in a corpus that was edited: by their text and its surroundings."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from rapidfuzz import fuzz

from rag_evaluation_framework.base.progress import progress
from rag_evaluation_framework.data import CharacterSpan, Corpus, DocumentId
from rag_evaluation_framework.data.label_contexts import CONTEXT, UNIQUE_TEXTS, WITH_SIBLINGS, Anchor
from rag_evaluation_framework.labelling.label_finder import NOWHERE, EarlierDocuments, LabelFinder, Several
from rag_evaluation_framework.labelling.losses import LossTeller, Withdrawn, named
from rag_evaluation_framework.labelling.telling import ALIKE, nearest, tells
from rag_evaluation_framework.quotes.suggestions import Suggestion
from rag_evaluation_framework.text.text_locator import TextLocator

# Whether the place at which a label is found holds a copy of what its document said, which says something else now.

_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_LAST_LINE = re.compile(r"\n[ \t]*([^\n]*\S)\s*\n\s*\Z")
_FIRST_LINE = re.compile(r"\s*\n\s*(\S[^\n]*)\n")
_FARTHEST = 2_000  # characters: more than what is written between two questions
_TELLING = UNIQUE_TEXTS | {None}  # what made labels the only ones that tell their documents

Places: TypeAlias = Iterable[tuple[Anchor, CharacterSpan | None]]


def kept_and_other(found: Places) -> tuple[set[str], set[str]]:
    """Return the documents that are what they were, and the names that other documents have now: by their labels.

    One is what it was if a label of its own was found in it, and another one if only labels of others were: so it is
    where documents swapped their names and were edited. Nothing is known of one in which none was found. A label tells
    which document it is in if its text stood in no other.

    Args:
        found: Labels and where they were found; None where they were not.
    """
    told = [(anchor.doc_id, span.doc_id) for anchor, span in found if span and anchor.unique_with in _TELLING]
    kept: set[str] = {now for was, now in told if was == now}
    return kept, {now for _, now in told if now not in kept}


def new_names(found: Places, kept: Set[str]) -> dict[str, str]:
    """Return the documents in which most labels of other ones, and at least two, were found: renamed, or joined.

    Labels that overlap count as one.

    Args:
        found: Labels and where they were found; None where they were not.
        kept: The documents that are what they were, and have no other name.
    """
    places: dict[str, Counter[str]] = {}
    ends: dict[str, int] = {}
    for anchor, span in sorted(found, key=lambda pair: (pair[0].doc_id, pair[0].start)):
        if span is None or anchor.doc_id in kept or anchor.unique_with not in _TELLING:
            continue
        if anchor.start >= ends.get(anchor.doc_id, 0):
            places.setdefault(anchor.doc_id, Counter())[span.doc_id] += 1
            ends[anchor.doc_id] = anchor.start + len(anchor.text)
    most = {doc_id: counts.most_common(1)[0] for doc_id, counts in places.items()}
    return {doc_id: name for doc_id, (name, count) in most.items() if 2 <= count > places[doc_id].total() // 2}


class Versions:
    """Tells which documents are versions of each other.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._sentences: dict[DocumentId, set[str]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def are(self, one: str, other: str) -> bool:
        """Return whether sentences and lines with a quarter of the characters of the shorter document are in both.

        So they are of pages that were made from one template.
        """
        pair = (one, other) if one < other else (other, one)
        if pair not in self._known:
            first, second = (self._of(DocumentId(doc_id)) for doc_id in pair)
            self._known[pair] = 4 * _length(first & second) >= min(_length(first), _length(second)) > 0
        return self._known[pair]

    def _of(self, doc_id: DocumentId) -> set[str]:
        if doc_id not in self._sentences:
            found = (" ".join(part.split()) for part in _SENTENCE_END.split(self.corpus[doc_id].content))
            self._sentences[doc_id] = {part for part in found if part}
        return self._sentences[doc_id]


def _length(sentences: set[str]) -> int:
    return sum(map(len, sentences))


def is_reworded(anchor: Anchor, locator: TextLocator, doc_id: str, span: CharacterSpan) -> bool:
    """Return whether a document has something else between the contexts of a label.

    What stands beside only one of them, as the other is gone or stands in several places, has to be like the label.

    Args:
        anchor: The label.
        locator: Locates texts in the documents.
        doc_id: The document.
        span: Where the label was found, there or in another document.
    """
    content, length = locator.corpus[DocumentId(doc_id)].content, len(anchor.text)
    before, after = (_beside(anchor, side, locator, doc_id) for side in (True, False))
    if before is not None:
        start = before.end
        end = start + length + 1 if after is None else after.start
    elif after is not None:
        end = after.start
        start = max(end - length - 1, 0)
    else:
        return False
    if end - start > length + _FARTHEST:
        return False
    if span.doc_id == doc_id and start < span.end and span.start < end:
        return False
    there, text = _collapsed(content[start:end]), _collapsed(anchor.text)
    if not any(map(str.isalnum, there)) or text in there:
        return False
    return (before is not None and after is not None) or fuzz.ratio(there, text) >= ALIKE


def _beside(anchor: Anchor, is_before: bool, locator: TextLocator, doc_id: str) -> CharacterSpan | None:
    """Return the one place at which a document has a context of a label; None if there is none, or are several.

    That is where the nearest 16 characters of it occur; if they occur in several places, where all of it does; if in
    none, where the line beside the label does. Where it reached an edge of the document, that is the edge.
    """
    content, context = locator.corpus[DocumentId(doc_id)].content, anchor.before if is_before else anchor.after
    if len(context) < CONTEXT and (anchor.before or anchor.after):  # it reached the edge of the document
        if is_before and content.lstrip().startswith(context.strip()):
            end = len(content) - len(content.lstrip()) + len(context.strip())
            return CharacterSpan(DocumentId(doc_id), 0, end)
        if not is_before and content.rstrip().endswith(context.strip()):
            start = len(content.rstrip()) - len(context.strip())
            return CharacterSpan(DocumentId(doc_id), start, len(content))
    found = _found(nearest(context, is_before) if tells(context) else "", locator, doc_id)
    if len(found) > 1:
        found = _found(context, locator, doc_id)
    elif not found:
        line = _LAST_LINE.search(context) if is_before else _FIRST_LINE.match(context)
        found = _found(line[1] if line and any(map(str.isalnum, line[1])) else "", locator, doc_id)
    return found[0] if len(found) == 1 else None


def _found(text: str, locator: TextLocator, doc_id: str) -> list[CharacterSpan]:
    return locator.places_in_context(text, doc_id=doc_id, limit=2)


def _collapsed(text: str) -> str:
    return " ".join(text.split())


# Finding labelled spans again in a corpus that was edited: by their text and its context, never by likeness.


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
    asked = progress([*dict.fromkeys(anchors)], "Finding labels again", "label")
    found = {anchor: work.reanchored(anchor) for anchor in asked}
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
