"""What is done with what was loaded: a loader that believes nonsense fails later, or shows it.

Each use ends in nothing, or in an error. `Broken` is an error too: something was promised that does not hold.
"""

import json
import unicodedata
import warnings
from pathlib import Path
from typing import Any

from rich.console import Console
from tests.fuzz import samples

import rag_evaluation_framework as rag
from rag_evaluation_framework import runs
from rag_evaluation_framework.components import FunctionRetriever
from rag_evaluation_framework.components.embedders.cached import Embedding, EmbeddingCache
from rag_evaluation_framework.datasets import rankings
from rag_evaluation_framework.errors import RagEvalError
from rag_evaluation_framework.labels import check_quotes
from rag_evaluation_framework.report import quotes_page, result_page, show
from rag_evaluation_framework.runs.query_result import question_lines
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

_HARMFUL = ("Cc", "Cs", "Zl", "Zp")
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MOST = 4_200
"""Characters of a message: a bound, and the remark that something was left out."""


class Broken(Exception):
    """Something that was promised does not hold."""


def shown(what: str, text: str) -> None:
    """Check that what people are shown does nothing to their terminal.

    Raises:
        Broken: It does.
    """
    if text.isprintable():
        return
    for character in set(text) - {"\n", "\t"}:
        if unicodedata.category(character) in _HARMFUL or character in _TURNING:
            raise Broken(f"{what} shows what acts on a terminal: U+{ord(character):04X}")


def check_message(error: RagEvalError) -> None:
    """Check what an error of ours says.

    Raises:
        Broken: It says nothing, or too much.
    """
    message = str(error)
    if not message.strip():
        raise Broken("a message is empty")
    if len(message) > MOST:
        raise Broken(f"a message is too long: {len(message):,} characters")
    if " at 0x" in message:
        raise Broken(f"a message shows an address: {message[:200]}")
    shown("a message", message)


def printed(result: Any, console_of: Any = None) -> None:
    """Show a result in every form that it has."""
    summary = result.summary()
    for what, text in (("repr", repr(result)), ("HTML", result._repr_html_()), ("summary.md", summary.as_markdown())):
        shown(what, text)
    if console_of is not None:
        console = Console(width=100, record=True, file=_Nowhere())
        show(console, result_page(result, console_of, 3))
        shown("the tables", console.export_text())


class _Nowhere:
    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def use_result(result: Any, folder: Path, level: str) -> None:
    """Look at a result, save it, and load it."""
    look_at(result, level)
    kept = [*result.queries.hits]  # they are read when they are needed
    try:
        saved = result.save(folder / "again")
    except RagEvalError as error:
        raise Broken(f"a result cannot be saved: {error}") from error
    try:
        again = rag.load_result(saved)
    except RagEvalError as error:
        raise Broken(f"a saved result cannot be loaded: {error}") from error
    if (
        repr(again) != repr(result)
        or [*again.queries.hits] != kept
        or [*question_lines(again.queries)] != [*question_lines(result.queries)]
    ):
        raise Broken("a saved result is another one when it is loaded")


def look_at(result: Any, level: str) -> None:
    """Look at a result, and compare it."""
    printed(result)
    json.dumps([result.metrics, result.counts, dict(result.timings)], allow_nan=False)
    for name in result.score_names:
        result.per_query(name)
        result.worst(2, name)
    result.to_dataframe()
    if result.evaluation_type == f"{level}-level":
        for one, other in ((result, samples.result(level)), (samples.result(level), result)):
            try:
                printed(one.compare(other))
            except RagEvalError as error:
                check_message(error)


def use_dataset(dataset: Any, folder: Path, level: str) -> None:
    """Look at a dataset, evaluate on it, save it and load it."""
    shown("repr", repr(dataset))
    if dataset.corpus is not None:
        result = rag.evaluate(samples.search, dataset, k=3, budgets=["50ch"])
        printed(result, dataset.corpus)
    for ending in (".json", ".jsonl"):
        try:
            file = rag.save_dataset(dataset, folder / f"again{ending}")
        except RagEvalError as error:  # a dataset that was never saved may have what the format cannot
            check_message(error)
            return
        try:
            again = rag.load_dataset(file, samples.LEVELS[level], corpus=dataset.corpus)
        except RagEvalError as error:
            raise Broken(f"a saved dataset cannot be loaded: {error}") from error
        if [*again] != [*dataset]:
            raise Broken("a saved dataset is another one when it is loaded")


