"""Questions with quotes: the quickest way to label a dataset.

A table of `question, quote[, document]` with one row per quote: several rows for a question whose answer is
spread over several passages, an empty quote if the corpus holds no answer. Rows that share a value in the optional
column `answer` are alternatives, any of which is enough; those that share one in `place`, too, are parts of one. Quotes
are located in the corpus as people copy them, so nobody counts offsets. Other columns are kept as metadata of the
question; the optional column `id` sets its id.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ..base import note, progress
from ..base.files import checked_path
from ..base.outside import name_line, one_line, shown
from ..base.stages import Arrays, stage
from ..data import CharacterSpan, Dataset, DocumentId
from ..data.documents import Corpus, DocumentResolver, checked_corpus
from ..errors import ConfigError, DatasetError
from ..text.markups.markup import struck_out
from ..text.text_locator import TextLocator, is_long
from .questions import AskedQuote, QuoteTable
from .quote_locator import NOT_SHOWN, Located, QuoteLocator, told_places
from .quote_table import (
    ANY_DOCUMENT,
    IS_STRUCK_OUT,
    MOST_OCCURRENCES,
    PARTLY_STRUCK_OUT,
    QuoteCheck,
    QuoteRow,
    QuoteStatus,
    read_quote_table,
    with_conflicts,
)
from .suggestions import LONGEST, Suggestion, lost_parts, suggest, suggest_located

Repeated: TypeAlias = Literal["ambiguous", "any"]
"""What a quote is that occurs more than once."""

_LIMIT = 20
_VERSION = 2  # of how quotes are located: what another one found is not taken
_MOST_SHOWN = 160
_NOWHERE = Located(())


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
    return _checked(read_quote_table(given, columns), corpus, verbatim_only, repeated)


def _checked(
    table: QuoteTable, corpus: Corpus, verbatim_only: bool = False, repeated: Repeated = "ambiguous"
) -> QuoteCheck:
    locator, resolver = QuoteLocator.of(corpus), DocumentResolver(corpus)
    answered = {asked.id or asked.question for asked in table.quotes if asked.quote.strip()}
    rows: list[QuoteRow] = []
    for asked in progress(table.quotes, "Locating quotes", "quote"):
        others = (asked.id or asked.question) in answered
        sought = asked.context or asked.quote
        found = locate_quote(sought, asked.document, locator, resolver, others, verbatim_only, repeated)
        rows.append(_row(asked, _within(found, asked, locator) if asked.context else found))
    return QuoteCheck(table.source, corpus, with_conflicts(_elsewhere(rows, corpus)), table.columns)


def _within(found: "QuoteFate", asked: AskedQuote, locator: QuoteLocator) -> "QuoteFate":
    """Return what became of a quote, given what became of its context: of its places there the nearest to its start."""
    if found.status != "located":
        return replace(found, advice=f"its context: {found.advice}", suggestion=None)
    places: list[tuple[CharacterSpan, ...]] = []
    for around in found.located.places:
        doc_id, start, end = around[0].doc_id, around[0].start, around[-1].end
        text = locator.corpus[doc_id].content[start:end]
        if text == asked.context and text.find(asked.quote, asked.start) == asked.start:
            at = start + asked.start
            places.append((CharacterSpan(doc_id, at, at + len(asked.quote), asked.quote),))
            continue
        there = locator.locate(asked.quote, doc_id, MOST_OCCURRENCES).places
        inside = [place for place in there if start <= place[0].start and place[-1].end <= end]
        expected = start + asked.start * (end - start) / len(asked.context)
        places += sorted(inside, key=lambda place: abs(place[0].start - expected))[:1]
    if not places:
        return QuoteFate("missing", advice="it is not in its context")
    return QuoteFate("located", Located(tuple(places), found.located.ignoring))


def _row(asked: AskedQuote, found: "QuoteFate", elsewhere: Sequence[CharacterSpan] = ()) -> QuoteRow:
    return QuoteRow(
        **vars(asked),
        status=found.status,
        places=found.located.places,
        ignoring=found.located.ignoring,
        advice=found.advice,
        suggestion=found.suggestion,
        elsewhere=tuple(elsewhere),
    )


def _elsewhere(rows: Sequence[QuoteRow], corpus: Corpus) -> list[QuoteRow]:
    """Return rows with where else their text stands, up to white space, and their question has no place."""
    places: dict[str, list[CharacterSpan]] = {}
    for row in rows:
        places.setdefault(row.key, []).extend(span for place in row.places for span in place)
    shown = progress(rows, "Looking for copies", "quote")
    return [replace(row, elsewhere=_others(row, places[row.key], corpus)) for row in shown]


def _others(row: QuoteRow, labelled: Sequence[CharacterSpan], corpus: Corpus) -> tuple[CharacterSpan, ...]:
    """Return the other places of a row that was located once; none of a short text."""
    if row.status != "located" or len(row.places) != 1 or len(row.places[0]) != 1:
        return ()
    (span,) = row.places[0]
    text = corpus[span.doc_id].content[span.start : span.end]
    found = TextLocator.of(corpus).places_in_context(text, limit=_LIMIT + len(labelled)) if is_long(text) else []
    return tuple(other for other in found if not any(map(other.overlaps, labelled)))[:_LIMIT]


@dataclass(frozen=True)
class QuoteFate:
    """What became of a quote.

    Attributes:
        status: As that of a row.
        located: Where it stands.
        advice: What to do about it; "" if it was located.
        suggestion: What it may mean, if it is missing.
    """

    status: QuoteStatus
    located: Located = _NOWHERE
    advice: str = ""
    suggestion: Suggestion | None = None


def locate_quote(
    quote: str,
    document: str,
    locator: QuoteLocator,
    resolver: DocumentResolver,
    answered: bool = False,
    verbatim_only: bool = False,
    repeated: Repeated = "ambiguous",
) -> QuoteFate:
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
        if answered:
            advice = "the quote is empty, but other rows answer the question: remove the row or fill it in"
            return QuoteFate("missing", advice=advice)
        return QuoteFate("no-answer")
    if not any(map(str.isalnum, quote)):
        return QuoteFate(
            "missing",
            advice="the quote has no letter or digit, by which edits could be followed: quote more, or leave it empty "
            "if there is no answer",
        )
    if document.strip() == ANY_DOCUMENT:
        document, repeated = "", "any"
    try:
        doc_id = resolver.resolve_named(document) if document.strip() else None
    except DatasetError as error:
        if len(resolver.named(document)) > 1:
            return QuoteFate("missing", advice=str(error))
        return _misplaced(quote, locator, verbatim_only, str(error), f"not in {name_line(document)}")
    limit = _LIMIT if repeated == "ambiguous" else MOST_OCCURRENCES + 1
    located = locator.locate(quote, doc_id, limit, verbatim_only)
    if len(located.places) == 1 or (repeated == "any" and 1 < len(located.places) < limit):
        return QuoteFate("located", _with_effects(located, locator))
    if located.places:
        told = told_places(located.places[:_LIMIT], locator, _LIMIT)
        if repeated == "any":
            return QuoteFate("ambiguous", located, f"{told}: more than {MOST_OCCURRENCES:,} places; quote more")
        several = len({spans[0].doc_id for spans in located.places}) > 1
        advice = "name the document, or quote more" if several else "quote more of the passage"
        way_out = f"if each of them answers the question, write {ANY_DOCUMENT} as the document"
        for_all = "init and dataset update: --repeated any, for all rows"
        return QuoteFate("ambiguous", located, f"{told}: {advice}; or, {way_out} ({for_all})")
    if doc_id is not None and locator.locate(quote, None, 1, verbatim_only).places:
        elsewhere = f"not in {name_line(str(doc_id))}"
        return _misplaced(quote, locator, verbatim_only, "correct the document", elsewhere)
    return _missing(quote, doc_id, locator, verbatim_only)


def _with_effects(located: Located, locator: QuoteLocator) -> Located:
    """Return a place, ignoring also that nothing of it is shown or that it is struck out, however it was located."""
    spans = [(locator.markup(span), span.start, span.end) for place in located.places for span in place]
    hidden = [] if all(markup.shows(start, end) for markup, start, end in spans) else [NOT_SHOWN]
    struck = {struck_out(*span) for span in spans}
    told = [] if struck == {""} else [IS_STRUCK_OUT if struck == {"all"} else PARTLY_STRUCK_OUT]
    return replace(located, ignoring=tuple(dict.fromkeys([*located.ignoring, *hidden, *told])))


def _misplaced(quote: str, locator: QuoteLocator, verbatim_only: bool, advice: str, elsewhere: str) -> QuoteFate:
    """Return that a quote is not in the document that is named, and where it is."""
    located = locator.locate(quote, None, _LIMIT, verbatim_only)
    if not located.places:
        return QuoteFate("missing", advice=advice)
    found = told_places(located.places, locator, _LIMIT)
    document = name_line(located.places[0][0].doc_id)
    suggestion = suggest_located(located, locator, f"in {document}, {elsewhere}")
    return QuoteFate("missing", advice=f"found in {found}, {elsewhere}: {advice}", suggestion=suggestion)


def _missing(quote: str, doc_id: str | None, locator: QuoteLocator, verbatim_only: bool) -> QuoteFate:
    """Return what a quote may mean that stands nowhere."""
    shown = locator.locate(quote, doc_id, _LIMIT) if verbatim_only else _NOWHERE
    if shown.places:
        suggestion = suggest_located(shown, locator, f"it stands there only ignoring: {', '.join(shown.ignoring)}")
    else:
        found = suggest(quote, locator, doc_id)
        if found is None:
            long = f"quote less than {LONGEST:,} characters" if len(quote) > LONGEST else ""
            more = long or lost_parts(quote, locator, doc_id)
            return QuoteFate("missing", advice=f"nothing similar in the corpus{more and f'; {more}'}")
        suggestion = found
    copies = f", and {len(suggestion.copies) - 1} more such" if len(suggestion.copies) > 1 else ""
    advice = (
        f"nearest passage ({suggestion.percent} similar): {name_line(suggestion.place)}{copies} "
        f"“{one_line(suggestion.quote, _MOST_SHOWN)}”; {one_line(suggestion.difference)}"
    )
    return QuoteFate("missing", advice=advice, suggestion=suggestion)


def dataset_from_quotes(given: Any, corpus: Corpus, columns: Mapping[str, str] | None = None) -> Dataset[CharacterSpan]:
    """Return the dataset of questions with quotes, noting the questions that are skipped.

    Where stages are kept, the same quotes are located in the same documents once.
    """
    table = read_quote_table(given, columns)

    def located() -> Arrays:
        rows = [
            (row.status, [*map(_told, row.places)], row.ignoring, row.advice, _told(row.elsewhere))
            for row in _checked(table, corpus).rows
        ]
        return {"rows": np.frombuffer(json.dumps(rows).encode(), np.uint8)}

    facts = [_VERSION, [*map(asdict, table.quotes)], corpus.ordered_hash]
    kept = json.loads(stage("labels", facts, located)["rows"].tobytes())
    rows: list[QuoteRow] = []
    for asked, (status, places, ignoring, advice, elsewhere) in zip(table.quotes, kept, strict=True):
        found = Located(tuple(_spans(place, corpus) for place in places), tuple(ignoring))
        rows.append(_row(asked, QuoteFate(status, found, advice), _spans(elsewhere, corpus)))
    check = QuoteCheck(table.source, corpus, tuple(rows), table.columns)
    dataset = check.dataset()
    if check.problems:
        note("\n".join([check.counted(), *map(str, check.problems[:_LIMIT])]))
    elif check.alternatives:
        note(f"{table.source}: {check.alternatives}")
    return dataset


def _told(spans: Sequence[CharacterSpan]) -> list[tuple[str, int, int]]:
    return [(span.doc_id, span.start, span.end) for span in spans]


def _spans(told: Sequence[tuple[str, int, int]], corpus: Corpus) -> tuple[CharacterSpan, ...]:
    return tuple(
        CharacterSpan(DocumentId(name), start, end, corpus[name].content[start:end]) for name, start, end in told
    )
