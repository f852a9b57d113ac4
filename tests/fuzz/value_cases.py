"""Inputs that are Python objects: what retrievers, metrics and other parts return, parameters, arguments."""

from collections.abc import Callable
from dataclasses import MISSING
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz import odd, samples, uses

import rag_evaluation_framework as rag
from rag_evaluation_framework import data, runs
from rag_evaluation_framework.components import FunctionRetriever, HybridRetriever
from rag_evaluation_framework.components.vector_stores.in_memory import InMemoryVectorStore
from rag_evaluation_framework.contracts.component import default_parameters
from rag_evaluation_framework.contracts.registry.building import build, describe, load
from rag_evaluation_framework.contracts.registry.loading import KINDS, Kind, built_in
from rag_evaluation_framework.contracts.roles import Retriever
from rag_evaluation_framework.data import Chunk
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.hits import Hit, Retrieval, Stage
from rag_evaluation_framework.datasets import rankings
from rag_evaluation_framework.labels import check_quotes
from rag_evaluation_framework.scoring import score

Case = Callable[[Random, Path], None]
_LEVELS = ("token", "chunk", "document")


def odd_parameters(rng: Random, known: dict[str, Any], changes: tuple[int, ...] = (1, 1, 1, 2)) -> dict[str, Any]:
    """Return parameters of which some are odd."""
    given = dict(known)
    for name in rng.sample([*given], min(len(given), rng.choice(changes))):
        given[name] = odd.value(rng)
    return given


# What retrievers return


def result_shape(rng: Random, depth: int = 0) -> Any:
    """Return something like what a retriever may return: results in results, with odd values among them."""
    kind = rng.random()
    if depth == 0 and kind < 0.7:
        items = [result_shape(rng, 1) for _ in range(rng.randrange(4))]
        return rng.choice([list, tuple, iter, lambda made: {"retrieved_spans": made}, _retrieval(rng)])(items)
    if kind < 0.2:
        return odd.value(rng, endless=depth == 0)
    if kind < 0.35:
        return _odd_hit(rng)
    if kind < 0.75:
        return _odd_mapping(rng)
    return rng.choice([*samples.search("", 5), data.CharacterSpan("billing.md", 0, 5), Hit(text="x")])


def _retrieval(rng: Random) -> Callable[[list[Any]], Any]:
    stages: Any = (Stage("search", 0.1), Stage("rerank", None, (Hit(text="x"),)))
    if rng.random() < 0.6:
        stages = (_or_odd(rng, Stage(_or_odd(rng, "search"), _or_odd(rng, 0.1), _or_odd(rng, None))),)
    parts = {"limit": _or_odd(rng, None), "complete": _or_odd(rng, False)}
    return lambda made: Retrieval(_or_odd(rng, tuple(made), 0.1), _or_odd(rng, stages, 0.2), **parts)


def _or_odd(rng: Random, usual: Any, chance: float = 0.35) -> Any:
    return odd.value(rng) if rng.random() < chance else usual


def _odd_hit(rng: Random) -> Hit:
    known = {"doc_id": "billing.md", "start": 0, "end": 9, "chunk_id": "c", "text": "Invoices", "score": 0.5}
    return Hit(**odd_parameters(rng, known, (0, 1, 1, 2)))


def _odd_mapping(rng: Random) -> dict[Any, Any]:
    known: dict[Any, Any] = rng.choice(
        [
            {"doc_id": "billing.md", "start": 2, "end": 20, "score": 0.5},
            {"text": "Refunds take five working days.", "document": "billing.md"},
            {"page_content": "x", "metadata": {"source": "billing.md"}},
            {"chunk_id": "c"},
            {"doc_id": "guides/start.md"},
            {"retrieved_chunk_ids": ["a", "b"]},
        ]
    )
    given = odd_parameters(rng, known, (0, 1, 1, 2))
    if rng.random() < 0.1:
        given[rng.choice([1, None, "", "\x1b[2J", ("a",)])] = 1
    return given


def hits(rng: Random, folder: Path) -> None:
    level = rng.choice(_LEVELS)
    shapes = [result_shape(rng) for _ in range(3)]
    asked = iter(shapes * 40)
    result = rag.evaluate(
        lambda query, k: next(asked), samples.dataset(level), k=[2, 3], budgets=["60ch"], on_error=_on_error(rng)
    )
    uses.use_result(result, folder, level)


def _on_error(rng: Random) -> Any:
    return "raise" if rng.random() < 0.1 else "collect"


