"""Questions with quotes: the quickest way to label a dataset.

A table of `question, quote[, document]` with one row per quote: several rows for a question whose answer is
spread over several passages, an empty quote if the corpus holds no answer. Rows that share a value in the optional
column `answer` are alternatives, any of which is enough; those that share one in `place`, too, are parts of one. Quotes
are located in the corpus as people copy them, so nobody counts offsets. Other columns are kept as metadata of the
question; the optional column `id` sets its id.
"""

import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ..adapt.question_exports import TOLD, AskedQuote, QuoteTable, asked_quotes
from ..base import note, progress
from ..base.files import LARGEST, checked_path, read_bytes, write_new
from ..base.outside import first_of, grouped, name_line, one_line, shown
from ..base.records import Problems
from ..base.stages import Arrays, stage
from ..base.tables import delimiter_of, headings
from ..contracts.registry.loading import load_installed
from ..data import TOKEN, Answer, CharacterSpan, Dataset, Query, Skipped, count_skipped
from ..data.documents import Corpus, DocumentResolver, checked_corpus, names_fully
from ..data.ground_truth import GroundTruth, TokenLevelGroundTruth, with_text
from ..data.ids import QueryId, QueryIds, QueryText
from ..errors import ConfigError, DatasetError
from ..text.markups import flat, markup_of, struck_out
from .alignment import word_places
from .quote_locator import NOT_SHOWN, Located, QuoteLocator
from .suggestions import LONGEST, Suggestion, lost_parts, suggest, suggest_located

if TYPE_CHECKING:
    from ..report.pages.quotes import Page

# One row of a table of quotes, and whether its quote was located.

_STRUCK_OUT = {"all": "that it is struck out", "part": "that it is struck out in part"}
_WARNINGS = (NOT_SHOWN, *_STRUCK_OUT.values())

ANY_DOCUMENT = "*"
"""What a row names as its document if any occurrence of its quote, in any document, answers the question."""

MOST_OCCURRENCES = 1_000
"""How many occurrences of a quote may be the places of an answer."""

QuoteStatus: TypeAlias = Literal["located", "ambiguous", "missing", "no-answer"]
Repeated: TypeAlias = Literal["ambiguous", "any"]
"""What a quote is that occurs more than once."""

Place: TypeAlias = tuple[CharacterSpan, ...]
_MOST_PLACES = 3


@dataclass(frozen=True)
class Fate:
    """Outcome of a row's quote or context.

    Attributes:
        status: `located`: occurs exactly once, or any occurrence was asked for. `ambiguous`: occurs more than once.
            `missing`: does not occur. `no-answer`: the quote is empty, so the corpus holds no answer.
        places: The occurrences of the quote; at most 20 of an ambiguous one. Each is one or more spans of one document,
            in order: "A … B" has two. Where a located row has several, each is enough.
        ignoring: In what the quote and the document differ: "emphasis", "line breaks"; then that its place is not
            shown, or struck out. Empty if it occurs verbatim and neither is so.
        advice: What to do about it; "" for located rows.
        suggestion: The passage that a missing quote may mean; None if nothing is similar enough.
    """

    status: QuoteStatus = "missing"
    places: tuple[Place, ...] = ()
    ignoring: tuple[str, ...] = ()
    advice: str = ""
    suggestion: Suggestion | None = None


@dataclass(frozen=True, repr=False, kw_only=True)
class QuoteRow(Fate, AskedQuote):
    """One row of a file of quotes, and whether its quote was located."""

    @property
    def warning(self) -> str:
        """Why the place of a located row is hardly an answer: "is struck out"; "" if nothing speaks against it."""
        return next((name.removeprefix("that it ") for name in self.ignoring if name in _WARNINGS), "")

    @property
    def key(self) -> str:
        """Key that the rows of one question share: its id or, without one, its wording."""
        return self.id or self.question

    @property
    def reason(self) -> str:
        """Why the quote was not located, and what to do about it: status, status and advice; "" if it was."""
        return f"{self.status}: {one_line(self.advice)}" if self.advice else ""

    def __str__(self) -> str:
        told = one_line(self.advice)
        if self.status == "located":
            several = f"any of {len(self.places)}: " if len(self.places) > 1 else ""
            differing = f", ignoring: {', '.join(self.ignoring)}" if self.ignoring else ""
            told = f"{several}{first_of([*map(_named, self.places)], _MOST_PLACES)}{differing}"
        return f"line {self.number:<4} {self.status:<10} {told}".rstrip()

    def __repr__(self) -> str:
        return f"QuoteRow({self})"


