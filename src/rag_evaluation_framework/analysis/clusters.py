"""What of compared results is taken as independent."""

from collections.abc import Sequence
from typing import Any, get_args

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.errors import ConfigError, ResultError
from rag_evaluation_framework.results.clusters import Cluster, Clusters
from rag_evaluation_framework.results.result import EvaluationResult


def clusters_of(
    runs: Sequence[EvaluationResult[Any]], query_ids: Sequence[str], cluster: Cluster | None = None
) -> Clusters:
    """Return which questions count together.

    Args:
        runs: Results that have these questions with one truth; the first that knows its labels tells them.
        query_ids: The questions.
        cluster: What is taken as independent; by default documents where the labels are in at least 6, else questions.

    Raises:
        ConfigError: It is neither a question nor a document.
        ResultError: It is a document, and no result knows the documents of its labels.
    """
    given: Any = cluster
    if given is not None and not (isinstance(given, str) and given in get_args(Cluster)):
        raise ConfigError(f"cluster={shown(cluster)}: expected 'question' or 'document', or None for the default")
    known = next((run for run in runs if run.queries.texts), None)
    are_chunks = runs[0].evaluation_type == "chunk-level"
    if cluster == "document" and (known is None or are_chunks):
        why = "labels are chunks" if are_chunks else "a report alone has no labels; load the folder of the run"
        names = ", ".join(dict.fromkeys(repr(run.name) for run in runs))
        raise ResultError(
            f"cluster='document': {names}: the documents of the labels are not known: {why}, or take questions as "
            "independent (cluster: question)"
        )
    if known is None:
        return Clusters(unknown=cluster is None and not are_chunks)
    relevant = [known.queries.relevant[known.scores.rows[query_id]] for query_id in query_ids]
    return Clusters.of(relevant, known.evaluation_type, cluster)
