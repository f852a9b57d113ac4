"""Whether the text of a label may stand elsewhere, too. Every run asks that, so nothing that moves labels is loaded."""

from typing import Any

from rag_evaluation_framework.data import Corpus, Dataset
from rag_evaluation_framework.data.label_contexts import UNIQUE_TEXTS, LabelContexts
from rag_evaluation_framework.text.text_locator import TextLocator

_LONG = 20  # letters and digits, about four words: what is shorter is written again elsewhere without being the same


def is_long(text: str) -> bool:
    """Return whether a text is long enough to be the same wherever it stands."""
    return sum(map(str.isalnum, text)) >= _LONG


def copied_labels(dataset: Dataset[Any], corpus: Corpus) -> list[str]:
    """Return the ids of the questions a label of which quotes a text that stands in several places, up to white space.

    Args:
        dataset: The dataset; what its file says of its labels is taken for granted.
        corpus: The documents, in which its spans are.
    """
    locator, known = TextLocator.of(corpus), (dataset.recorded or LabelContexts()).unique_with
    return [
        entry.query.id
        for entry in dataset
        if not all(
            known[span] in UNIQUE_TEXTS if span in known else locator.occurs_once(dataset.quoted(span).text)
            for span in entry.labels
        )
    ]
