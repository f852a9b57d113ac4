"""How often the text of a label was retrieved where it is not labelled."""

from collections import Counter
from collections.abc import Collection

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Ranking
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.telling import is_long


def note_copies_retrieved(dataset: Dataset[CharacterSpan], rankings: Rankings, copied: Collection[str]) -> None:
    """Note for how many questions a result holds the text of a label, up to white space, where it is not labelled.

    Short texts are left out: the same words are written in other places without being the same answer.

    Args:
        dataset: The questions with their labels, as they are in the corpus of the rankings.
        rankings: One per question, in the same order.
        copied: The ids of the questions a label of which quotes a text that occurs more than once.
    """
    asked, retrieved, missed = frozenset(copied), 0, 0
    for number, entry in enumerate(dataset):
        if entry.query.id not in asked:
            continue
        read = _places(rankings.hits[number])
        if any(_holds_copy(span, entry, rankings.corpus) for span in read):
            retrieved += 1
            missed += not any(span.overlaps(label) for span in read for label in entry.labels)
    if retrieved:
        note(
            f"questions for which the text of a label was retrieved where it is not labelled: {retrieved}, {missed} of "
            "them without any label; it counts as not relevant there. `rag-eval dataset lint` names the places; `*` as "
            "the document of a quote labels all of them"
        )


def _places(hits: Ranking) -> list[CharacterSpan]:
    return [
        CharacterSpan(hit.doc_id, hit.start, hit.end)
        for hit in hits
        if hit.doc_id is not None and hit.start is not None and hit.end is not None
    ]


def _holds_copy(read: CharacterSpan, entry: GroundTruth[CharacterSpan], corpus: Corpus) -> bool:
    """Return whether a result holds the text of a label of its question more often than it holds such labels."""
    words = _words(read, corpus)
    labels = Counter(
        _words(label, corpus)
        for label in entry.labels
        if label.doc_id == read.doc_id and read.start <= label.start and label.end <= read.end
    )
    texts = {text for label in entry.labels if is_long(text := _words(label, corpus))}
    return any(words.count(text) > labels[text] for text in texts)


def _words(span: CharacterSpan, corpus: Corpus) -> str:
    return " ".join(corpus[span.doc_id].content[span.start : span.end].split())
