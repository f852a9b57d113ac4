"""What BM25 should compare: words, their stems or both, with or without stop words. It is how the default was chosen.

Each way to make terms of a text is measured with k1=1.5 and b=0.75 on public corpora given with --data (a folder with
corpora/*.md, questions_df.csv and, if it has them, the reference's chunks in reference/recursive_*.json), and on the
built-in handbook. A row is the mean over the chunkings of its data; --each prints every chunking.

- Terms: `words` as they are, lower-cased; their `stems` by Snowball; `both`, each in a field of its own, which is the
  sum of the two scores; `mixed`, both in one field, where a word that is its own stem counts twice.
- Stop words, those of the longer or of the `short` list of bm25s: kept, left out of the `question`, or of chunks, too
  (`everywhere`). Where nothing else is left of a question, its stop words stay.
- `mean`: of recall at 5, at 10 and at 4,000 characters, the data sets weighing the same. The default is the variant in
  which it is highest among those that find "Refunds" for "refund" (`finds`); measured once more as `BM25Retriever`.
- `public_delta`, `handbook_delta`: the three recalls of a question, over the chunkings of its data, beside those of
  `BM25Retriever`; with an interval of 95 % and p, each a test of its own. `_tied`: whether the variant may be as good
  as the best of all.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN, STOPWORDS_EN_PLUS
from bm25s.tokenization import Tokenized
from tqdm import tqdm

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    PositionAwareChunk,
    PositionAwareChunker,
    RecursiveCharacterChunker,
    Retriever,
    SpanHit,
    SpanRecall,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.contracts.roles import IndexedRetriever
from rag_evaluation_framework.data import Hit, Retrieval, Stage
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.runs.shown import written_interval, written_p_value, written_signed
from rag_evaluation_framework.statistics import PairedDifference, paired_differences, tied_with_best, top_k
from rag_evaluation_framework.text.terms import words

SCORES = {
    "hit_at_10": "span_hit@10",
    "recall_at_5": "span_recall@5",
    "recall_at_10": "span_recall@10",
    "recall_at_4000ch": "span_recall@4000ch",
}
TERMS = ("words", "stems", "both", "mixed")
STOP_WORDS = {"": (), "short": STOPWORDS_EN, "long": STOPWORDS_EN_PLUS}

DEFAULT = "BM25Retriever"

Scores = dict[str, float]
_stem: Any = Stemmer.Stemmer("english")


@dataclass(frozen=True)
class Given(PositionAwareChunker):
    """Cuts where the reference did."""

    path: Path

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks that the file has of the corpus."""
        places: list[tuple[str, int, int]] = json.loads(self.path.read_text(encoding="utf-8"))["chunks"]
        corpus = Path(document.id).stem
        return [PositionAwareChunk.of(document, start, end) for name, start, end in places if name == corpus]


