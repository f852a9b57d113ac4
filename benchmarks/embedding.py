"""What neural embedding costs: texts a second, a run beside encoding alone, and a run with a full cache.

With all-MiniLM-L6-v2, on chunks of 800 characters and the questions of public corpora given with --data (a folder with
corpora/*.md and questions_df.csv), or else of the built-in handbook; medians of the repeats. The cost of a run is set
against that of encoding the distinct chunks and questions in one call, both in CPU time.
"""

import argparse
import json
import warnings
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    Embedder,
    RecursiveCharacterChunker,
    VectorRAGRetriever,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.components import CachedEmbedder, SentenceTransformerEmbedder
from rag_evaluation_framework.demo import load_handbook

CHUNKER = RecursiveCharacterChunker(chunk_size=800)


def distinct_texts(dataset: Dataset[CharacterSpan]) -> tuple[list[str], list[str]]:
    """Return the distinct chunks and the distinct questions."""
    chunks = [chunk.content for document in dataset.corpus or () for chunk in CHUNKER.chunk_with_positions(document)]
    return list(dict.fromkeys(chunks)), list(dict.fromkeys(entry.query.text for entry in dataset))


def throughput(embedder: Embedder, texts: list[str], repeats: int) -> float:
    """Return texts a second, of the wall clock."""
    seconds: list[float] = []
    for _ in range(repeats):
        start = perf_counter()
        embedder.embed(texts)
        seconds.append(perf_counter() - start)
    return len(texts) / median(seconds)


def run_seconds(embedder: Embedder, dataset: Dataset[CharacterSpan]) -> float:
    """Return the CPU time of an evaluation."""
    start = process_time()
    evaluate(VectorRAGRetriever(chunker=CHUNKER, embedder=embedder), dataset, k=[5, 10], budgets=[])
    return process_time() - start


def batched_seconds(embedder: Embedder, dataset: Dataset[CharacterSpan]) -> float:
    """Return the CPU time of indexing and of retrieving for all questions together."""
    start = process_time()
    retriever = VectorRAGRetriever(chunker=CHUNKER, embedder=embedder)
    retriever.index(dataset.corpus or Corpus([]))
    retriever.retrieve_many([entry.query.text for entry in dataset], 10)
    return process_time() - start


def run_over_encoding(embedder: Embedder, dataset: Dataset[CharacterSpan], repeats: int) -> dict[str, float]:
    """Return what a run costs beside encoding the distinct texts alone, which it includes.

    Once with all questions retrieved together, once as an evaluation does it that times them one by one.
    """
    chunks, questions = distinct_texts(dataset)
    batched: list[float] = []
    evaluated: list[float] = []
    for _ in range(repeats):
        start = process_time()
        embedder.embed([*chunks, *questions])
        encoding = process_time() - start
        batched.append(batched_seconds(embedder, dataset) / encoding)
        evaluated.append(run_seconds(embedder, dataset) / encoding)
    return {"run_over_encoding": median(batched), "evaluation_over_encoding": median(evaluated)}


def second_run(dataset: Dataset[CharacterSpan], repeats: int) -> dict[str, float]:
    """Return the CPU time of a run in which every text is cached; the model is not even loaded."""
    with TemporaryDirectory() as root:

        def cached() -> CachedEmbedder:
            return CachedEmbedder(SentenceTransformerEmbedder(), root=root)

        first = run_seconds(cached(), dataset)
        times = [run_seconds(cached(), dataset) for _ in range(repeats)]
        return {"first_run_cpu_s": first, "second_run_cpu_s": median(times)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md and questions_df.csv")
    parser.add_argument("--texts", type=int, default=96, help="how many chunks are embedded")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if arguments.data:
        corpus = Corpus.from_folder(arguments.data / "corpora")
        dataset = load_dataset(arguments.data / "questions_df.csv", corpus=corpus)
    else:
        dataset = load_handbook()
    chunks, questions = distinct_texts(dataset)
    figures: dict[str, float] = {"chunks": len(chunks), "questions": len(questions)}
    embedder = SentenceTransformerEmbedder()
    embedder.embed(chunks[:8])  # loads the model
    step = max(1, len(chunks) // arguments.texts)
    figures["texts_per_s"] = throughput(embedder, chunks[::step][: arguments.texts], arguments.repeats)
    figures |= run_over_encoding(embedder, dataset, arguments.repeats)
    figures |= second_run(dataset, arguments.repeats)
    figures = {name: round(value, 3) for name, value in figures.items()}
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:20} {value:12}")


if __name__ == "__main__":
    main()
