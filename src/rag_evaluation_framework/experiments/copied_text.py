"""How often the text of a label was retrieved where it is not labelled."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.data.spans import CharacterSpan, calculate_overlap
from rag_evaluation_framework.labelling.telling import is_long


def note_copies_retrieved(dataset: Dataset[CharacterSpan], rankings: Rankings, copied: Collection[str]) -> None:
    """Note for how many questions results hold at least half of a label's text where it is not labelled.

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
        read = _places(rankings.hits, number)
        if _hold_copy(read, entry, rankings.corpus):
            retrieved += 1
            missed += not any(span.overlaps(label) for span in read for label in entry.labels)
    if retrieved:
        note(
            f"questions whose answer was retrieved at another place with the same text, which is not labelled and "
            f"counts as not relevant: {retrieved}; for {missed} of them no labelled place was retrieved. `rag-eval "
            "dataset lint` names the places; `*` as the document of a quote labels all of them"
        )


def _places(hits: RankedHits, number: int) -> list[CharacterSpan]:
    """Return the places of the hits of a ranking; those without a place are left out."""
    rows, table = slice(int(hits.begins[number]), int(hits.ends[number])), hits.table
    columns = table.doc_id.read(rows), table.start[rows].tolist(), table.end[rows].tolist()
    return [
        CharacterSpan(DocumentId(doc_id), start, end)
        for doc_id, start, end in zip(*columns, strict=True)
        if doc_id is not None and start >= 0 and end >= 0
    ]


def _hold_copy(read: Sequence[CharacterSpan], entry: GroundTruth[CharacterSpan], corpus: Corpus) -> bool:
    """Return whether results hold at least half of a text of a label, where no label of its question is."""
    texts = {corpus[span.doc_id].content[span.start : span.end] for span in entry.labels}
    for text in filter(is_long, texts):
        for place in _near(read, text, corpus):
            is_labelled = any(map(place.overlaps, entry.labels))
            if not is_labelled and 2 * calculate_overlap(read, [place]) >= place.length():
                return True
    return False


def _near(read: Iterable[CharacterSpan], text: str, corpus: Corpus) -> Iterator[CharacterSpan]:
    """Yield the places of a text, up to white space, that begin or end in what was read."""
    pattern, reach = _pattern(text), 2 * len(text)
    for span in read:
        content = corpus[span.doc_id].content
        for match in pattern.finditer(content, max(span.start - reach, 0), span.end + reach):
            yield CharacterSpan(span.doc_id, match.start(), match.end())


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, text.split())))
