"""How often the text of a label was retrieved where it is not labelled."""

from collections.abc import Collection, Iterator

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.data.spans import CharacterSpan, calculate_overlap
from rag_evaluation_framework.labelling.telling import is_long
from rag_evaluation_framework.text.text_locator import TextLocator

_MOST_PLACES = 20  # of one text


def note_copies_retrieved(dataset: Dataset[CharacterSpan], rankings: Rankings, copied: Collection[str]) -> None:
    """Note for how many questions the text of a label was retrieved in a place that is not labelled.

    Short texts are left out: the same words are written in other places without being the same answer.

    Args:
        dataset: The questions with their labels, as they are in the corpus of the rankings.
        rankings: One per question, in the same order.
        copied: The ids of the questions a label of which quotes a text that occurs more than once.
    """
    places = TextLocator.of(rankings.corpus)
    retrieved = missed = 0
    for number, entry in enumerate(dataset):
        copies = list(_unlabelled(entry, dataset, places)) if entry.query.id in copied else []
        if not copies:
            continue
        hits = rankings.hits[number]
        read = [
            CharacterSpan(hit.doc_id, hit.start, hit.end)
            for hit in hits
            if hit.doc_id is not None and hit.start is not None and hit.end is not None
        ]
        if calculate_overlap(read, copies):
            retrieved += 1
            missed += not calculate_overlap(read, entry.labels)
    if retrieved:
        note(
            f"questions for which the text of a label was retrieved where it is not labelled: {retrieved}, {missed} of "
            "them without any label; it counts as not relevant there. `rag-eval dataset lint` names the places; `*` as "
            "the document of a quote labels all of them"
        )


def _unlabelled(
    entry: GroundTruth[CharacterSpan], dataset: Dataset[CharacterSpan], places: TextLocator
) -> Iterator[CharacterSpan]:
    """Yield where the texts of the labels of a question stand, up to white space, and no label is."""
    for span in entry.labels:
        text = dataset.quoted(span).text
        for place in places.places_in_context(text, limit=_MOST_PLACES) if is_long(text) else ():
            if not calculate_overlap([place], entry.labels):
                yield place
