"""How chunk sizes and strategies compare: words, vectors and both.

On public corpora given with --data (a folder with corpora/*.md and questions_df.csv), or else on the built-in handbook:

- BM25 with chunks of 50 to 800 words: `words_50`. `--only sizes` measures these alone, and needs no model.
- BM25, LSA vectors, MiniLM vectors and hybrid (BM25 and MiniLM), with chunks of 800 and of 400 characters. Figures of
  the 400 characters have `_400` behind the strategy: `bm25_400_recall_at_5`.

Behind each mean is its interval of 95 % (`_low`, `_high`), and whether it is tied with the best (`_tied`) of the sizes,
or of the strategies of its size. What one step changes is a paired difference, with its interval and p, each a test of
its own: `minilm_after_bm25_recall_at_5_delta`. Seconds a question are those of retrieving, by the clock, questions
asked one by one, each embedded anew. Indexing is not part of them, and vectors of chunks are computed once for all
strategies.
"""

import argparse
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Embedder,
    EvaluationResult,
    FixedTokenChunker,
    RecursiveCharacterChunker,
    Retriever,
    SpanDCG,
    SpanPrecision,
    SpanRecall,
    VectorRAGRetriever,
    compare,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.analysis import Leaderboard
from rag_evaluation_framework.components import (
    CachedEmbedder,
    HybridRetriever,
    LsaEmbedder,
    SentenceTransformerEmbedder,
)
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.runs.shown import within, written_interval, written_p_value, written_signed

WORDS = (50, 100, 200, 400, 800)
SIZES = (800, 400)
SCORES = {
    "recall_at_5": "span_recall@5",
    "recall_at_10": "span_recall@10",
    "recall_at_4000ch": "span_recall@4000ch",
    "recall_at_4000ch_whole": "span_recall@4000ch_whole",
    "precision_at_5": "span_precision@5",
    "dcg_at_10": "span_dcg@10",
}
COMPARED = ("recall_at_5", "recall_at_10", "recall_at_4000ch")

Result = EvaluationResult[CharacterSpan]
Step = tuple[str, str]


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
    }


def make_sizes() -> dict[str, Retriever]:
    """Return BM25 with chunks of so many words, by name."""
    return {f"words_{size}": BM25Retriever(chunker=FixedTokenChunker(size, tokenizer=str.split)) for size in WORDS}


def steps_of_sizes() -> list[Step]:
    """Return which sizes are compared, each a run before and one after: all with 200 words, and neighbours."""
    return [("words_200", f"words_{size}") for size in WORDS if size != 200] + [("words_400", "words_800")]


def steps_of_strategies() -> list[Step]:
    """Return which strategies are compared, each a run before and one after."""
    after = {
        "bm25": ("lsa", "minilm", "hybrid"),
        "lsa": ("minilm",),
        "minilm": ("hybrid",),
    }
    return [
        *((f"{one}{size}", f"{other}{size}") for size in ("", "_400") for one in after for other in after[one]),
        *((one, f"{one}_400") for one in ("bm25", "minilm", "hybrid")),
    ]


def measure(retriever: Retriever, dataset: Dataset[CharacterSpan]) -> Result:
    """Return the result of one strategy."""
    budgets = ["4000ch", "4000ch_whole"]
    result = evaluate(
        retriever, dataset, k=[5, 10], budgets=budgets, metrics=(SpanRecall(), SpanPrecision(), SpanDCG())
    )
    if result.failures:
        raise SystemExit(f"{retriever.name}: {len(result.failures)} questions failed")
    return result


def tell_family(title: str, runs: dict[str, Result]) -> dict[str, float]:
    """Print the means of runs with their intervals, and which are tied with the best; return the figures."""
    board, figures = Leaderboard.of([*runs.values()]), dict[str, float]()
    scored = board.tied[SCORES["recall_at_5"]].questions
    taken = "taken as independent" if board.clusters.numbers is None else "those of one document taken together"
    print(f"\n{title}: {scored} questions, {taken}; * tied with the best")
    print(f"{'':20}", *(f"{key:>22}" for key in SCORES), "  s_per_question")
    for number, (name, run) in enumerate(runs.items()):
        cells: list[str] = []
        for key, score in SCORES.items():
            mean, is_tied = run.statistics[score], board.tied[score].is_tied[number]
            cells.append(f"{mean.mean:.3f} {within(mean)}{'*' if is_tied else ' '}")
            figures |= {f"{name}_{key}": mean.mean, f"{name}_{key}_low": mean.low, f"{name}_{key}_high": mean.high}
            figures[f"{name}_{key}_tied"] = is_tied
        figures[f"{name}_s_per_question"] = seconds = run.timings["retrieve"] / len(run.queries)
        print(f"{name:20}", *(f"{cell:>22}" for cell in cells), f"{seconds:16.4f}")
    return figures


def tell_steps(steps: Sequence[Step], runs: dict[str, Result]) -> dict[str, float]:
    """Print what each step changes, with interval and p, and return the figures."""
    figures: dict[str, float] = {}
    print(f"\n{'after, before':34}", *(f"{key:>25}" for key in COMPARED))
    for before, after in steps:
        tests, cells = compare(runs[before], runs[after]).tests, list[str]()
        for key in COMPARED:
            test, name = tests[SCORES[key]], f"{after}_after_{before}_{key}"
            cells.append(f"{written_signed(test.mean)} {written_interval(test)} {written_p_value(test.p_value):>5}")
            figures |= {f"{name}_delta": test.mean, f"{name}_low": test.low, f"{name}_high": test.high}
            figures[f"{name}_p"] = test.p_value
        print(f"{after + ', ' + before:34}", *(f"{cell:>25}" for cell in cells))
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md and questions_df.csv")
    parser.add_argument("--root", type=Path, help="folder below which vectors are kept; by default a temporary one")
    parser.add_argument("--only", choices=["sizes"], help="leave out the strategies, which need a model")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if arguments.data:
        corpus = Corpus.from_folder(arguments.data / "corpora")
        dataset = load_dataset(arguments.data / "questions_df.csv", corpus=corpus)
    else:
        dataset = load_handbook()
    sizes = {name: measure(retriever, dataset) for name, retriever in make_sizes().items()}
    figures = tell_family("BM25, chunks of so many words", sizes) | tell_steps(steps_of_sizes(), sizes)
    if arguments.only != "sizes":
        with TemporaryDirectory() as temporary:
            root, runs = arguments.root or temporary, dict[str, Result]()
            model = SentenceTransformerEmbedder()
            model.embed(["ready?"])  # loads the model
            for size in SIZES:
                strategies = make_strategies(size, model, root)
                family = {
                    f"{name}{'' if size == SIZES[0] else f'_{size}'}": measure(strategy, dataset)
                    for name, strategy in tqdm(strategies.items(), desc=f"{size} characters", leave=False)
                }
                figures |= tell_family(f"Chunks of {size} characters", family)
                runs |= family
            figures |= tell_steps(steps_of_strategies(), runs)
    if arguments.json:
        print(json.dumps({name: round(value, 6) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
