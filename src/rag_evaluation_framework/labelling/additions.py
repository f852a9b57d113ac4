"""Questions of a table of quotes, added to a dataset: what is settled there, and what is still lost."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from rag_evaluation_framework.base.outside import name_line, one_line, shown
from rag_evaluation_framework.base.records import Problems
from rag_evaluation_framework.data import (
    TOKEN,
    Anchor,
    CharacterSpan,
    Corpus,
    Dataset,
    GroundTruth,
    Query,
    QueryId,
    Skipped,
)
from rag_evaluation_framework.data.document_resolver import DocumentResolver, is_same_path, names_fully
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.label_change import LOST
from rag_evaluation_framework.labelling.losses import Withdrawn
from rag_evaluation_framework.labelling.quote_check import QuoteCheck
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES, QuoteRow, with_conflicts
from rag_evaluation_framework.markups.characters import key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.quotes.ends import FINAL
from rag_evaluation_framework.quotes.quote_locator import Located, QuoteLocator
from rag_evaluation_framework.quotes.suggestions import suggest_located

# Quotes of labels that a dataset has: where they are is settled, whatever else has their text by now.


def with_settled(check: QuoteCheck, dataset: Dataset[CharacterSpan], corpus: Corpus) -> QuoteCheck:
    """Return a check in which the quotes of labels that a dataset has are located where these are.

    The table may be the one that the dataset was made of: it names documents as they were called then, and its quotes
    may stand in several places, of which a person has chosen one. A row that names another document, or asks for any
    place, is not settled.

    Args:
        check: The check of a table.
        dataset: The dataset, with its labels in these documents.
        corpus: The documents.
    """
    entries: dict[str, list[GroundTruth[CharacterSpan]]] = defaultdict(list)
    for entry in dataset:
        for name in {entry.query.id, _words(entry.query.text)}:
            entries[name].append(entry)
    settled = _Settled(dataset, corpus)
    rows = [
        settled.row(row, known[0])
        if row.quote.strip()
        and not row.asks_for_any
        and len(known := entries.get(row.id or _words(row.question), [])) == 1
        else row
        for row in check.rows
    ]
    return replace(check, rows=tuple(rows))


class _Settled:
    """Tells which quotes are those of labels; each label is that of one row."""

    def __init__(self, dataset: Dataset[CharacterSpan], corpus: Corpus) -> None:
        self.locator, self.resolver, self.was_in = QuoteLocator.of(corpus), DocumentResolver(corpus), dataset.was_in
        self._taken: dict[str, set[CharacterSpan]] = defaultdict(set)

    def row(self, row: QuoteRow, entry: GroundTruth[CharacterSpan]) -> QuoteRow:
        """Return a row located at labels of its question if its quote is theirs; as it is, if it is not."""
        taken, name = self._taken[entry.query.id], row.document.strip()
        left = set(entry.labels) - taken
        called = {span.doc_id: self._called(entry, span.doc_id) for span in entry.labels if span in left}
        located = [
            found
            for doc_id in sorted(called, key=lambda doc_id: name not in called[doc_id])  # those called so first
            if not self._names_another(name, doc_id, called[doc_id])
            for found in [self.locator.locate(row.quote, doc_id, MOST_OCCURRENCES)]
        ]
        places = [place for found in located for place in found.places if left.issuperset(place)]
        if not places:
            return row
        if row.status == "ambiguous":  # then it may stand for all places of an answer
            answer = next((answer for answer in entry.answers if places[0] in answer.places), None)
            places = [place for place in places if answer is not None and place in answer.places] or places[:1]
        else:
            places = places[:1]
        taken.update(span for place in places for span in place)
        ignoring = next(found.ignoring for found in located if places[0] in found.places)
        return replace(row, status="located", places=tuple(places), ignoring=ignoring, advice="", suggestion=None)

    def _called(self, entry: GroundTruth[CharacterSpan], doc_id: str) -> Sequence[str]:
        """Return what the document of a label was called before; if it always was called so, that."""
        return self.was_in.get(entry.query.id, {}).get(doc_id, ()) or (doc_id,)

    def _names_another(self, name: str, doc_id: str, called: Sequence[str]) -> bool:
        """Return whether a row names another document than that of a label.

        A name that the document had, or has, names it; otherwise what it names now counts, if there is such a document.
        """
        if not name or name in called:
            return False
        named = self.resolver.in_corpus(name)
        if name not in named and any(self.resolver.is_whole(name, known) for known in (*called, doc_id)):
            return False
        return doc_id not in named if named else not any(is_same_path(name, known) for known in called)


def _words(text: str) -> str:
    return " ".join(text.split())


# Quotes of labels that were lost: what stands elsewhere now, or is no longer shown, is no answer without a person.

_AHEAD = 60  # characters that are read behind a place
_GOES_ON = re.compile(r"(?:[ \t]|\n(?!\s*\n))*[\w,;:]")


def without_lost(check: QuoteCheck, dataset: Dataset[CharacterSpan], corpus: Corpus) -> QuoteCheck:
    """Return a check in which quotes of lost labels are missing where they are no answer without a person.

    A quote with the text of a lost label of its question is taken only if its row names the document, in full if that
    is not the one of the label, and never where the text is hidden or struck out. "Data is kept in memory." was lost as
    the document says "Data is kept in memory only."; that it holds all but the full stop is no news either.

    Args:
        check: The check of a table.
        dataset: The dataset that skips the questions whose labels were lost.
        corpus: The documents.
    """
    lost: dict[str, list[Skipped]] = defaultdict(list)
    for label in dataset.skipped:
        if label.reason.startswith(LOST):
            for name in {label.query.id, _words(label.query.text)}:
                lost[name].append(label)
    lost_again = _LostAgain(corpus)
    rows = [
        lost_again.row(row, labels)
        if row.status == "located" and (labels := lost.get(row.id or _words(row.question)))
        else row
        for row in check.rows
    ]
    return replace(check, rows=tuple(rows))


class _LostAgain:
    """Tells which quotes of lost labels are no answers."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.withdrawn, self.locator = corpus, Withdrawn(corpus), QuoteLocator.of(corpus)

    def row(self, row: QuoteRow, lost: Sequence[Skipped]) -> QuoteRow:
        """Return a row that was located as missing if it is no answer; as it is, if it may be."""
        for label in lost:
            place = None if label.anchor is None else self._of_its_text(label.anchor, row)
            if label.anchor is None or place is None:
                continue
            was = f"its label in {name_line(label.anchor.doc_id)} was {label.reason}"
            if self.withdrawn.how(label.anchor, place):
                return _missing(row, f"{was}; quote what the documents say now")
            if place.doc_id == label.anchor.doc_id:
                more = "to take what it says there for its answer, quote more of it"
                return _missing(row, f"{was}; {more}, or another text")
            if not _is_named(row.document, label.anchor, place):
                suggestion = suggest_located(Located(row.places), self.locator, was)
                document = name_line(place.doc_id)
                advice = f"to take {name_line(suggestion.place)} for its answer, name {document} in the row; or quote"
                return replace(_missing(row, f"{was}; {advice} another text"), suggestion=suggestion)
        behind = _behind(row.places[0][-1], self.corpus) if FINAL in row.ignoring else ""
        if not _GOES_ON.match(behind):
            return row
        return _missing(
            row,
            "its label was lost, and where its last sign was the document goes on: "
            f"“…{one_line(behind).rstrip()}…”; quote what it says now",
        )

    def _of_its_text(self, anchor: Anchor, row: QuoteRow) -> CharacterSpan | None:
        """Return the place of a row that shows the text of a lost label; None if it has another quote."""
        text = shown_keys(anchor.doc_id, anchor.text)
        for span in row.places[0]:
            if shown_keys(span.doc_id, span.text) == text:
                return span
        return None


