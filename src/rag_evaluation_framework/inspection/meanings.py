"""What kinds of findings a check of a dataset may have: how severe they are, and what to do about them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from rag_evaluation_framework.data.frozen import FrozenDict

Severity = Literal["error", "warning", "info"]
FindingKind: TypeAlias = Literal[
    "document missing",
    "text differs",
    "place differs",
    "chunk missing",
    "blank label",
    "other truth",
    "no answers",
    "skipped",
    "asked twice",
    "labelled twice",
    "labels overlap",
    "not shown",
    "struck out",
    "copies its answer",
    "answer elsewhere",
    "too long",
    "white space",
    "no answer",
]


class Meaning(NamedTuple):
    """What a kind of finding means.

    Attributes:
        severity: `error`: scores are wrong, or a run refuses the dataset. `warning`: scores mislead. `info`: nothing is
            wrong.
        advice: What to do about it.
    """

    severity: Severity
    advice: str


MEANINGS: Mapping[FindingKind, Meaning] = FrozenDict[FindingKind, Meaning](
    {
        "document missing": Meaning(
            "error",
            "no retriever can find what the corpus does not hold. Is the pattern of files (--glob) the right one? "
            "`rag-eval dataset update` finds labels of renamed documents again",
        ),
        "text differs": Meaning("error", "`rag-eval dataset update` finds labels again, and lists those that are lost"),
        "place differs": Meaning(
            "error",
            "the same text may be there as another copy. `rag-eval dataset update` finds labels again, and lists those "
            "that are lost",
        ),
        "chunk missing": Meaning("error", "labels of chunks belong to one chunking: label these chunks, or label text"),
        "blank label": Meaning("error", "no retriever can find it: label text that answers"),
        "other truth": Meaning(
            "error", "questions with the same wording cannot both be right: reword one, or keep one with all labels"
        ),
        "no answers": Meaning("error", "nothing can be scored: label at least one question"),
        "skipped": Meaning(
            "warning",
            "correct quotes that are not there in a table, and add it with `rag-eval dataset update --questions`; "
            "`rag-eval label` labels questions that are not labelled yet",
        ),
        "asked twice": Meaning("warning", "such a question counts twice in every mean: keep one"),
        "labelled twice": Meaning("warning", "it counts once: remove the copy"),
        "labels overlap": Meaning("warning", "what they share counts once: were they meant to be one?"),
        "not shown": Meaning("warning", "no letter and no digit of it is shown to a reader: quote the text that is"),
        "struck out": Meaning("warning", "to a reader it is no longer valid: quote what is"),
        "copies its answer": Meaning("warning", "lexical retrieval is flattered: ask in the words of a user"),
        "answer elsewhere": Meaning(
            "warning", "retrieving it there counts as wrong: label it there, too (`*`, or `rag-eval label`)"
        ),
        "too long": Meaning("warning", "no ranking reaches full recall: label less, or evaluate at more"),
        "white space": Meaning("info", "characters that nobody reads count: trim them"),
        "no answer": Meaning("info", "they have no score, and every result counts them"),
    }
)
"""What each kind of finding means, in the order in which they are shown."""