class _Odd(Retriever):
    """A retriever of which some attributes are odd."""

    def __init__(self, rng: Random) -> None:
        self._given = {"k": samples.search, "odd": {}}
        for name in rng.sample(("name", "prefix_stable", "most_results", "chunks", "many", "prepare", "index"), 2):
            self._given["odd"][name] = odd.value(rng)

    def _of(self, attribute: str, usual: Any) -> Any:
        return self._given["odd"].get(attribute, usual)

    @property
    def name(self) -> Any:
        return self._of("name", "odd")

    @property
    def prefix_stable(self) -> Any:
        return self._of("prefix_stable", True)

    @property
    def most_results(self) -> Any:
        return self._of("most_results", None)

    def index(self, corpus: Any) -> Any:
        return self._of("index", None)

    def prepare(self, queries: Any) -> Any:
        return self._of("prepare", None)

    def chunks(self) -> Any:
        return self._of("chunks", None)

    def retrieve(self, query: str, k: int) -> Any:
        return samples.search(query, k)

    def retrieve_many(self, queries: Any, k: int) -> Any:
        return self._of("many", [samples.search(query, k) for query in queries])


def retrievers(rng: Random, folder: Path) -> None:
    level = rng.choice(_LEVELS)
    result = rag.evaluate(_Odd(rng), samples.dataset(level), k=[2], budgets=[], max_concurrency=rng.choice((1, 2)))
    uses.use_result(result, folder, level)


# What other parts return


def metrics(rng: Random, folder: Path) -> None:
    found, called = odd.value(rng), odd.value(rng) if rng.random() < 0.3 else "own"

    class Own(rag.TokenLevelMetric):
        @property
        def name(self) -> Any:
            return called

        def calculate(self, retrieved: Any, ground_truth: Any) -> Any:
            return found

    chosen = [Own()] if rng.random() < 0.5 else [Own(), "span_recall"]
    result = rag.evaluate(samples.search, samples.dataset("token"), k=2, budgets=["60ch"], metrics=chosen)
    uses.use_result(result, folder, "token")


def parts(rng: Random, folder: Path) -> None:
    """Evaluate a pipeline of which one part is a function that returns something odd."""
    found = odd.value(rng)
    some = [odd.value(rng) for _ in range(rng.randrange(4))] if rng.random() < 0.5 else found
    kind = rng.choice(("chunker", "embedder", "reranker", "tokenizer", "vector_store", "chunk_id"))
    options: dict[str, Any] = {} if kind in ("tokenizer", "chunk_id") else {kind: lambda *_given: some}
    if kind == "vector_store":
        options = {
            "vector_store": _OddStore(rng),
            "embedder": lambda texts: [[float(len(text)), 1.0] for text in texts],
        }
    if kind == "tokenizer":
        config = rag.EvaluationConfig(tokenizer=lambda text: some, budgets=["5tok"])
        result: Any = rag.TokenLevelEvaluation(samples.corpus(), samples.dataset("token")).run(config=config)
    elif kind == "chunk_id":
        chunk_level = rag.ChunkLevelExperimentConfig(
            rag.BM25Retriever(), samples.dataset("token"), k=2, chunk_id=lambda chunk, number: found
        )
        result = rag.run_experiment(chunk_level)
    else:
        result = rag.TokenLevelEvaluation(samples.corpus(), samples.dataset("token")).run(k=2, **options)
    uses.use_result(result, folder, "chunk" if kind == "chunk_id" else "token")


class _OddStore(InMemoryVectorStore):
    """A store that returns something odd."""

    def __init__(self, rng: Random) -> None:
        super().__init__()
        value = odd.value(rng)
        object.__setattr__(self, "found", [value] if rng.random() < 0.5 else value)

    def search(self, query_embedding: Any, k: int) -> Any:
        return self.found

    def search_many(self, query_embeddings: Any, k: int) -> Any:
        return [self.found for _ in query_embeddings]


# Parameters of components

_HEAVY = {"chroma", "pgvector", "qdrant", "sentence-transformer", "cross-encoder"}
_NESTED: dict[Any, str] = {"embedder": "lsa", "retriever": "bm25"}


def _components() -> list[tuple[Kind, str]]:
    return [(kind, name) for kind in KINDS for name in built_in(kind) if name not in _HEAVY]


