"""Questions of a table of quotes, added to a dataset."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..base.outside import shown
from ..base.records import Problems
from ..data import TOKEN, CharacterSpan, Corpus, Dataset, GroundTruth, Query, QueryId
from ..data.documents import names_fully
from ..errors import DatasetError
from ..text.markups import markup_of
from ..text.markups.characters import flat
from .alignment import word_places
from .quote_table import QuoteCheck, QuoteRow, with_conflicts

_LOST = (
    "its label was lost as the documents changed: `dataset update` shows what stands in its place, and takes it with "
    "--take; or quote another text"
)
_LONGEST = 60  # characters of a wording


@dataclass(frozen=True)
class Additions:
    """Dataset with the questions of a table of quotes.

    Attributes:
        dataset: The dataset.
        added: The questions that it did not have, or had skipped.
        corrected: Those whose quotes or metadata are other than it had; the table counts.
        kept: Those that it had as the table has them, or with a quote in the table that was not located.
        skipped: Those that it did not have, or had skipped, of which a quote was not located.
        check: The table.
    """

    dataset: Dataset[CharacterSpan]
    added: tuple[Query, ...]
    corrected: tuple[Query, ...]
    kept: tuple[Query, ...]
    skipped: tuple[Query, ...]
    check: QuoteCheck

    def counted(self) -> str:
        """Return how many questions of the table the dataset has now, and how."""
        counts = f"{len(self.corrected)} corrected, {len(self.kept)} there already"
        return f"{len(self.added)} question{'s' * (len(self.added) != 1)} added, {counts}"


def add_questions(dataset: Dataset[CharacterSpan], check: QuoteCheck, corpus: Corpus) -> Additions:
    """Add the questions of a table of quotes to a dataset in the same corpus.

    A question is known by its id: that of the table or, without one, that of the skipped question with its wording, if
    no other question has that, or else the one that is generated of its wording. A new one is skipped if a quote of its
    is not located. A quote of a label that its question has is that label, wherever else its text stands; if that was
    lost, so is the quote. Metadata that the table does not have stays.

    Raises:
        DatasetError: The id of a question in the table is that of another question in the dataset, scored or skipped.
    """
    check = _of_skipped(_as_labelled(check, dataset), dataset)
    known = {query.id: query for query in (*(label.query for label in dataset.skipped), *dataset.queries)}
    _check_ids(known, check)

    def merged(query: Query) -> Query:
        earlier = known.get(query.id)
        return query if earlier is None else replace(earlier, metadata={**earlier.metadata, **query.metadata})

    located, unplaced = check.labels({query.id: query.text for query in known.values()})
    given = {entry.query.id: replace(entry, query=merged(entry.query)) for entry in located}
    unplaced = tuple(replace(label, query=merged(label.query)) for label in unplaced)
    before = {entry.query.id: entry for entry in dataset}
    corrected = {
        query_id
        for query_id, entry in given.items()
        if query_id in before and (_answers(entry), entry.query) != (_answers(before[query_id]), before[query_id].query)
    }
    entries = [given[entry.query.id] if entry.query.id in corrected else entry for entry in dataset]
    added = [entry for query_id, entry in given.items() if query_id not in before]
    again = {label.query.id: label.query for label in unplaced}
    asked = before.keys() | given.keys()
    skipped = [label for label in dataset.skipped if label.query.id not in asked | again.keys()]
    listed = (given.keys() | again.keys()) - corrected
    return Additions(
        Dataset(
            [*entries, *added],
            TOKEN,
            name=dataset.name,
            corpus=corpus,
            metadata=dataset.metadata,
            skipped=[*skipped, *(label for label in unplaced if label.query.id not in asked)],
            incomplete=dataset.incomplete,
            kept=dataset.kept,
            earlier=dataset.earlier,
        ),
        tuple(entry.query for entry in added),
        tuple(entry.query for entry in entries if entry.query.id in corrected),
        tuple(query for query in dataset.queries if query.id in listed),
        tuple(query for query_id, query in again.items() if query_id not in asked),
        check,
    )


def _as_labelled(check: QuoteCheck, dataset: Dataset[CharacterSpan]) -> QuoteCheck:
    """Return a check in which quotes of labels that a dataset has, or lost, are where these are.

    The table may be the one that the dataset was made of: what was chosen, moved or lost since is not chosen again. A
    row that asks for any place, or names a document that the label is not in, is not one of these.
    """
    found: dict[str, list[CharacterSpan]] = defaultdict(list)
    lost: dict[str, list[CharacterSpan]] = defaultdict(list)
    for entry in dataset:
        for name in {entry.query.id, " ".join(entry.query.text.split())}:
            found[name] += entry.labels
    for question in dataset.incomplete:
        for name in {question.query.id, " ".join(question.query.text.split())}:
            lost[name] += [span for numbers, span in question.labels() if numbers in question.texts]
    rows: list[QuoteRow] = []
    for row in check.rows:
        name = row.id or " ".join(row.question.split())
        same = [] if row.asks_for_any else [one for one in found[name] if _is_quoted(one, row)]
        if same:
            taken = same if row.status == "ambiguous" else same[:1]  # then it stands for all of them
            found[name] = [one for one in found[name] if one not in taken]
            places = tuple((one,) for one in taken)
            row = replace(row, status="located", places=places, ignoring=(), advice="", suggestion=None)
        elif not row.asks_for_any and any(_is_quoted(one, row) for one in lost[name]):
            row = replace(row, status="missing", places=(), ignoring=(), advice=_LOST, suggestion=None)
        rows.append(row)
    return replace(check, rows=with_conflicts(rows))


def _is_quoted(span: CharacterSpan, row: QuoteRow) -> bool:
    """Return whether a row quotes a label: the same words, and no document in full that the label is not in.

    "pricing.md" does not name "archive/pricing.md" in full.
    """
    shown = markup_of(span.doc_id, span.text).shown(0, len(span.text))
    words = [[flat(text[start:end]) for start, end in word_places(text)] for text in (shown, row.quote)]
    return bool(words[0]) and words[0] == words[1] and not _names_another(row, span.doc_id)


def _names_another(row: QuoteRow, own: str) -> bool:
    name, places = row.document.strip(), [span.doc_id for place in row.places for span in place]
    is_own = name and names_fully(name, own)
    return any(
        place != own and names_fully(name, place) and not (is_own and names_fully(own, place))
        for place in (places if name else [])
    )


def _of_skipped(check: QuoteCheck, dataset: Dataset[CharacterSpan]) -> QuoteCheck:
    """Return a table in which rows without an id have that of the skipped question whose wording they alone have."""
    ids: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for query in (*(label.query for label in dataset.skipped), *dataset.queries):
        ids[_words_of(query)].add(query.id)
    skipped = {label.query.id for label in dataset.skipped}
    own = {words: found.pop() for words, found in ids.items() if len(found) == 1 and found <= skipped}
    rows = [row if row.id else replace(row, id=own.get(tuple(row.question.split()), "")) for row in check.rows]
    return replace(check, rows=tuple(rows))


def _check_ids(known: Mapping[QueryId, Query], check: QuoteCheck) -> None:
    """Raise DatasetError if an id of the table is that of another question: one of the two would be gone."""
    problems = Problems()
    first = {row.id: row for row in reversed(check.rows)}
    for row in sorted(first.values(), key=lambda row: row.number):
        other = known.get(QueryId(row.id))
        if other is not None and _words_of(other) != tuple(row.question.split()):
            problems.append(
                f"line {row.number}: the id {shown(row.id)} is that of {shown(other.text, _LONGEST)} in the dataset, "
                f"and of {shown(row.question, _LONGEST)} in the table; give the new question another id or, if the two "
                "are one question, the wording that the dataset has"
            )
    if problems:
        raise DatasetError(problems.message(check.source))


def _answers(entry: GroundTruth[CharacterSpan]) -> set[tuple[object, frozenset[object]]]:
    """Return what the answers of a question are: of each its first place, and the others in any order."""
    return {(answer.reference, frozenset(answer.places)) for answer in entry.answers}


def _words_of(query: Query) -> tuple[str, ...]:
    return tuple(query.text.split())