def _named(place: Place) -> str:
    return name_line(place[0].doc_id) + " … ".join(f"[{span.start}:{span.end}]" for span in place)


# The answers of the rows of one question: which of their quotes are alternatives, and which are parts of one place.


def answers_of(rows: Sequence[QuoteRow]) -> tuple[Answer[CharacterSpan], ...]:
    """Return what is relevant to the question of some rows, whose quotes were located.

    Rows that share a value in the column `answer` are alternatives, in their order; those that share one in the column
    `place`, too, are parts of one place. A row without a value there is an answer of its own; its quote may stand in
    several places, of which any is enough.

    Raises:
        DatasetError: The parts of a place are in several documents, share characters, or occur more than once.
    """
    answers = [
        [place for parts in _grouped(group, "place") for place in _places(parts)] for group in _grouped(rows, "answer")
    ]
    return tuple(Answer(tuple(places)) for places in answers if places)


def _grouped(rows: Iterable[QuoteRow], column: Literal["key", "answer", "place"]) -> list[list[QuoteRow]]:
    """Return the rows that share a value in a column, in order; a row without one is alone."""
    return [*grouped((getattr(row, column) or number, row) for number, row in enumerate(rows)).values()]


def _places(parts: Sequence[QuoteRow]) -> list[Place]:
    """Return the places of rows that are parts of one."""
    if len(parts) == 1:
        return [*parts[0].places]
    several = next((row for row in parts if len(row.places) > 1), None)
    if several is not None:
        raise DatasetError(
            f"the quote of line {several.number} occurs more than once, and parts of a place have one each: name the "
            "document, or quote more"
        )
    spans = sorted((span for row in parts for span in row.places[0]), key=lambda span: span.start)
    return [Answer((tuple(spans),)).reference]


def with_conflicts(rows: Sequence[QuoteRow]) -> tuple[QuoteRow, ...]:
    """Return rows, those missing that were located and make no place together, as their parts are in two documents.

    Of a place of which a part was not located, nothing is said: that row tells why its question is skipped.
    """
    wrong: dict[int, dict[str, Any]] = {}
    for group in (group for asked in _grouped(rows, "key") for group in _grouped(asked, "answer")):
        for parts in _grouped(group, "place"):
            try:
                if all(row.status == "located" for row in parts):
                    _places(parts)
            except DatasetError as error:
                wrong.update((row.number, {"status": "missing", "places": (), "advice": str(error)}) for row in parts)
    return tuple(replace(row, **wrong[row.number]) if row.number in wrong else row for row in rows)


# The quotes of a table, checked against the corpus, and the dataset they make.

_PAGE = "rag_evaluation_framework.report.pages.quotes:quotes_page"  # loaded when it is shown


