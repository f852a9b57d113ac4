"""Writing ground truth as examples of `inputs` and `outputs`, as LangSmith holds them."""

from typing import Any, overload

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.dataset_examples import (
    ChunkLevelDatasetExample,
    DocumentLevelDatasetExample,
    TokenLevelDatasetExample,
)
from rag_evaluation_framework.datasets.examples import QUERY_ID
from rag_evaluation_framework.datasets.save import truth_record
from rag_evaluation_framework.ground_truth import (
    ChunkLevelGroundTruth,
    DocumentLevelGroundTruth,
    GroundTruth,
    TokenLevelGroundTruth,
)


@overload
def to_example(entry: DocumentLevelGroundTruth, corpus: Corpus | None = None) -> DocumentLevelDatasetExample: ...


@overload
def to_example(entry: ChunkLevelGroundTruth, corpus: Corpus | None = None) -> ChunkLevelDatasetExample: ...


@overload
def to_example(entry: TokenLevelGroundTruth, corpus: Corpus | None = None) -> TokenLevelDatasetExample: ...


@overload
def to_example(entry: GroundTruth[Any], corpus: Corpus | None = None) -> Any: ...


def to_example(entry: GroundTruth[Any], corpus: Corpus | None = None) -> Any:
    """Return a question with its ground truth as an example, which `dataset_from_examples` reads back.

    The id of the question stands in the metadata under `query_id`, since LangSmith gives examples ids of its own.

    Args:
        entry: The question.
        corpus: The documents; with it, every span carries its text.

    Raises:
        DatasetError: It is ground truth of a kind that examples do not hold.
    """
    outputs = truth_record(entry, corpus)
    for span in outputs.get("relevant_spans", ()):
        span.pop("before", None)
        span.pop("after", None)
    metadata = {**entry.query.metadata, QUERY_ID: entry.query.id}
    return {"inputs": {"query": entry.query.text}, "outputs": outputs, "metadata": metadata}