def _is_named(name: str, anchor: Anchor, place: CharacterSpan) -> bool:
    """Return whether a row names the document of a place, and not that of a lost label, which may be gone."""
    is_own = names_fully(name, anchor.doc_id) and names_fully(anchor.doc_id, place.doc_id)
    return names_fully(name, place.doc_id) and not is_own


def _missing(row: QuoteRow, advice: str) -> QuoteRow:
    return replace(row, status="missing", places=(), ignoring=(), advice=advice, suggestion=None)


def shown_keys(doc_id: str, source: str) -> str:
    """Return what a part of a document shows, as quotes are compared."""
    return "".join(map(key, markup_of(doc_id, source).shown(0, len(source))))


def _behind(span: CharacterSpan, corpus: Corpus) -> str:
    """Return what readers are shown behind a span."""
    content = corpus[span.doc_id].content
    shown = markup_of(span.doc_id, content).characters(span.end, min(span.end + _AHEAD, len(content)))
    return "".join("\n\n" if sign == "\n" != content[first:end] else sign for sign, first, end in shown)


# Questions of a table of quotes, added to a dataset in the same corpus.

_LONGEST = 60  # characters of a wording
_MOST_NAMED = 3


@dataclass(frozen=True)
class Additions:
    """Dataset with the questions of a table of quotes.

    Attributes:
        dataset: The dataset.
        added: The questions that it did not have, or had skipped.
        corrected: Those whose quotes or metadata are other than it had; the table counts.
        kept: Those that it had as the table has them, or with a quote in the table that was not located.
        skipped: Those that it did not have, or had skipped, of which a quote was not located.
        repeated: Those, added or skipped, whose wording it had under another id: both are there now.
        check: The table, without quotes of lost labels that are only part of another sentence now.
    """

    dataset: Dataset[CharacterSpan]
    added: tuple[Query, ...]
    corrected: tuple[Query, ...]
    kept: tuple[Query, ...]
    skipped: tuple[Query, ...]
    repeated: tuple[Query, ...]
    check: QuoteCheck

    def counted(self) -> str:
        """Return how many questions of the table the dataset has now, and how."""
        counts = f"{len(self.corrected)} corrected, {len(self.kept)} there already"
        return f"{len(self.added)} question{'s' * (len(self.added) != 1)} added, {counts}{self._repeated()}"

    def _repeated(self) -> str:
        if not self.repeated:
            return ""
        ids = ", ".join(name_line(query.id) for query in self.repeated[:_MOST_NAMED])
        more = len(self.repeated) - _MOST_NAMED
        told = f"{ids} and {more} more" if more > 0 else ids
        return f"; the dataset had the same wording under another id: {len(self.repeated)} ({told})"


