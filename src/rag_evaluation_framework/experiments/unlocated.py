"""Results that have no place in the corpus: what one of them may be."""

from typing import Any

from rag_evaluation_framework import quotes
from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.results.notes import lacks_places
from rag_evaluation_framework.results.result import EvaluationResult

_HOW_TO_LOCATE = (
    "Are the documents those that were indexed? Let the retriever return their text as it is, or doc_id, start and end"
)
_COMPARED = 500  # characters of the example


def example_of_unlocated(result: EvaluationResult[Any], corpus: Corpus) -> tuple[str, ...]:
    """Return a note with an example if most results have no place; nothing if they have one."""
    if not lacks_places(result, 0.5):
        return ()
    table = result.queries.hits.flat
    first = next((hit for hit in table if not hit.placed and (hit.text or "").strip()), None)
    example = "" if first is None else f", such as {_with_passage(first, corpus)}"
    return (f"most results have no {RULES[result.evaluation_type].noun}{example}. {_HOW_TO_LOCATE}",)


def _with_passage(hit: Hit, corpus: Corpus) -> str:
    """Return a result and the passage of the corpus that is most like it."""
    text, locator = (hit.text or "").strip(), quotes.QuoteLocator.of(corpus)
    passage = quotes.nearest_passage(text[:_COMPARED], locator.rendered)
    if passage is None:
        return f"{shown(text)}; nothing in the documents is like it"
    document = corpus.documents[passage.number]
    line = document.content.count("\n", 0, passage.start) + 1
    return f"{shown(text)}; the nearest passage is {document.id}:{line}: {shown(passage.text)}"
