"""Results that have no place in the corpus: how many, and what one of them may be."""

from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.quotes.passages import nearest_passage
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.results.result import EvaluationResult

SHARE = 0.5
HOW_TO_LOCATE = (
    "Are the documents those that were indexed? Let the retriever return their text as it is, or doc_id, start and end"
)
_COMPARED = 500  # characters of the example


def told_unlocated(result: EvaluationResult[Any], corpus: Corpus, allowed: float = SHARE) -> str | None:
    """Return that a larger share of the results than is allowed has no place, with an example; None if it has not.

    At document level no result needs a place.
    """
    unlocated, hits = result.counts["unlocated_hits"], result.counts["hits"]
    if result.evaluation_type == "document-level" or unlocated <= allowed * hits:
        return None
    told = f"{unlocated} of {hits} results have no {RULES[result.evaluation_type].noun}"
    table = result.queries.hits.flat
    first = next((hit for hit in table if not hit.placed and (hit.text or "").strip()), None)
    return told if first is None else f"{told}, such as {_with_passage(first, corpus)}"


def too_many_unlocated(result: EvaluationResult[Any], corpus: Corpus, allowed: float = SHARE) -> tuple[str, ...]:
    """Return why a run cannot be relied on of which more results than are allowed have no place; nothing if it can."""
    unlocated = told_unlocated(result, corpus, allowed)
    return (f"{unlocated} (--allow-unlocated allows {allowed:.0%}). {HOW_TO_LOCATE}",) if unlocated else ()


def _with_passage(hit: Hit, corpus: Corpus) -> str:
    """Return a result and the passage of the corpus that is most like it."""
    text, locator = (hit.text or "").strip(), QuoteLocator.of(corpus)
    passage = nearest_passage(text[:_COMPARED], locator.rendered)
    if passage is None:
        return f"{shown(text)}; nothing in the documents is like it"
    document = corpus.documents[passage.number]
    line = document.content.count("\n", 0, passage.start) + 1
    return f"{shown(text)}; the nearest passage is {document.id}:{line}: {shown(passage.text)}"