@dataclass(frozen=True, repr=False)
class QuoteCheck:
    """Result of checking the quotes of a file against the corpus, row by row.

    Attributes:
        source: The file.
        corpus: The documents.
        rows: One entry per row, in order.
        columns: The columns of the file, in order.
    """

    source: str
    corpus: Corpus
    rows: tuple[QuoteRow, ...]
    columns: tuple[str, ...]

    @property
    def problems(self) -> tuple[QuoteRow, ...]:
        """The rows whose quote is ambiguous or missing."""
        return tuple(row for row in self.rows if row.status in ("ambiguous", "missing"))

    @cached_property
    def skipped(self) -> tuple[Skipped, ...]:
        """The quotes that were not located, each with its question, which the dataset skips, and the reason."""
        return self.labels()[1]

    def labels(self, taken: Mapping[str, str] | None = None) -> tuple[list[TokenLevelGroundTruth], tuple[Skipped, ...]]:
        """Return the questions whose quotes were all located, and the quotes of the others that were not.

        Args:
            taken: Ids that are in use, each with the wording of its question; no other question gets one of these,
                unless its row says so.
        """
        ids = QueryIds({**(taken or {}), **{row.id: row.question for row in self.rows if row.id}})
        entries: list[TokenLevelGroundTruth] = []
        queries: dict[str, Query] = {}
        for rows in _grouped(self.rows, "key"):
            metadata = {key: value for row in reversed(rows) for key, value in row.metadata.items() if value}
            identity = QueryId(rows[0].id) if rows[0].id else ids.of(rows[0].question)
            queries[rows[0].key] = query = Query(identity, QueryText(rows[0].question), metadata)
            if all(row.status in ("located", "no-answer") for row in rows):
                entries.append(TokenLevelGroundTruth(query, answers_of(rows)))
        return entries, tuple(Skipped(queries[row.key], row.quote, row.reason) for row in self.problems)

    @property
    def alternatives(self) -> str:
        """How many answers have several places, in words: "2 answers with 7 places, any of which is enough"; or "".

        With what made them so, if that was the column `answer`, which may have been meant for something else.
        """
        answers = [answer for entry in self.labels()[0] for answer in entry.answers if len(answer.places) > 1]
        if not answers:
            return ""
        places = sum(len(answer.places) for answer in answers)
        told = f"{len(answers)} answer{'s' * (len(answers) != 1)} with {places} places, any of which is enough"
        skipped = {row.key for row in self.problems}
        asked = (rows for rows in _grouped(self.rows, "key") if rows[0].key not in skipped)
        by_column = any(len(_grouped(group, "place")) > 1 for rows in asked for group in _grouped(rows, "answer"))
        return f"{told} (rows of one question with the same `answer` are alternatives)" if by_column else told

    def dataset(self, name: str | None = None) -> Dataset[CharacterSpan]:
        """Return the dataset of all questions whose quotes were all located; the others are its `skipped`.

        A question with a missing or ambiguous quote is skipped entirely: scored by its other quotes alone, retrieving
        the right text would count as wrong.

        Raises:
            DatasetError: No question is left.
        """
        entries, skipped = self.labels()
        if not entries:
            told = Problems(map(str, self.problems)).message(self.source)
            raise DatasetError(f"{told}\nNo question is left; are these the right documents (--corpus, --glob)?")
        return Dataset(entries, TOKEN, name=name or Path(self.source).stem, corpus=self.corpus, skipped=skipped)

    def save_suggestions(self) -> Path | None:
        """Write the table again as CSV, with a suggestion beside each quote that has one, for a person to look through.

        All rows and columns are there, in order, as they were. What tells about a row is in columns of their own:
        `quote_check`, `suggestion`, `suggestion_document` (of one that occurs once), `suggestion_place` and
        `suggestion_difference`; and `accept`, which is empty. In a row with `yes` in it `check_quotes` takes the
        suggestion for its quote. The delimiter and the byte order mark are those of the table, if it is CSV, so that a
        program that opens the one opens the other.

        Returns:
            The new file, `NAME.suggested.csv` beside the table; if something else is there, it is kept, and
            `NAME.suggested.1.csv` is written, and so on. None if there is no suggestion, and nothing was written.

        Raises:
            DatasetError: The file cannot be written, or CSV cannot hold a row.
        """
        rows, source = self.rows, Path(self.source)
        if not any(row.suggestion for row in rows):
            return None
        file, delimiter = io.StringIO(newline=""), ","
        if source.suffix.lower() == ".csv" and source.is_file():
            table = read_bytes(source, DatasetError, most=LARGEST, remedy="split it").decode("utf-8", "replace")
            # Excel opens a file in the encoding of its country, unless it has the mark.
            file.write("\ufeff" if table[:1] == "\ufeff" or "\ufffd" in table else "")
            delimiter = delimiter_of(table)
        more = (one for one in ("document", "id") if one not in self.columns and any(vars(row)[one] for row in rows))
        header = [*self.columns, *more, *TOLD]
        # Beside several quotes in a row, `answer` is a text; in a row for each of them it would make them alternatives.
        is_text = any(row.metadata.get("answer") and not row.answer for row in rows)
        titles = ["answer_text" if is_text and name == "answer" else name for name in header]
        headings(iter([(1, titles)]), source)  # it is to be read again
        cells = ([_cells(row).get(name, "") for name in header] for row in rows)
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([titles, *cells])
        try:
            content = file.getvalue().encode()
        except UnicodeEncodeError as error:
            raise DatasetError(f"{source}: a row is no text that UTF-8 holds ({error.reason}); correct it") from error
        name = re.sub(r"\.suggested(?:\.\d+)?\Z", "", source.stem)
        places = (source.with_name(f"{name}.suggested{f'.{number}' if number else ''}.csv") for number in count())
        place = next(one for one in places if not one.exists() or (one.is_file() and one.read_bytes() == content))
        if not place.exists():
            write_new(place, content.decode())
        return place

    def summary(self, whole: bool = False) -> "Page":
        """Return it as people read it: the weakest rows that fit on a screen, or all, marked in their passages."""
        page: Page = load_installed(_PAGE)(self, whole)
        return page

    def __str__(self) -> str:
        return self.summary().as_text()

    def __repr__(self) -> str:
        return f"QuoteCheck({self.counted()})"

    def _repr_html_(self) -> str:
        return self.summary(whole=True).as_html()

    def counted(self) -> str:
        """Return the number of rows by status, in words."""
        counts = Counter(row.status for row in self.rows)
        statuses = ", ".join(f"{counts[status]} {status}" for status in get_args(QuoteStatus))
        skipped = f"; {skipped_questions(self.skipped)}" if self.skipped else ""
        told = f"; {self.alternatives}" if self.alternatives else ""
        return f"{one_line(self.source)}: {len(self.rows)} row{'s' * (len(self.rows) != 1)}: {statuses}{told}{skipped}"