def parameters(rng: Random, folder: Path) -> None:
    kind, name = rng.choice(_components())
    known = default_parameters(load(kind, name))
    given = odd_parameters(rng, known)
    given = {key: value for key, value in given.items() if key not in known or value is not known[key]}
    for key in sorted(known.keys() & _NESTED.keys() - given.keys()):
        given[key] = build(key, _NESTED[key])
    complete = MISSING not in (value for key, value in known.items() if key not in given)
    if complete and rng.random() < 0.5:
        use_component(kind, load(kind, name)(**given), folder)
        return
    if rng.random() < 0.05:
        given[rng.choice(odd.TEXTS)] = 1
    use_component(kind, build(kind, {"type": name, **given}), folder)


def component_texts(rng: Random, folder: Path) -> None:
    kind, name = rng.choice(_components())
    known = [*default_parameters(load(kind, name)), "x", "k", "type", ""]
    given = [f"{rng.choice(known)}{rng.choice(['=', '=', '=', '', '=='])}{_text_value(rng)}" for _ in range(2)]
    text = f"{name}:{','.join(given[: rng.randrange(3)])}"
    if rng.random() < 0.3:
        place = rng.randrange(len(text) + 1)
        text = (
            text[:place]
            + rng.choice([*odd.TEXTS, ":", ",", "=", "@", "(", "json:loads", "os.path:join"])
            + text[place:]
        )
    use_component(kind, build(kind, text, imports=rng.random() < 0.5), folder)


def _text_value(rng: Random) -> str:
    return str(rng.choice([*odd.TEXTS, *odd.SCALARS, *odd.RAW, "lsa", "bm25", "sentence", "0.5", "[1,2]", '{"a":1}']))


def use_component(kind: str, component: Any, folder: Path) -> None:
    """Evaluate with a component in a pipeline."""
    describe(component)
    uses.shown("a name", str(component.name))
    dataset = samples.dataset("token")
    if kind == "metric":
        levels = {"token-level": "token", "chunk-level": "chunk", "document-level": "document"}
        level = levels[sorted(component.evaluation_types)[0]]
        result: Any = rag.evaluate(samples.search, samples.dataset(level), k=2, metrics=[component])
        uses.use_result(result, folder, level)
        return
    if kind == "sink":  # what it is sent, it may write anywhere
        rag.EvaluationConfig(sinks=[component]).model_dump_json()
        return
    if kind == "retriever":
        result = rag.evaluate(component, dataset, k=2)
    else:
        result = rag.TokenLevelEvaluation(samples.corpus(), dataset).run(k=2, **{kind: component})
    uses.use_result(result, folder, "token")


# Arguments of functions and constructors

_SPAN = data.CharacterSpan("billing.md", 2, 9, "Billing")