@dataclass(frozen=True)
class Variant(IndexedRetriever[tuple[list[PositionAwareChunk], dict[str, int], Any]]):
    """BM25 over terms that are made in one of the ways."""

    chunker: PositionAwareChunker
    terms: str = "words"
    stop_words: str = ""
    left_out: str = "question"

    def index(self, corpus: Corpus) -> None:
        """Count the terms of all chunks."""
        chunks = [chunk for document in corpus for chunk in self.chunker.chunk_with_positions(document)]
        vocabulary: dict[str, int] = {}
        ids = [
            [vocabulary.setdefault(term, len(vocabulary)) for term in self.terms_of(chunk.content, chunk=True)]
            for chunk in chunks
        ]
        scorer: Any = bm25s.BM25(k1=1.5, b=0.75)
        scorer.index(Tokenized(ids=ids, vocab=vocabulary), show_progress=False)
        self._keep((chunks, vocabulary, scorer))

    def retrieve(self, query: str, k: int) -> Retrieval:
        """Return the best `k`; ties keep the order of the documents."""
        chunks, vocabulary, scorer = self._indexed
        known = [vocabulary[term] for term in self.terms_of(query) if term in vocabulary]
        hits: tuple[Hit, ...] = ()
        if known:
            scores = scorer.get_scores_from_ids(known)
            hits = tuple(Hit.of(chunks[best], float(scores[best])) for best in top_k(scores, k) if scores[best] > 0)
        return Retrieval(hits, (Stage("search", 0.0),), complete=len(hits) < k)

    def chunks(self) -> Sequence[PositionAwareChunk]:
        """Return everything that could be retrieved."""
        return self._indexed[0]

    def terms_of(self, text: str, chunk: bool = False) -> list[str]:
        """Return the terms of a chunk or of a question."""
        every = words(text, "english")
        if not (chunk and self.left_out == "question"):
            kept = [word for word in every if word not in STOP_WORDS[self.stop_words]]
            every = kept if chunk else kept or every
        stems: list[str] = _stem.stemWords(every)
        if self.terms == "both":
            return every + [f"_{stem}" for stem in stems]
        return {"words": every, "stems": stems, "mixed": every + stems}[self.terms]


def make_variants(chunker: PositionAwareChunker) -> dict[str, Variant | BM25Retriever]:
    """Return all variants by name, and what the package has."""
    variants: dict[str, Variant | BM25Retriever] = {DEFAULT: BM25Retriever(chunker)}
    for terms in TERMS:
        for stop_words, left_out in (("", ""), *product(("short", "long"), ("question", "everywhere"))):
            name = ", ".join(filter(None, (terms, stop_words, left_out)))
            variants[name] = Variant(chunker, terms, stop_words, left_out)
    return variants