def skipped_questions(skipped: Iterable[Skipped]) -> str:
    """Return how many questions were skipped, for messages."""
    count = count_skipped(skipped)
    return f"{count} question{'s' * (count != 1)} skipped: fix {'its' if count == 1 else 'their'} quotes"


def _cells(row: QuoteRow) -> dict[str, str]:
    """Return the cells of a row, and those that tell about it."""
    given = {**row.metadata, "question": row.question, "quote": row.quote, "document": row.document, "id": row.id}
    filled = ((name, value) for name, value in given.items() if value)
    cells = {name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for name, value in filled}
    cells["quote_check"] = row.reason or f"{row.status}{f', but it {row.warning}' if row.warning else ''}"
    if found := row.suggestion:
        document = found.document if len(found.copies) == 1 else ""
        told = (row.status, found.quote, document, "; ".join(found.copies), found.difference)
        cells.update(zip(TOLD, told, strict=False))
    return cells


# Locating the quotes of a table.

_LIMIT = 20
_VERSION = 3  # of how quotes are located: what another one found is not taken
_MOST_SHOWN = 160


def check_quotes(
    path: Any,
    corpus: Corpus | str | Path,
    verbatim_only: bool = False,
    repeated: Repeated = "ambiguous",
    columns: Mapping[str, str] | None = None,
) -> QuoteCheck:
    """Check the quotes of questions: locate each of them in the corpus.

    A quote is located where it occurs verbatim, its first and last word whole, or, if it occurs nowhere so, where it
    differs only in white space. Else it is located where it differs only in what a renderer and a keyboard change:
    markup, quotation marks, dashes, ligatures, divided words and the like, capitals last. What was ignored is said.
    Similarity is never enough: a quote that was not found is shown with the nearest passage.

    Args:
        path: The file: a table (CSV of any separator and encoding, `.xlsx`), JSONL, or what another tool exports; or a
            list of dicts, or a data frame.
        corpus: The documents, or their path; the suffix of an id tells Markdown, HTML and reStructuredText.
        verbatim_only: Ignore nothing but white space.
        repeated: What a quote is that occurs more than once: `ambiguous`, so that its question is skipped, or answered
            by `any` of its occurrences (in the document, if the row names one). A row whose document is `*` always is
            the latter.
        columns: What the columns are called that are not question, quote, document and id:
            `{"question": "Frage", "quote": "Zitat"}`; `""` of one that there is not. Usual names need not be told.

    Raises:
        ConfigError: `repeated` is neither.
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: The file cannot be read, lacks a column, or has a row without a question.
    """
    given = checked_path(path) if isinstance(path, str | Path) else path
    corpus = checked_corpus(Corpus.of(corpus) if isinstance(corpus, str | Path) else corpus)
    if repeated not in get_args(Repeated):
        raise ConfigError(f"repeated={shown(repeated)}; expected 'ambiguous' or 'any'")
    return _checked(asked_quotes(given, columns), corpus, verbatim_only, repeated)


