"""How chunkers compare by retrieval with all-MiniLM-L6-v2, beside the public reference chunking evaluation.

Span recall, precision and IoU at k=5 and PrecisionΩ on the public corpora given with --data (a folder with
corpora/*.md, questions_df.csv and, if it has them, the measured rows of the reference in reference/*.json), or else on
the built-in handbook. As in the reference, all corpora lie in one index; rows of one corpus are the means of its
questions. Sizes are tokens of cl100k_base. Overlapping results count once, in the reference's measured rows, too.

- `recursive_SIZE_OVERLAP`: set as the reference's, separators at the start of the next piece;
  `recursive_end_SIZE_OVERLAP`: at the end, which is our default.
- `given_SIZE_OVERLAP`: the reference's own recursive chunks, retrieved and scored by us.
- `ROW_reference_METRIC`: measured with the reference's own chunks, exact search and the same questions.
- `ROW_published_METRIC`: as printed in Smith & Troynikov 2024, "Evaluating Chunking Strategies for Retrieval", the
  table of all-MiniLM-L6-v2: on five corpora, of which two may not be passed on, so they are no target.
- `ROW_truncated_share`: the share of chunks of which the model reads only the first 256 word pieces.
- `ROW_METRIC_tied`: whether the row may be as good as the best of all by this metric, as far as these questions tell.
- In rows of all corpora together the names stand alone, in those of one corpus it follows the row:
  `recursive_200_0_wikitexts_recall`.
"""

import argparse
import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from tqdm import tqdm