def add_questions(dataset: Dataset[CharacterSpan], check: QuoteCheck, corpus: Corpus) -> Additions:
    """Add the questions of a table of quotes to a dataset in the same corpus.

    A question is known by its id: that of the table or, without one, that of the skipped question with its wording, if
    no other question has that, or else the one that is generated of its wording. A new one is skipped if a quote of its
    is not located, or is one of a lost label and only part of another sentence now. Metadata that the table does not
    have stays.

    Raises:
        DatasetError: The id of a question in the table is that of another question in the dataset, scored or skipped.
    """
    settled = with_settled(check, dataset, corpus)
    located = _of_skipped(replace(settled, rows=with_conflicts(settled.rows)), dataset)
    check = without_lost(located, dataset, corpus)
    known = {query.id: query for query in (*(label.query for label in dataset.skipped), *dataset.queries)}
    _check_ids(known.values(), check)
    given, unplaced = _labels(check, known)
    unplaced = _with_lost(unplaced, _refused(located, check), dataset.skipped)
    before = {entry.query.id: entry for entry in dataset}
    corrected = {
        query_id for query_id, entry in given.items() if query_id in before and _differs(entry, before[query_id])
    }
    relabelled = {query_id for query_id in corrected if _answers(given[query_id]) != _answers(before[query_id])}
    entries = [given[entry.query.id] if entry.query.id in corrected else entry for entry in dataset]
    added = [entry for query_id, entry in given.items() if query_id not in before]
    again = {label.query.id: label.query for label in unplaced}
    left_out = tuple(query for query_id, query in again.items() if query_id not in before.keys() | given.keys())
    listed = (given.keys() | again.keys()) - corrected
    wordings = {_words_of(query) for query in known.values()}
    new = (*(entry.query for entry in added), *left_out)
    return Additions(
        _dataset(dataset, [*entries, *added], unplaced, corpus, relabelled),
        tuple(entry.query for entry in added),
        tuple(entry.query for entry in entries if entry.query.id in corrected),
        tuple(query for query in dataset.queries if query.id in listed),
        left_out,
        tuple(query for query in new if query.id not in known and _words_of(query) in wordings),
        check,
    )