def _checked(
    table: QuoteTable, corpus: Corpus, verbatim_only: bool = False, repeated: Repeated = "ambiguous"
) -> QuoteCheck:
    locator, resolver = QuoteLocator.of(corpus), DocumentResolver(corpus)
    answered = {asked.id or asked.question for asked in table.quotes if asked.quote.strip()}
    rows: list[QuoteRow] = []
    for asked in progress(table.quotes, "Locating quotes", "quote"):
        others, sought = (asked.id or asked.question) in answered, asked.context or asked.quote
        fate = locate_quote(sought, asked.document, locator, resolver, others, verbatim_only, repeated)
        rows.append(QuoteRow(**vars(asked), **vars(_within(fate, asked, locator) if asked.context else fate)))
    return QuoteCheck(table.source, corpus, with_conflicts(rows), table.columns)


def _within(fate: Fate, asked: AskedQuote, locator: QuoteLocator) -> Fate:
    """Return what became of a quote, given what became of its context: of its places there the nearest to its start."""
    if fate.status != "located":
        return replace(fate, advice=f"its context: {fate.advice}", suggestion=None)
    places: list[Place] = []
    for around in fate.places:
        doc_id, start, end = around[0].doc_id, around[0].start, around[-1].end
        text = locator.corpus[doc_id].content[start:end]
        if text == asked.context and text.find(asked.quote, asked.start) == asked.start:
            at = start + asked.start
            places.append((CharacterSpan(doc_id, at, at + len(asked.quote), asked.quote),))
            continue
        there = locator.locate(asked.quote, doc_id, MOST_OCCURRENCES).places
        inside = [place for place in there if start <= place[0].start and place[-1].end <= end]
        expected = start + asked.start * (end - start) // len(asked.context)
        places += sorted(inside, key=lambda place: abs(place[0].start - expected))[:1]
    return replace(fate, places=tuple(places)) if places else Fate(advice="it is not in its context")


def locate_quote(
    quote: str,
    document: str,
    locator: QuoteLocator,
    resolver: DocumentResolver,
    answered: bool = False,
    verbatim_only: bool = False,
    repeated: Repeated = "ambiguous",
) -> Fate:
    """Return the status of a quote, where it stands, and what to do about it.

    Args:
        quote: The quote; blank for a question without an answer.
        document: The document that contains it, by its id, a part of that, or a longer path; blank if unknown, `*` if
            any occurrence in any document is enough.
        locator: Locates quotes in the corpus.
        resolver: Finds the document by its name.
        answered: Whether the question has other quotes that are not blank.
        verbatim_only: Ignore nothing but white space.
        repeated: What it is if it occurs more than once: `ambiguous`, or answered by `any` occurrence.
    """
    if not quote.strip():
        advice = "the quote is empty, but other rows answer the question: remove the row or fill it in"
        return Fate(advice=advice) if answered else Fate("no-answer")
    if not any(map(str.isalnum, quote)):
        return Fate(
            advice="the quote has no letter or digit, by which edits could be followed: quote more, or leave it empty "
            "if there is no answer"
        )
    if document.strip() == ANY_DOCUMENT:
        document, repeated = "", "any"
    try:
        doc_id = resolver.resolve_named(document) if document.strip() else None
    except DatasetError as error:
        if len(resolver.named(document)) > 1:
            return Fate(advice=str(error))
        found = locator.locate(quote, None, _LIMIT, verbatim_only)
        return _misplaced(found, locator, str(error), document) if found.places else Fate(advice=str(error))
    limit = _LIMIT if repeated == "ambiguous" else MOST_OCCURRENCES + 1
    located = locator.locate(quote, doc_id, limit, verbatim_only)
    if len(located.places) == 1 or (repeated == "any" and 1 < len(located.places) < limit):
        return Fate("located", located.places, _noted(located, locator))
    if located.places:
        told = _told_places(located.places[:_LIMIT], locator)
        if repeated == "any":
            advice = f"{told}: more than {MOST_OCCURRENCES:,} places; quote more"
        else:
            several = len({spans[0].doc_id for spans in located.places}) > 1
            more = "name the document, or quote more" if several else "quote more"
            advice = (
                f"{told}: {more}; or, if each of them answers the question, write {ANY_DOCUMENT} as the document (init "
                "and dataset update: --repeated any, for all rows)"
            )
        return Fate("ambiguous", located.places, located.ignoring, advice)
    if doc_id is not None and (found := locator.locate(quote, None, _LIMIT, verbatim_only)).places:
        return _misplaced(found, locator, "correct the document", str(doc_id))
    return _missing(quote, doc_id, locator, verbatim_only)