def finds_refunds(retriever: Variant | BM25Retriever) -> bool:
    """Return whether the retriever finds "Refunds" for "refund"."""
    retriever.index(Corpus([Document(DocumentId("policy"), "Refunds are available within 30 days.")]))
    return bool(retriever.retrieve("refund", 1).hits)


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of one variant with one chunking.

    Attributes:
        means: The mean of each score.
        recalls: The mean of the three recalls of each question, shape (questions,); NaN without an answer.
        clusters: The document of each question, or None if questions are taken as independent.
    """

    means: Scores
    recalls: Numbers
    clusters: Integers | None


def measure(retriever: Retriever, dataset: Dataset[CharacterSpan]) -> Measured:
    """Return the scores of one variant."""
    result = evaluate(retriever, dataset, k=[5, 10], budgets=["4000ch"], metrics=(SpanHit(), SpanRecall()))
    if result.failures:
        raise SystemExit(f"{retriever.name}: {len(result.failures)} questions failed")
    return Measured(
        means={key: result.metrics[name] or 0.0 for key, name in SCORES.items()},
        recalls=np.mean([result.scores.columns[name] for key, name in SCORES.items() if "recall" in key], axis=0),
        clusters=result.clusters.numbers,
    )


def summed_up(cells: dict[str, dict[str, Measured]]) -> Scores:
    """Return the means over the chunkings of each data set, and their mean."""
    rows = {
        data: {key: mean(found.means[key] for found in chunkings.values()) for key in SCORES}
        for data, chunkings in cells.items()
    }
    overall = mean(mean(row[key] for key in SCORES if key.startswith("recall")) for row in rows.values())
    return {"mean": overall} | {f"{data}_{key}": value for data, row in rows.items() for key, value in row.items()}


@dataclass(frozen=True)
class Beside:
    """How a variant differs from the default, and whether it may be as good as the best."""

    test: PairedDifference
    is_tied: bool

    @property
    def figures(self) -> Scores:
        """All of it by name."""
        test = self.test
        return {"delta": test.mean, "low": test.low, "high": test.high, "p": test.p_value, "tied": self.is_tied}

    def __str__(self) -> str:
        test, tied = self.test, "yes" if self.is_tied else " no"
        return f"{written_signed(test.mean)} {written_interval(test)} {written_p_value(test.p_value):>5} {tied}"


def beside_default(figures: dict[str, dict[str, dict[str, Measured]]], data: str) -> dict[str, Beside]:
    """Return how each variant differs from the default on a data set, in the recalls of its questions."""
    chunkings = {name: list(of_variant[data].values()) for name, of_variant in figures.items()}
    recalls = np.stack([np.mean([found.recalls for found in row], axis=0) for row in chunkings.values()], axis=1)
    clusters = chunkings[DEFAULT][0].clusters
    tests = paired_differences(recalls - recalls[:, [list(figures).index(DEFAULT)]], clusters)
    tied = tied_with_best(recalls, clusters)
    return {
        name: Beside(test, is_tied)
        for name, test, is_tied in zip(figures, tests, tied.is_tied if tied else (), strict=True)
        if test
    }


def print_row(name: str, finds: bool, scores: Scores) -> None:
    """Print the figures of a row, recall and hits in per cent."""
    print(f"{name:24} {'yes' if finds else 'no':>5}", *(f"{100 * value:15.2f}" for value in scores.values()))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--each", action="store_true", help="print every chunking, too")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md, questions_df.csv and reference/*.json")
    arguments = parser.parse_args()
    handbook = load_handbook()
    cells: dict[str, tuple[Dataset[CharacterSpan], dict[str, PositionAwareChunker]]] = {}
    if arguments.data:
        corpus = Corpus.from_folder(arguments.data / "corpora")
        given = {row: arguments.data / "reference" / f"recursive_{row}.json" for row in ("200_0", "400_200")}
        cells["public"] = (
            load_dataset(arguments.data / "questions_df.csv", corpus=corpus),
            {f"given_{row}": Given(path) for row, path in given.items() if path.exists()}
            | {str(size): RecursiveCharacterChunker(size) for size in (400, 800)},
        )
    cells["handbook"] = (handbook, {str(size): RecursiveCharacterChunker(size) for size in (250, 800, 2000)})
    finds = {name: finds_refunds(variant) for name, variant in make_variants(RecursiveCharacterChunker(800)).items()}
    figures: dict[str, dict[str, dict[str, Measured]]] = {name: {data: {} for data in cells} for name in finds}
    for data, (dataset, chunkers) in cells.items():
        for row, chunker in tqdm(chunkers.items(), desc=f"Chunkings of {data}", leave=False):
            for name, variant in make_variants(chunker).items():
                figures[name][data][row] = measure(variant, dataset)
    rows = {name: summed_up(of_variant) for name, of_variant in figures.items()}
    beside = {data: beside_default(figures, data) for data in cells}
    if arguments.json:
        for data, found in beside.items():
            for name, scores in rows.items():
                scores.update({f"{data}_{key}": value for key, value in found[name].figures.items()})
        print(
            json.dumps({f"{name}: {key}": round(value, 6) for name, row in rows.items() for key, value in row.items()})
        )
        return
    print(f"{'variant':24} finds", *(f"{key.replace('recall_at_', 'r@'):>15}" for key in rows[DEFAULT]))
    ordered = sorted(rows, key=lambda name: -rows[name]["mean"])
    for name in ordered:
        print_row(name, finds[name], rows[name])
    print(f"\n{'recall, beside ' + DEFAULT:24}", *(f"{f'{data}: delta, interval, p, tied':>36}" for data in cells))
    for name in ordered:
        print(f"{name:24}", *(f"{found[name]!s:>36}" for found in beside.values()))
    for data, (_, chunkers) in cells.items() if arguments.each else ():
        for chunking in chunkers:
            print(f"\n{data}, {chunking}\n{'variant':24} finds", *(f"{key:>15}" for key in SCORES))
            for name in rows:
                print_row(name, finds[name], figures[name][data][chunking].means)


if __name__ == "__main__":
    main()