def _of_skipped(check: QuoteCheck, dataset: Dataset[CharacterSpan]) -> QuoteCheck:
    """Return a table in which rows without an id have that of the skipped question whose wording they alone have."""
    ids: dict[tuple[str, ...], set[str]] = {}
    for query in (*(label.query for label in dataset.skipped), *dataset.queries):
        ids.setdefault(_words_of(query), set()).add(query.id)
    skipped = {label.query.id for label in dataset.skipped}
    own = {words: found.pop() for words, found in ids.items() if len(found) == 1 and found <= skipped}
    rows = [row if row.id else replace(row, id=own.get(tuple(row.question.split()), "")) for row in check.rows]
    return replace(check, rows=tuple(rows))


def _labels(
    check: QuoteCheck, known: Mapping[QueryId, Query]
) -> tuple[dict[QueryId, GroundTruth[CharacterSpan]], tuple[Skipped, ...]]:
    """Return the questions of a table by their ids, and the quotes of the others, with the metadata that is known."""
    located, unplaced = check.labels({query.id: query.text for query in known.values()})
    given: dict[QueryId, GroundTruth[CharacterSpan]] = {
        entry.query.id: replace(entry, query=_merged(entry.query, known.get(entry.query.id))) for entry in located
    }
    return given, tuple(replace(label, query=_merged(label.query, known.get(label.query.id))) for label in unplaced)


def _refused(located: QuoteCheck, check: QuoteCheck) -> frozenset[str]:
    """Return the ids and wordings of the questions of which a quote was located, and is that of a lost label."""
    rows = zip(located.rows, check.rows, strict=True)
    return frozenset(row.key for before, row in rows if row.status != before.status)


def _with_lost(unplaced: Sequence[Skipped], refused: frozenset[str], known: Sequence[Skipped]) -> tuple[Skipped, ...]:
    """Return the quotes that have no place, those of lost labels as the dataset knows them: it may find them again.

    A quote that has no place is no correction.
    """
    lost_labels = {label.query.id for label in known if label.anchor is not None}
    queries = {
        label.query.id: label.query
        for label in unplaced
        if label.query.id in lost_labels or {label.query.id, label.query.text} & refused
    }
    lost = [replace(label, query=queries[label.query.id]) for label in known if label.query.id in queries]
    kept = {label.query.id for label in lost}
    return (*lost, *(label for label in unplaced if label.query.id not in kept))


def _dataset(
    dataset: Dataset[CharacterSpan],
    entries: Sequence[GroundTruth[CharacterSpan]],
    unplaced: Sequence[Skipped],
    corpus: Corpus,
    relabelled: Set[str],
) -> Dataset[CharacterSpan]:
    """Return a dataset with other questions; it skips those that neither they nor the table have, or not all of."""
    asked, again = {entry.query.id for entry in entries}, {label.query.id for label in unplaced}
    skipped = [label for label in dataset.skipped if label.query.id not in asked | again]
    return Dataset(
        entries,
        TOKEN,
        name=dataset.name,
        corpus=corpus,
        metadata=dataset.metadata,
        skipped=[*skipped, *(label for label in unplaced if label.query.id not in asked)],
        recorded=None if dataset.recorded is None else dataset.recorded.forgetting(relabelled),
    )


def _check_ids(known: Iterable[Query], check: QuoteCheck) -> None:
    """Raise DatasetError if an id of the table is that of another question: one of the two would be gone."""
    queries: dict[str, Query] = {query.id: query for query in known}
    problems, read = Problems(), set[str]()
    for row in check.rows:
        other = None if row.id in read else queries.get(row.id)
        read.add(row.id)
        if other is not None and _words_of(other) != tuple(row.question.split()):
            problems.append(
                f"line {row.number}: the id {shown(row.id)} is that of {shown(other.text, _LONGEST)} in the dataset, "
                f"and of {shown(row.question, _LONGEST)} in the table; give the new question another id or, if the two "
                "are one question, the wording that the dataset has"
            )
    if problems:
        raise DatasetError(problems.message(check.source))


def _merged(query: Query, known: Query | None) -> Query:
    return query if known is None else replace(known, metadata={**known.metadata, **query.metadata})


def _differs(entry: GroundTruth[CharacterSpan], known: GroundTruth[CharacterSpan]) -> bool:
    return _answers(entry) != _answers(known) or entry.query != known.query


def _answers(entry: GroundTruth[CharacterSpan]) -> set[tuple[object, frozenset[object]]]:
    """Return what the answers of a question are: of each its first place, and the others in any order."""
    return {(answer.reference, frozenset(answer.places)) for answer in entry.answers}


def _words_of(query: Query) -> tuple[str, ...]:
    return tuple(query.text.split())