def _noted(located: Located, locator: QuoteLocator) -> tuple[str, ...]:
    """Return what was ignored, also that nothing of a place is shown or that it is struck out, however it was found."""
    spans = [(locator.markup(span), span.start, span.end) for place in located.places for span in place]
    hidden = [] if all(markup.shows(start, end) for markup, start, end in spans) else [NOT_SHOWN]
    struck = {struck_out(*span) for span in spans}
    told = [] if struck == {""} else [_STRUCK_OUT["all" if struck == {"all"} else "part"]]
    return tuple(dict.fromkeys([*located.ignoring, *hidden, *told]))


def _misplaced(located: Located, locator: QuoteLocator, advice: str, named: str) -> Fate:
    """Return that a quote is not in the document that is named, and where it is."""
    where = f"not in {name_line(named)}"
    difference = f"in {name_line(located.places[0][0].doc_id)}, {where}"
    told = f"found in {_told_places(located.places, locator)}, {where}: {advice}"
    return Fate(advice=told, suggestion=suggest_located(located, locator, difference))


def _missing(quote: str, doc_id: str | None, locator: QuoteLocator, verbatim_only: bool) -> Fate:
    """Return what a quote may mean that stands nowhere."""
    shown = locator.locate(quote, doc_id, _LIMIT) if verbatim_only else Located()
    only = f"it stands there only ignoring: {', '.join(shown.ignoring)}"
    found = suggest_located(shown, locator, only) if shown.places else suggest(quote, locator, doc_id)
    if found is None:
        long = f"quote less than {LONGEST:,} characters" if len(quote) > LONGEST else ""
        more = long or lost_parts(quote, locator, doc_id)
        return Fate(advice=f"nothing similar in the corpus{more and f'; {more}'}")
    copies = f", and {len(found.copies) - 1} more such" if len(found.copies) > 1 else ""
    advice = (
        f"nearest passage ({found.percent} similar): {name_line(found.place)}{copies} "
        f"“{one_line(found.quote, _MOST_SHOWN)}”; {one_line(found.difference)}"
    )
    return Fate(advice=advice, suggestion=found)


# The places of a quote that occurs several times, and the words beside each that no other place has.

_AROUND = 120  # characters of the source that are read on each side
_MOST_WORDS = 8


def _told_places(places: Sequence[Place], locator: QuoteLocator) -> str:
    """Return the first three of up to 20 places, each with the words before or behind it that only it has.

    Of 20 places there may be others, and no words are told.
    """
    spans, beside = [place[0] for place in places], list[tuple[list[str], list[str]]]()
    if 1 < len(places) < _LIMIT and all(len(place) == 1 for place in places):
        for span in spans:
            show = locator.markup(span).shown
            before, behind = show(max(span.start - _AROUND, 0), span.start), show(span.end, span.end + _AROUND)
            beside.append((before.split()[::-1], behind.split()))
    return first_of([locator.lines.named(span) + _only(at, beside) for at, span in enumerate(spans)], _MOST_PLACES)


def _only(number: int, beside: Sequence[tuple[list[str], list[str]]]) -> str:
    """Return the fewest words before or behind a place that no other place has there, as a remark; "" if none."""
    for size, side in product(range(1, _MOST_WORDS + 1), (0, 1)) if beside else ():
        words, forms = beside[number][side][:size], [[*map(flat, both[side][:size])] for both in beside]
        if len(words) == size and forms.count(forms[number]) == 1:
            return f" ({('behind', 'before')[side]} “{one_line(' '.join(words if side else words[::-1]))}”)"
    return ""


# Questions with quotes as a dataset, of which the quotes are located once.


def dataset_from_quotes(given: Any, corpus: Corpus, columns: Mapping[str, str] | None = None) -> Dataset[CharacterSpan]:
    """Return the dataset of questions with quotes, noting the questions that are skipped.

    Where stages are kept, the same quotes are located in the same documents once.
    """
    table = asked_quotes(given, columns)

    def located() -> Arrays:
        rows = [
            (row.status, [[(span.doc_id, span.start, span.end) for span in place] for place in row.places], row.advice)
            for row in _checked(table, corpus).rows
        ]
        return {"rows": np.frombuffer(json.dumps(rows).encode(), np.uint8)}

    facts = [_VERSION, [*map(asdict, table.quotes)], corpus.ordered_hash]
    rows: list[QuoteRow] = []
    kept = json.loads(stage("labels", facts, located)["rows"].tobytes())
    for asked, (status, places, advice) in zip(table.quotes, kept, strict=True):
        spans = (tuple(with_text(CharacterSpan(*span), corpus) for span in place) for place in places)
        rows.append(QuoteRow(**vars(asked), status=status, places=tuple(spans), advice=advice))
    check = QuoteCheck(table.source, corpus, tuple(rows), table.columns)
    dataset = check.dataset()
    if check.problems:
        note("\n".join([check.counted(), *map(str, check.problems[:_LIMIT])]))
    elif check.alternatives:
        note(f"{table.source}: {check.alternatives}")
    return dataset