from rag_evaluation_framework import (
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    EvaluationResult,
    FixedTokenChunker,
    PositionAwareChunk,
    PositionAwareChunker,
    PrecisionOmega,
    RecursiveCharacterChunker,
    SemanticChunker,
    SpanIoU,
    SpanPrecision,
    SpanRecall,
    VectorRAGRetriever,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.analysis import Leaderboard
from rag_evaluation_framework.components import (
    CachedEmbedder,
    MarkdownHeaderChunker,
    SentenceChunker,
    SentenceTransformerEmbedder,
)
from rag_evaluation_framework.demo import load_handbook

METRICS = {
    "recall": SpanRecall(),
    "precision": SpanPrecision(),
    "precision_omega": PrecisionOmega(),
    "iou": SpanIoU(),
}
RECURSIVE = ((200, 0), (400, 0), (400, 200), (800, 400))
FIXED = ((200, 0), (400, 200))
TOKENS = "cl100k_base"
PUBLISHED = {
    "recursive_200_0": {"recall": 0.757, "precision": 0.065, "precision_omega": 0.312, "iou": 0.065},
    "fixed_200_0": {"recall": 0.766, "precision": 0.041, "precision_omega": 0.191, "iou": 0.041},
}

Scores = dict[str, float]


@dataclass(frozen=True)
class GivenChunker(PositionAwareChunker):
    """Cuts where the reference did."""

    path: Path

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks that the file has of the corpus."""
        places: list[tuple[str, int, int]] = json.loads(self.path.read_text(encoding="utf-8"))["chunks"]
        corpus = Path(document.id).stem
        return [PositionAwareChunk.of(document, start, end) for name, start, end in places if name == corpus]


def make_chunkers(embedder: CachedEmbedder, reference: Path | None) -> dict[str, PositionAwareChunker]:
    """Return the chunkers by the names of their rows; of the reference's chunks those that are in its folder."""
    chunkers: dict[str, PositionAwareChunker] = {}
    for size, overlap in RECURSIVE:
        chunkers[f"recursive_{size}_{overlap}"] = RecursiveCharacterChunker(
            size, overlap, length=TOKENS, separator_at="start"
        )
    for size, overlap in RECURSIVE:
        chunkers[f"recursive_end_{size}_{overlap}"] = RecursiveCharacterChunker(size, overlap, length=TOKENS)
    for size, overlap in FIXED:
        chunkers[f"fixed_{size}_{overlap}"] = FixedTokenChunker(size, overlap, TOKENS)
    for path in sorted(reference.glob("recursive_*.json")) if reference else ():
        chunkers[path.stem.replace("recursive", "given")] = GivenChunker(path)
    return chunkers | {
        "sentence_200_0": SentenceChunker(200, length=TOKENS),
        "markdown_200_0": MarkdownHeaderChunker(chunk_size=200, length=TOKENS),
        "semantic_200_0": SemanticChunker(embedder, percentile=80, max_size=200, length=TOKENS),
    }


def measure(
    chunker: PositionAwareChunker, embedder: CachedEmbedder, dataset: Dataset[CharacterSpan]
) -> tuple[EvaluationResult[CharacterSpan], dict[str, Scores]]:
    """Return the result of one chunker, and its scores for all corpora, "", and for each of them."""
    retriever = VectorRAGRetriever(chunker=chunker, embedder=embedder)
    result = evaluate(retriever, dataset, k=5, budgets=[], metrics=tuple(METRICS.values()))
    if result.failures:
        raise SystemExit(f"{chunker.name}: {len(result.failures)} questions failed")
    corpora = {entry.query.id: Path(entry.relevant[0].doc_id).stem for entry in dataset if entry.relevant}
    groups = {"": set(corpora)} | {
        name: {question for question, corpus in corpora.items() if corpus == name}
        for name in dict.fromkeys(corpora.values())
    }
    rows = {group: means(result, questions) for group, questions in groups.items()}
    chunks = (chunk for document in dataset.corpus or () for chunk in chunker.chunk_with_positions(document))
    texts = [chunk.content for chunk in chunks]
    rows[""] |= {"chunks": len(texts), "truncated_share": float(embedder.truncated(texts).mean())}
    return result, rows


def tied_with_best(results: dict[str, EvaluationResult[CharacterSpan]]) -> dict[str, list[str]]:
    """Return by metric which rows may be as good as the best."""
    tied = Leaderboard.of([*results.values()]).tied
    return {
        key: [row for row, is_tied in zip(results, tied[f"{metric.name}@5"].is_tied, strict=True) if is_tied]
        for key, metric in METRICS.items()
    }


def means(result: EvaluationResult[CharacterSpan], questions: Iterable[str]) -> Scores:
    """Return the mean of each metric over some of the questions."""
    wanted = set(questions)
    scores = {key: result.per_query(f"{metric.name}@5") for key, metric in METRICS.items()}
    return {
        key: mean(value for question, value in values.items() if question in wanted and value is not None)
        for key, values in scores.items()
    }


def reference_rows(folder: Path) -> dict[str, dict[str, Scores]]:
    """Return the measured rows of the reference, as `measure` returns ours."""
    rows: dict[str, dict[str, Scores]] = {}
    for path in sorted(folder.glob("*.json")):
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        groups: dict[str, Scores] = {"": found["mean"], **found["per_corpus"]}
        rows[path.stem] = {name: {key: scores[key] for key in METRICS} for name, scores in groups.items()}
    return rows


def flat(rows: dict[str, dict[str, Scores]], kind: str = "") -> dict[str, float]:
    """Return the figures of all rows under one name each."""
    return {
        "_".join(part for part in (row, group, kind, key) if part): round(value, 6)
        for row, groups in rows.items()
        for group, scores in groups.items()
        for key, value in scores.items()
    }


def print_table(ours: dict[str, dict[str, Scores]], reference: dict[str, dict[str, Scores]]) -> None:
    """Print per cent, and in brackets how far they are from the reference's."""
    for group in next(iter(ours.values())):
        print(f"\n{group or 'all in one index'}")
        print(f"{'chunker':22} {'chunks':>6} {'cut off':>7}", *(f"{key:>16}" for key in METRICS))
        for row, groups in ours.items():
            there = reference.get(row.replace("_end", "").replace("given", "recursive"), {}).get(group, {})
            cells = [f"{100 * groups[group][key]:.2f}" for key in METRICS]
            if there:
                apart = (f" ({round(100 * (groups[group][key] - there[key]), 2) + 0.0:+.2f})" for key in METRICS)
                cells = list(map("".join, zip(cells, apart, strict=True)))
            size = f"{groups['']['chunks']:6.0f} {groups['']['truncated_share']:7.1%}" if not group else " " * 14
            print(f"{row:22} {size}", *(f"{cell:>16}" for cell in cells))


def print_published() -> None:
    """Print the rows of the report that have one of ours beside them."""
    print("\nas published, on five corpora")
    for row, scores in PUBLISHED.items():
        print(f"{row:37}", *(f"{100 * scores[key]:16.2f}" for key in METRICS))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md, questions_df.csv and reference/*.json")
    parser.add_argument("--root", type=Path, help="folder below which vectors are kept; by default a temporary one")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    reference: dict[str, dict[str, Scores]] = {}
    folder = arguments.data / "reference" if arguments.data else None
    if folder:
        corpus = Corpus.from_folder(arguments.data / "corpora")
        dataset = load_dataset(arguments.data / "questions_df.csv", corpus=corpus)
        reference = reference_rows(folder)
    else:
        dataset = load_handbook()
    ours: dict[str, dict[str, Scores]] = {}
    results: dict[str, EvaluationResult[CharacterSpan]] = {}
    with TemporaryDirectory() as temporary:
        root = arguments.root or temporary
        model = SentenceTransformerEmbedder()
        embedder = CachedEmbedder(model, root=root)
        for row, chunker in tqdm(make_chunkers(embedder, folder).items(), desc="Chunkers", leave=False):
            results[row], ours[row] = measure(chunker, embedder, dataset)
            if not arguments.data:  # the handbook is many small documents, and one corpus
                ours[row] = {"": ours[row][""]}
    tied = tied_with_best(results)
    if not arguments.json:
        print_table(ours, reference)
        print("\ntied with the best", *(f"{key}: {', '.join(rows)}" for key, rows in tied.items()), sep="\n")
        if arguments.data:
            print_published()
        return
    published = {row: {"": scores} for row, scores in PUBLISHED.items()} if arguments.data else {}
    told = {f"{row}_{key}_tied": row in rows for key, rows in tied.items() for row in ours}
    print(json.dumps(flat(ours) | told | flat(reference, "reference") | flat(published, "published")))


if __name__ == "__main__":
    main()
