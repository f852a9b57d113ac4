"""How retrieval strategies compare: words, vectors, both, and a closer look at the candidates.

BM25, LSA vectors, MiniLM vectors, hybrid (BM25 and MiniLM), and the two latter reranked by late interaction (MaxSim of
MiniLM's token vectors, 50 candidates), with chunks of 800 and of 400 characters, on public corpora given with --data
(a folder with corpora/*.md and questions_df.csv), or else on the built-in handbook. Figures of the 400 characters have
`_400` behind the strategy: `bm25_400_recall_at_5`. Seconds a question are those of retrieving, by the clock, questions
asked one by one, each embedded anew; token vectors of a reranker, which it computes when a chunk is first a candidate,
are part of them. Indexing is not, and vectors of chunks are computed once for all strategies.
"""

import argparse
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag_evaluation_framework import (
    BM25Retriever,
    CachedEmbedder,
    CharacterSpan,
    Corpus,
    Dataset,
    Embedder,
    HybridRetriever,
    LateInteractionReranker,
    LsaEmbedder,
    RecursiveCharacterChunker,
    RerankedRetriever,
    Retriever,
    SentenceTransformerEmbedder,
    SpanDCG,
    SpanPrecision,
    SpanRecall,
    VectorRAGRetriever,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.demo import load_handbook

SIZES = (800, 400)
SCORES = {
    "recall_at_5": "span_recall@5",
    "recall_at_10": "span_recall@10",
    "recall_at_4000ch": "span_recall@4000ch",
    "precision_at_5": "span_precision@5",
    "dcg_at_10": "span_dcg@10",
}


@dataclass(frozen=True)
class ChunksKept(Embedder):
    """Keeps the vectors of chunks, and embeds questions anew: what that takes belongs to each strategy."""

    chunks: CachedEmbedder
    questions: Embedder

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.chunks.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of chunks."""
        return self.chunks.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        return self.questions.embed_query(text)


def make_strategies(size: int, model: SentenceTransformerEmbedder, root: str | Path) -> dict[str, Retriever]:
    """Return the strategies with chunks of so many characters, by name."""
    chunker = RecursiveCharacterChunker(size)
    bm25 = BM25Retriever(chunker=chunker)
    vectors = VectorRAGRetriever(chunker=chunker, embedder=ChunksKept(CachedEmbedder(model, root=root), model))
    hybrid = HybridRetriever((bm25, vectors))
    return {
        "bm25": bm25,
        "lsa": VectorRAGRetriever(chunker=chunker, embedder=LsaEmbedder()),
        "minilm": vectors,
        "hybrid": hybrid,
        "minilm_reranked": RerankedRetriever(vectors, LateInteractionReranker(model)),
        "hybrid_reranked": RerankedRetriever(hybrid, LateInteractionReranker(model)),
    }


def measure(retriever: Retriever, dataset: Dataset[CharacterSpan]) -> dict[str, float]:
    """Return the figures of one strategy."""
    result = evaluate(
        retriever, dataset, k=[5, 10], budgets=["4000ch"], metrics=(SpanRecall(), SpanPrecision(), SpanDCG())
    )
    if result.failures:
        raise SystemExit(f"{retriever.name}: {len(result.failures)} questions failed")
    figures = {key: result.metrics[name] or 0.0 for key, name in SCORES.items()}
    return {key: round(value, 6) for key, value in figures.items()} | {
        "s_per_question": round(result.timings["retrieve"] / len(dataset), 5),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md and questions_df.csv")
    parser.add_argument("--root", type=Path, help="folder below which vectors are kept; by default a temporary one")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if arguments.data:
        corpus = Corpus.from_folder(arguments.data / "corpora")
        dataset = load_dataset(arguments.data / "questions_df.csv", corpus=corpus)
    else:
        dataset = load_handbook()
    rows: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as temporary:
        root = arguments.root or temporary
        model = SentenceTransformerEmbedder(backend="onnx" if find_spec("onnxruntime") else "torch", root=root)
        model.embed(["ready?"])  # loads the model
        strategies = {
            (name if size == SIZES[0] else f"{name}_{size}"): strategy
            for size in SIZES
            for name, strategy in make_strategies(size, model, root).items()
        }
        for name, strategy in tqdm(strategies.items(), desc="Strategies", leave=False):
            rows[name] = measure(strategy, dataset)
    if arguments.json:
        print(json.dumps({f"{name}_{key}": value for name, row in rows.items() for key, value in row.items()}))
        return
    print(f"{'strategy':20}", *(f"{key:>16}" for key in next(iter(rows.values()))))
    for name, row in rows.items():
        print(f"{name:20}", *(f"{value:16.4f}" for value in row.values()))


if __name__ == "__main__":
    main()
