"""A dataset whose results are published in LangSmith, and what of them is there."""

from collections import Counter, defaultdict

from langsmith import Client
from langsmith.utils import LangSmithRetry

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
)
from rag_evaluation_framework.data import QueryId, QueryText

TEXT = "Refunds take five working days. Invoices are sent monthly. The server restarts at night. "
CORPUS = Corpus([Document(DocumentId("a.md"), TEXT * 3), Document(DocumentId("b.md"), TEXT)])
NAME = "mine"


def quick_client(**options):
    """Return a client of the SDK that does not wait before it asks again; who opens it closes it."""
    statuses = [408, 425, 429, 500, 502, 503, 504]
    retry = LangSmithRetry(total=2, backoff_factor=0, status_forcelist=statuses, allowed_methods=None)
    return Client(retry_config=retry, timeout_ms=5_000, **options)


def published_dataset(number=6):
    """Return questions whose scores are no short numbers; "none" has no answer, and "fails" makes retrieval fail."""
    entries = [
        TokenLevelGroundTruth(
            Query(QueryId(f"q{n}"), QueryText(f"Question {n}: when are refunds and invoices sent?")),
            [CharacterSpan(DocumentId("a.md"), n % 90, n % 90 + 31 + n % 7)],
        )
        for n in range(number)
    ]
    none = TokenLevelGroundTruth(Query(QueryId("none"), QueryText("Is there none?")), [])
    fails = TokenLevelGroundTruth(
        Query(QueryId("fails"), QueryText("Does it fail?")), [CharacterSpan(DocumentId("a.md"), 0, 9)]
    )
    return Dataset([*entries, none, fails], TOKEN, name="mine")


def retrieve(query, k):
    """Retrieve the same two places for every question, but for the one that fails."""
    if "fail" in query:
        raise ValueError("the index is gone")
    places = [("a.md", 7, 40), ("b.md", 0, 29)][:k]
    return [{"doc_id": doc_id, "start": start, "end": end, "score": 0.5} for doc_id, start, end in places]


def published_result(number=6, name=None, **options):
    """Return a result of that dataset, at two numbers of results."""
    return evaluate(
        retrieve, published_dataset(number), (1, 2), budgets=(), documents=CORPUS, experiment_name=name, **options
    )


def local_scores(result):
    """Return every score that a result has, by question and name."""
    return {
        (query_id, name): score
        for name in result.score_names
        for query_id, score in result.per_query(name).items()
        if score is not None
    }


def experiments_of(providers, result):
    """Return the experiments that have something of a result."""
    return [
        experiment
        for experiment in providers.langsmith.experiments.values()
        if (experiment.runs or experiment.feedback) and experiment.metadata["retriever"] == result.name
    ]


def runs_of(providers, experiment):
    """Return the finished runs of an experiment, by question."""
    ids = {
        example["id"]: example["metadata"].get("query_id", example["id"])
        for dataset in providers.langsmith.datasets.values()
        for example in dataset.examples
    }
    found = defaultdict(list)
    for run in experiment.runs:
        if run.get("end_time"):
            found[ids[run["reference_example_id"]]].append(run)
    return dict(found)


def scores_of(providers, experiment):
    """Return the feedback on the finished runs of an experiment, by question and name."""
    question = {run["id"]: name for name, runs in runs_of(providers, experiment).items() for run in runs}
    found = defaultdict(list)
    for feedback in experiment.feedback:
        if feedback["run_id"] in question:
            found[question[feedback["run_id"]], feedback["key"]].append(feedback["score"])
    return dict(found)


def is_there_once(providers, result, name=None):
    """Assert that the experiment, of a name if there are several, has each question and score once, as it is sent."""
    (experiment,) = (each for each in experiments_of(providers, result) if name in (None, each.name))
    runs = runs_of(providers, experiment)
    assert Counter({name: len(found) for name, found in runs.items()}) == Counter(result.scores.query_ids)
    wanted = {key: [round(score, 4)] for key, score in local_scores(result).items()}
    assert scores_of(providers, experiment) == wanted
    return experiment