def _functions(folder: Path) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    dataset, corpus, result = samples.dataset("token"), samples.corpus(), samples.result("token")
    query = data.Query(data.QueryId("q"), data.QueryText("text"))
    evaluated = {"retriever": samples.search, "questions": dataset, "k": 2, "budgets": ["60ch"], "tokenizer": None}
    evaluated |= {"metrics": ["span_recall"], "documents": corpus, "count_as_zero": [], "experiment_name": "x"}
    evaluated |= {"max_concurrency": 1, "on_error": "collect"}
    asked = {"retriever": samples.search, "corpus": corpus, "queries": ["text"], "cutoffs": [2], "tokenizer": None}
    found = runs.retrieve(samples.search, corpus, [entry.query for entry in dataset], [2])
    scored = {"rankings": found, "dataset": dataset, "metrics": ["span_recall"], "cutoffs": [2], "level": None}
    configured = {"experiment_name": "x", "budgets": ["60ch"], "tokenizer": None, "count_as_zero": []}
    configured |= {"batch_queries": True, "max_concurrency": 1, "on_error": "collect", "save_results_path": None}
    ranks = {"ground_truth": samples.QRELS, "rankings": samples.QRELS, "metrics": ["ndcg@2", "map"]}
    spans = {"ground_truth": {"q": [_SPAN]}, "rankings": {"q": [_SPAN, ("x", 0, 3)]}, "metrics": ["span_recall@2"]}
    kept = folder / "kept"
    return [
        (rag.evaluate, evaluated),
        (runs.retrieve, asked | {"batch_queries": True, "max_concurrency": 1}),
        (score, scored | {"chunk_id": None, "tokenizer": None}),
        (rag.EvaluationConfig, configured),
        (rag.score_rankings, ranks),
        (rag.score_spans, spans | {"chunks": None}),
        (rag.load_dataset, {"path": kept, "level": rag.TOKEN, "corpus": corpus, "registry": None, "query_key": None}),
        (rag.save_dataset, {"dataset": dataset, "path": kept / "x.json"}),
        (check_quotes, {"path": kept, "corpus": corpus}),
        (rag.load_result, {"path": kept, "level": None}),
        (rag.Corpus.from_folder, {"folder_path": kept, "glob_pattern": "**/*.md"}),
        (rag.Corpus, {"documents": [*corpus], "metadata": {}}),
        (rag.Document, {"id": "x", "content": "text", "metadata": {}}),
        (rag.Query, {"id": "q", "text": "text", "metadata": {}}),
        (rag.CharacterSpan, {"doc_id": "x", "start": 0, "end": 4, "text": "text"}),
        (Chunk, {"id": "c", "content": "text", "doc_id": "x", "metadata": {}}),
        (rag.PositionAwareChunk, {"id": "c", "content": "text", "doc_id": "x", "start": 0, "end": 4, "metadata": {}}),
        (rag.ChunkRegistry, {"chunks": [*samples.registry()]}),
        (rag.ChunkRegistry.load, {"path": kept}),
        (rag.Dataset, {"ground_truth": [*dataset], "level": rag.TOKEN, "name": "x", "corpus": corpus, "metadata": {}}),
        (rag.TokenLevelGroundTruth, {"query": query, "relevant_spans": [_SPAN]}),
        (rag.ChunkLevelGroundTruth, {"query": query, "relevant_chunk_ids": ["c"], "gains": {"c": 2.0}}),
        (rag.DocumentLevelGroundTruth, {"query": query, "relevant_document_ids": ["x"], "relevant_prefixes": ["y/"]}),
        (rag.TokenLevelEvaluation, {"corpus": corpus, "dataset": dataset}),
        (HybridRetriever, {"retrievers": [rag.BM25Retriever()], "weights": None, "rrf_k": 60, "depth": 100}),
        (FunctionRetriever, {"function": samples.search, "stable": None, "registry": None}),
        (rag.generate_chunk_id, {"content": "text"}),
        (rankings.read_qrels, {"path": kept}),
        (rankings.read_rankings, {"path": kept}),
        (runs.load_config, {"path": kept}),
        (runs.parse_config, {"content": samples.CONFIG, "source": "x"}),
        (partial(build, "chunker"), {"component": "sentence"}),
        (Cutoff.parse, {"text": "5"}),
        (Cutoff.parse_all, {"cutoffs": ["5"]}),
        (ScoreName.parse, {"text": "span_recall@5"}),
        (result.per_query, {"name": "span_recall@2"}),
        (result.worst, {"n": 2, "name": "span_recall@2"}),
        (result.compare, {"candidate": result}),
        (_compare, {"baseline": result, "candidate": result, "third": result, "cluster": "document"}),
        (result.save, {"folder": kept / "run"}),
        (rag.SpanRecall().calculate, {"retrieved": [_SPAN], "ground_truth": [_SPAN]}),
        (rag.Recall().calculate, {"retrieved": ["x"], "ground_truth": ["x"]}),
    ]


def _compare(baseline: Any, candidate: Any, third: Any, cluster: Any) -> None:
    uses.shown("repr", repr(rag.compare(baseline, candidate, third, cluster=cluster)))


def arguments(rng: Random, folder: Path) -> None:
    function, known = rng.choice(_functions(folder))
    accepted = dict(known)
    made = function(**_with_odd(rng, accepted))
    if isinstance(made, rag.EvaluationResult):
        uses.use_result(made, folder, "token")
    elif isinstance(made, rag.Dataset):
        uses.use_dataset(made, folder, "token")


def _with_odd(rng: Random, known: dict[str, Any]) -> dict[str, Any]:
    """Return arguments of which one is odd, or holds something odd in the place of an item."""
    name = rng.choice([*known])
    value = known[name]
    kind = rng.random()
    if isinstance(value, list) and kind < 0.6:
        items = [*value]
        place = rng.randrange(len(items) + 1)
        items[place : place + 1] = [odd.value(rng)]
        return {**known, name: items}
    if isinstance(value, dict) and value and kind < 0.6:
        return {**known, name: {**value, rng.choice([*value]): odd.value(rng)}}
    return {**known, name: odd.value(rng)}


CASES: dict[str, Case] = {
    "hits": hits,
    "retrievers": retrievers,
    "metrics": metrics,
    "parts": parts,
    "parameters": parameters,
    "component-texts": component_texts,
    "arguments": arguments,
}