def dataset_of(level: str, *, documents: bool = True, keys: bool = False) -> Any:
    """Return the use of a dataset's file, with the documents or without, with a registry and keys or without."""

    def use(file: Path) -> None:
        options: dict[str, Any] = {"registry": samples.registry()} if level == "token" else {}
        if keys:
            options |= {"query_key": "query", "ground_truth_key": "relevant_spans", "utf16_offsets": True}
        corpus = samples.corpus() if documents else None
        dataset = rag.load_dataset(file, samples.LEVELS[level], corpus=corpus, **options)
        use_dataset(dataset, file.parent, level)

    return use


def quotes(file: Path) -> None:
    check = check_quotes(file, samples.corpus())
    shown("the quotes", f"{check}\n{check.summary()}")
    console = Console(width=100, record=True, file=_Nowhere())
    show(console, quotes_page(check))
    shown("the table of quotes", console.export_text())
    use_dataset(check.dataset(), file.parent, "token")


def chunk_registry(file: Path) -> None:
    found = rag.ChunkRegistry.load(file)
    shown("repr", repr(found))
    for chunk in found:
        found.get_spans(chunk.id)
    again = rag.ChunkRegistry.load(found.save(file.parent / "again.jsonl"))
    if [*again] != [*found] or again.fingerprint != found.fingerprint:
        raise Broken("a saved registry is another one when it is loaded")
    retriever = FunctionRetriever(samples.search, registry=found)
    rag.evaluate(retriever, samples.dataset("chunk"), k=2)


def qrels(file: Path) -> None:
    found = rankings.read_qrels(file)
    _scored(found, samples.RANKINGS)


def ranking_file(file: Path) -> None:
    _scored(samples.QRELS, rankings.read_rankings(file))


def _scored(truth: Any, found: Any) -> None:
    scored = rag.score_rankings(truth, found, ["ndcg@10", "map", "r_precision", "recall@5"])
    json.dumps(scored.mean, allow_nan=False)
    scored.per_query("map")
    repr(scored)


def config(file: Path) -> None:
    """Run what a configuration says, beside a folder of documents and a dataset."""
    experiment = runs.load_config(file).experiment(file.parent, imports=False)
    printed(rag.run_experiment(experiment), experiment.corpus)


def report(level: str) -> Any:
    """Return the use of the folder of a run."""

    def use(path: Path) -> None:
        use_result(rag.load_result(path), path.parent, level)

    return use


def report_alone(level: str) -> Any:
    """Return the use of a report without the files that were saved with it."""

    def use(path: Path) -> None:
        look_at(rag.load_result(path), level)

    return use


def embedding_cache(root: Path) -> None:
    kept = EmbeddingCache(root)
    found = kept.get(samples.IDENTITY, samples.TEXTS)
    for text, embedding in found.items():
        if embedding.vector.tolist() != [samples.TEXTS.index(text) + 0.5] * 4:
            raise Broken("a wrong vector was served")
    kept.known(samples.IDENTITY)
    kept.put(samples.IDENTITY, {"new": found.get("one text", Embedding(_vector(), False))})
    kept.size()


def _vector() -> Any:
    return samples.np.full(4, 0.5, samples.np.float32)


def tokenizer(file: Path) -> None:
    counter = resolve_tokenizer(file)
    for text in (*samples.DOCUMENTS.values(), "", "\ud800 \U0001f469\u200d\U0001f52c"):
        starts = counter.offsets(text)
        if len(starts) != counter.count(text):
            raise Broken("a tokenizer gives another number of offsets than of tokens")
    rag.evaluate(samples.search, samples.dataset("token"), budgets=["5tok"], tokenizer=file)


def folder_of_documents(folder: Path, glob: str = "**/*.md") -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        corpus = rag.Corpus.from_folder(folder, glob)
    shown("repr", repr(corpus))
    if not said and any(document.content == "secret\n" for document in corpus):
        raise Broken("a link left the corpus unnoticed")
    printed(rag.evaluate(rag.BM25Retriever(), samples.dataset("document"), documents=corpus, k=2), corpus)
