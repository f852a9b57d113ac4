"""Questions with quotes: the quickest way to label a dataset.

A CSV or JSONL file of `question, quote[, document]` with one row per quote: several rows for a question whose answer is
spread over several passages, an empty quote if the corpus holds no answer. Quotes are located in the corpus as people
copy them, so nobody counts offsets. Other columns are kept as metadata of the question; the optional column `id` sets
its id.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from tqdm import tqdm

from rag_evaluation_framework._outside import name_line
from rag_evaluation_framework._support.files import checked_path
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.document_resolver import DocumentResolver
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.quote_check import QuoteCheck
from rag_evaluation_framework.labelling.quote_locator import Located, QuoteLocator
from rag_evaluation_framework.labelling.quote_row import QuoteRow, QuoteStatus, written_place
from rag_evaluation_framework.labelling.quote_table import COLUMNS, read_quote_table


def check_quotes(path: str | Path, corpus: Corpus, verbatim_only: bool = False) -> QuoteCheck:
    """Check the quotes of a CSV or JSONL file: locate each of them in the corpus.

    A quote is located where it occurs verbatim or, if it occurs nowhere verbatim, where it differs only in white space.
    Else it is located where it differs only in what a renderer and a keyboard change: markup, quotation marks, dashes,
    ligatures, divided words and the like, capitals last. What was ignored is said. Similarity is never enough: a quote
    that was not found is shown with the nearest passage.

    Args:
        path: The file.
        corpus: The documents; the suffix of an id tells Markdown, HTML and reStructuredText.
        verbatim_only: Ignore nothing but white space.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: The file cannot be read, lacks a column, or has a row without a question.
    """
    path, corpus = checked_path(path), checked_corpus(corpus)
    locator, resolver = QuoteLocator.of(corpus), DocumentResolver(corpus)
    records = read_quote_table(path)
    answered = {_key(record) for _, record in records if record["quote"].strip()}
    return QuoteCheck(
        str(path),
        corpus,
        tuple(
            _check(number, record, locator, resolver, _key(record) in answered, verbatim_only)
            for number, record in _with_progress(records)
        ),
    )


def _key(record: Mapping[str, str]) -> str:
    return record["id"] or record["question"]


def _with_progress(records: list[tuple[int, dict[str, str]]]) -> Iterator[tuple[int, dict[str, str]]]:
    yield from tqdm(records, desc="Locating quotes", unit="quote", delay=2, disable=None, leave=False)


def _check(
    number: int,
    record: dict[str, str],
    locator: QuoteLocator,
    resolver: DocumentResolver,
    answered: bool,
    verbatim_only: bool,
) -> QuoteRow:
    status, located, advice = locate_quote(
        record["quote"], record["document"], locator, resolver, answered, verbatim_only
    )
    metadata = {key: value for key, value in record.items() if key not in COLUMNS}
    return QuoteRow(
        number,
        record["question"],
        record["quote"],
        record["document"],
        status,
        located.places,
        located.ignoring,
        advice,
        record["id"],
        metadata,
    )


def locate_quote(
    quote: str,
    document: str,
    locator: QuoteLocator,
    resolver: DocumentResolver,
    answered: bool = False,
    verbatim_only: bool = False,
) -> tuple[QuoteStatus, Located, str]:
    """Return the status of a quote, where it stands, and what to do about it.

    Args:
        quote: The quote; blank for a question without an answer.
        document: The document that contains it; blank if unknown.
        locator: Locates quotes in the corpus.
        resolver: Finds the document by its name.
        answered: Whether the question has other quotes that are not blank.
        verbatim_only: Ignore nothing but white space.
    """
    nowhere = Located(())
    if not quote.strip():
        if answered:
            advice = "the quote is empty, but other rows answer the question: remove the row or fill it in"
            return "missing", nowhere, advice
        return "no-answer", nowhere, ""
    try:
        doc_id = resolver.resolve(document) if document.strip() else None
    except DatasetError as error:
        return "missing", nowhere, str(error)
    located = locator.locate(quote, doc_id, verbatim_only=verbatim_only)
    if len(located.places) == 1:
        return "located", located, ""
    if located.places:
        several = len({spans[0].doc_id for spans in located.places}) > 1
        advice = "name the document, or quote more" if several else "quote more of the passage"
        return "ambiguous", located, advice
    elsewhere = nowhere if doc_id is None else locator.locate(quote, limit=3, verbatim_only=verbatim_only)
    if elsewhere.places:
        found = ", ".join(map(written_place, elsewhere.places))
        return "missing", nowhere, f"found in {found}, not in {name_line(str(doc_id))}: correct the document"
    return "missing", nowhere, _nearest(quote, locator)


def _nearest(quote: str, locator: QuoteLocator) -> str:
    part = locator.verbatim.missing_part(quote)
    nearest = locator.verbatim.nearest(part)
    if nearest is None:
        return "nothing similar in the corpus"
    span, similarity = nearest
    there = f"{written_place((span,))} “{_short(span.text, 120)}”"
    passage = f"nearest passage ({similarity:.0f} % similar): {there}; quote it verbatim"
    return passage if part == quote else f"of the long quote, “{_short(part, 40)}” was not found; {passage}"


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def dataset_from_quotes(path: Path, corpus: Corpus) -> Dataset[CharacterSpan]:
    """Return the dataset of a file of quotes, noting the questions that are skipped."""
    check = check_quotes(path, corpus)
    dataset = check.dataset()
    if check.problems:
        note(check.summary())
    return dataset
