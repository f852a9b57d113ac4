"""Results that have no place in the corpus: how many, and what one of them may be."""

from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.experiments.config import ExperimentConfig
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.quotes.passages import nearest_passage
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.results.result import EvaluationResult

_HOW_TO_LOCATE = (
    "Are the documents those that were indexed? Let the retriever return their text as it is, or doc_id, start and end"
)
_COMPARED = 500  # characters of the example


def too_many_unlocated(
    result: EvaluationResult[Any], experiment: ExperimentConfig[Any], allowed: float = 0.5
) -> tuple[str, ...]:
    """Return that a larger share of the results than is allowed has no place, with an example; nothing if it has not.

    At document level no result needs a place, nor does any of a retriever that rewrites texts.
    """
    unlocated, hits = result.counts["unlocated_hits"], result.counts["hits"]
    need_none = experiment.retriever.rewrites_texts or result.evaluation_type == "document-level"
    if need_none or unlocated <= allowed * hits:
        return ()
    table = result.queries.hits.flat
    first = next((hit for hit in table if not hit.placed and (hit.text or "").strip()), None)
    example = "" if first is None else f", such as {_with_passage(first, experiment.corpus)}"
    told = f"{unlocated} of {hits} results have no {RULES[result.evaluation_type].noun}{example}"
    return (f"{told}, {allowed:.0%} may (--allow-unlocated). {_HOW_TO_LOCATE}",)


def _with_passage(hit: Hit, corpus: Corpus) -> str:
    """Return a result and the passage of the corpus that is most like it."""
    text, locator = (hit.text or "").strip(), QuoteLocator.of(corpus)
    passage = nearest_passage(text[:_COMPARED], locator.rendered)
    if passage is None:
        return f"{shown(text)}; nothing in the documents is like it"
    document = corpus.documents[passage.number]
    line = document.content.count("\n", 0, passage.start) + 1
    return f"{shown(text)}; the nearest passage is {document.id}:{line}: {shown(passage.text)}"