# Questions of a table of quotes, added to a dataset.

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
    both = ((query_id, entry, before[query_id]) for query_id, entry in given.items() if query_id in before)
    corrected = {name for name, entry, was in both if (_answers(entry), entry.query) != (_answers(was), was.query)}
    entries = [given[entry.query.id] if entry.query.id in corrected else entry for entry in dataset]
    added = [entry for query_id, entry in given.items() if query_id not in before]
    again = {label.query.id: label.query for label in unplaced}
    asked = before.keys() | given.keys()
    skipped = [label for label in dataset.skipped if label.query.id not in asked | again.keys()]
    listed = (given.keys() | again.keys()) - corrected
    skipped += [label for label in unplaced if label.query.id not in asked]
    return Additions(
        replace(dataset, ground_truth=(*entries, *added), corpus=corpus, corpus_hash=None, skipped=tuple(skipped)),
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
        for name in {entry.query.id, _spaced(entry.query.text)}:
            found[name] += entry.labels
    for question in dataset.incomplete:
        for name in {question.query.id, _spaced(question.query.text)}:
            lost[name] += [span for numbers, span in question.labels() if numbers in question.texts]
    rows: list[QuoteRow] = []
    for row in check.rows:
        name = row.id or _spaced(row.question)
        asks_for_any = row.document.strip() == ANY_DOCUMENT or (row.status == "located" and len(row.places) > 1)
        same = [] if asks_for_any else [one for one in found[name] if _is_quoted(one, row)]
        if same:
            taken = same if row.status == "ambiguous" else same[:1]  # then it stands for all of them
            found[name] = [one for one in found[name] if one not in taken]
            fate = Fate("located", tuple((one,) for one in taken))
            row = replace(row, **vars(fate))
        elif not asks_for_any and any(_is_quoted(one, row) for one in lost[name]):
            row = replace(row, **vars(Fate(advice=_LOST)))
        rows.append(row)
    return replace(check, rows=with_conflicts(rows))


def _is_quoted(span: CharacterSpan, row: QuoteRow) -> bool:
    """Return whether a row quotes a label: the same words, and no document in full that the label is not in.

    "pricing.md" does not name "archive/pricing.md" in full.
    """
    shown = markup_of(span.doc_id, span.text).text
    words = [[flat(text[start:end]) for start, end in word_places(text)] for text in (shown, row.quote)]
    own, name = span.doc_id, row.document.strip()
    is_own = name and names_fully(name, own)
    others = {one.doc_id for place in row.places for one in place if name and one.doc_id != own}
    names_another = any(names_fully(name, one) and not (is_own and names_fully(own, one)) for one in others)
    return bool(words[0]) and words[0] == words[1] and not names_another


def _of_skipped(check: QuoteCheck, dataset: Dataset[CharacterSpan]) -> QuoteCheck:
    """Return a table in which rows without an id have that of the skipped question whose wording they alone have."""
    ids: dict[str, set[str]] = defaultdict(set)
    for query in (*(label.query for label in dataset.skipped), *dataset.queries):
        ids[_spaced(query.text)].add(query.id)
    skipped = {label.query.id for label in dataset.skipped}
    own = {words: found.pop() for words, found in ids.items() if len(found) == 1 and found <= skipped}
    rows = [row if row.id else replace(row, id=own.get(_spaced(row.question), "")) for row in check.rows]
    return replace(check, rows=tuple(rows))


def _check_ids(known: Mapping[QueryId, Query], check: QuoteCheck) -> None:
    """Raise DatasetError if an id of the table is that of another question: one of the two would be gone."""
    problems = Problems()
    first = {row.id: row for row in reversed(check.rows)}
    for row in sorted(first.values(), key=lambda row: row.number):
        other = known.get(QueryId(row.id))
        if other is not None and _spaced(other.text) != _spaced(row.question):
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


def _spaced(wording: str) -> str:
    return " ".join(wording.split())
