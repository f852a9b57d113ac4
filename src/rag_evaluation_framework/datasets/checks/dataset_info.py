"""Description of a dataset: number and length of questions and labels, documents, and shared words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from ...base.outside import shown
from ...base.progress import progress
from ...components.retrievers.bm25 import BM25Retriever
from ...data import DOCUMENT, ChunkRegistry, EvaluationType
from ...data.dataset import Dataset, checked_dataset, count_skipped
from ...data.documents import Corpus, checked_corpus
from ...data.ground_truth import DocumentLevelGroundTruth, GroundTruth, TokenLevelGroundTruth
from ...data.hits import RankedHits
from ...data.spans import CharacterSpan, merge_overlapping_spans, total_length
from ...errors import CorpusError
from ...scoring.judging.spans import SpanJudgements
from ...scoring.metrics.span import SpanRecall
from .findings import Label, LabelTexts, of_reference, placed
from .lint import content_words, copied_answer, near_duplicates

_MOST_DOCUMENTS = 5


@dataclass(frozen=True)
class Spread:
    """Spread of some numbers.

    Attributes:
        median: The median.
        p90: The 90th percentile, interpolated linearly.
        max: The largest.
    """

    median: float
    p90: float
    max: float

    @classmethod
    def of(cls, numbers: Sequence[int]) -> "Spread | None":
        """Return the spread of some numbers; None if there are none."""
        if not numbers:
            return None
        return cls(*(round(float(value), 2) for value in np.percentile(numbers, [50, 90, 100])))


@dataclass(frozen=True)
class Coverage:
    """Share of a corpus that the labels of a dataset cover; labels that do not match the corpus do not count.

    Attributes:
        documents: How many documents hold a label; all documents of a prefix count as one.
        of_documents: How many documents there are; None without the corpus.
        share_of_text: The share of all characters that is labelled, each counted once, in [0, 1]; None if labels are
            not spans, or without the corpus.
        questions_by_document: Of the documents with the most questions, the first five, how many each has.
        mismatched: How many labels do not match the corpus.
    """

    documents: int
    of_documents: int | None
    share_of_text: float | None
    questions_by_document: Mapping[str, int]
    mismatched: int


@dataclass(frozen=True)
class WordOverlap:
    """Words that questions share with their answers: lexical retrieval finds those.

    Of a question it is the share of its different content words that stand in its labels, of answers with several
    places in the first. Content words are those that
    BM25 compares: without English stop words, by their stems.

    Attributes:
        questions: How many questions it is of: those with an answer whose text is known.
        mean: The mean share, in [0, 1].
        median: The median share.
        none: How many questions share no content word with their answer.
    """

    questions: int
    mean: float
    median: float
    none: int


@dataclass(frozen=True)
class _Counts:
    """What is counted of a dataset. What is undefined is None.

    Attributes:
        name: Its name.
        evaluation_type: Its level.
        questions: How many questions it has, without those that are skipped.
        answerable: How many of them have an answer.
        question_characters: The lengths of the questions.
        answer_characters: The lengths of the answers of the questions that have one: of each answer the first place,
            all of a question together, shared characters once. None if the texts are not known.
    """

    name: str
    evaluation_type: EvaluationType
    questions: int
    answerable: int
    question_characters: Spread | None
    answer_characters: Spread | None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown(self.name)}, {self.evaluation_type}, {self.questions:,} questions)"


@dataclass(frozen=True, repr=False)
class DatasetInfo(_Counts):
    """Description of a dataset. Undefined values are None.

    Attributes:
        content_hash: Its identity.
        corpus_hash: The hash of the labelled documents, if it is known.
        chunking: The fingerprint of the labelled chunks, if it is known.
        metadata: Its metadata, such as `id` and `version`.
        skipped: How many questions are skipped.
        labels: How many labels there are, at all places of answers.
        alternatives: How many answers have several places, any of which is enough.
        labels_per_question: Of the questions with an answer.
        coverage: The documents that are labelled; None for labels of chunks.
        overlap: The words that questions share with their answers; None if no text is known.
        metadata_columns: Which metadata the questions have, and how many have it.
    """

    content_hash: str
    corpus_hash: str | None
    chunking: str | None
    metadata: Mapping[str, Any]
    skipped: int
    labels: int
    alternatives: int
    labels_per_question: Spread | None
    coverage: Coverage | None
    overlap: WordOverlap | None
    metadata_columns: Mapping[str, int]

    @property
    def no_answer(self) -> int:
        """Number of questions without an answer in the corpus."""
        return self.questions - self.answerable

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        plain = {"metadata": dict(self.metadata), "no_answer": self.no_answer}
        return {**asdict(replace(self, metadata={})), **plain}


def describe_dataset(
    dataset: Dataset[Any], corpus: Corpus | None = None, registry: ChunkRegistry | None = None
) -> DatasetInfo:
    """Describe a dataset of any level: its counts, lengths, documents and words.

    Args:
        dataset: The dataset.
        corpus: The documents; by default those that the dataset has.
        registry: The chunks of the labelled chunking, for the texts of labels that are chunks.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: It is not a dataset.
    """
    dataset = checked_dataset(dataset)
    corpus = dataset.corpus if corpus is None else checked_corpus(corpus)
    questions, answered = _read(dataset, corpus, registry)
    lengths = [length for entry, labels in answered if (length := _length(of_reference(entry, labels))) is not None]
    return DatasetInfo(
        dataset.name,
        dataset.level.evaluation_type,
        len(questions),
        len(answered),
        Spread.of([len(entry.query.text) for entry, _ in questions]),
        Spread.of(lengths),
        dataset.content_hash,
        dataset.corpus_hash,
        dataset.chunking,
        dataset.metadata,
        count_skipped(dataset.skipped),
        sum(len(labels) for _, labels in answered),
        sum(len(answer.places) > 1 for entry, _ in answered for answer in entry.answers),
        Spread.of([len(labels) for _, labels in answered]),
        _coverage(answered, corpus),
        _overlap(answered),
        dict(Counter(key for entry, _ in questions for key in entry.query.metadata).most_common()),
    )


_Questions = Sequence[tuple[GroundTruth[Any], Sequence[Label]]]


def _read(
    dataset: Dataset[Any], corpus: Corpus | None, registry: ChunkRegistry | None
) -> tuple[_Questions, _Questions]:
    """Return the questions with their labels, and those that have any."""
    texts = LabelTexts(dataset, corpus, registry)
    questions = [(entry, texts.labels(entry)) for entry in dataset]
    return questions, [(entry, labels) for entry, labels in questions if labels]


def _length(labels: Sequence[Label]) -> int | None:
    """Return the length of an answer; None if it is not known."""
    if spans := [label.span for label in labels if label.span is not None]:
        return total_length(merge_overlapping_spans(spans))
    texts = [label.text for label in labels if label.text is not None]
    return sum(map(len, texts)) if len(texts) == len(labels) else None


def _coverage(answered: _Questions, corpus: Corpus | None) -> Coverage | None:
    """Return how much of the corpus is labelled; None for labels of chunks, and if there are no labels."""
    counts: Counter[str] = Counter()
    spans: list[CharacterSpan] = []
    mismatched = sum(label.problem is not None for _, labels in answered for label in labels)
    for entry, labels in answered:
        there = [label for label in labels if label.problem is None]
        found = [label.span for label in there if label.span is not None]
        if len(found) < len(there) and not isinstance(entry, DocumentLevelGroundTruth):
            return None
        spans += found
        named = (label.unit if label.span is None else str(label.span.doc_id) for label in there)
        counts.update([*dict.fromkeys(named)])
    if not answered:
        return None
    characters = 0 if corpus is None else sum(len(document.content) for document in corpus)
    share = total_length(merge_overlapping_spans(spans)) / characters if spans and characters else None
    of_documents = None if corpus is None else len(corpus)
    return Coverage(len(counts), of_documents, share, dict(counts.most_common(_MOST_DOCUMENTS)), mismatched)


def _overlap(answered: _Questions) -> WordOverlap | None:
    shares: list[float] = []
    for entry, labels in answered:
        asked = content_words(entry.query.text)
        texts = [label.text for label in of_reference(entry, labels)]
        if asked and None not in texts:
            told = frozenset[str]().union(*(content_words(text) for text in texts if text))
            shares.append(len(asked & told) / len(asked))
    if not shares:
        return None
    return WordOverlap(len(shares), float(np.mean(shares)), float(np.median(shares)), shares.count(0.0))


# How good a dataset is as a test.

# How hard the questions of a dataset are for BM25, the retriever that compares words.

DEPTH = 10


@dataclass(frozen=True)
class LexicalSearch:
    """Recall of BM25 on a dataset, always with the same chunks: 800 characters without overlap.

    Attributes:
        questions: How many questions it is of: those whose answers have a place in the documents.
        chunks: How many chunks the corpus has.
        found_at_1: The share of questions whose first chunk has text of an answer.
        found_at_10: The share of questions of which one of the first ten chunks has text of an answer.
        recall_at_10: The mean share of the characters of the answers that the first ten chunks hold.
        mrr_at_10: The mean of 1 / rank of the first chunk that has text of an answer; 0 beyond rank 10.
    """

    questions: int
    chunks: int
    found_at_1: float
    found_at_10: float
    recall_at_10: float
    mrr_at_10: float


def search_lexically(truth: Sequence[TokenLevelGroundTruth], corpus: Corpus) -> LexicalSearch | None:
    """Return what BM25 finds of the answers of some questions; None if there are no questions.

    Raises:
        InputError: The corpus is blank.
    """
    if not truth:
        return None
    retriever = BM25Retriever()
    retriever.index(corpus)
    asked = progress(truth, "Searching", "question")
    hits = RankedHits.of([retriever.retrieve(entry.query.text, DEPTH).hits for entry in asked])
    (judged,) = SpanJudgements.from_hits([hits], truth)
    reciprocal = np.nan_to_num(1 / judged.first_relevant)
    means = (reciprocal == 1, reciprocal > 0, SpanRecall().score(judged), reciprocal)
    return LexicalSearch(len(truth), len(retriever.chunks()), *(float(np.mean(each)) for each in means))


# How good a dataset is as a test: what a sceptic asks of questions before believing what is measured with them.

_PARTS = 10


@dataclass(frozen=True, repr=False)
class DatasetQuality(_Counts):
    """Quality of a dataset as a test. Shares are in [0, 1]; undefined ones are None.

    Attributes:
        mismatched: How many labels do not match the documents; their questions are not searched for.
        answers: How many answers the questions have that have one.
        shared_words: The mean share of a question's content words that stand in its answer (`WordOverlap.mean`).
        no_shared_words: The share of these questions that share no content word with their answer.
        copied: The share of the questions with an answer that copy it, as `lint_dataset` finds them.
        near_duplicates: The share of all questions that have at least half of their content words in common with an
            earlier one (`word_likeness`).
        documents: The share of documents with a label.
        text: The share of all characters that is labelled.
        positions: Of ten equal parts of the documents, the share of answers whose middle is there, from the first part
            to the last; of answers with several places, the first.
        bm25: What BM25 finds.
    """

    mismatched: int
    answers: Spread | None
    shared_words: float | None
    no_shared_words: float | None
    copied: float | None
    near_duplicates: float | None
    documents: float | None
    text: float | None
    positions: tuple[float, ...] | None
    bm25: LexicalSearch | None

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        record = asdict(self)
        return {**record, "positions": None if self.positions is None else list(self.positions)}


def dataset_quality(
    dataset: Dataset[Any], corpus: Corpus | None = None, registry: ChunkRegistry | None = None
) -> DatasetQuality:
    """Measure how good a dataset of any level is as a test: words, places, coverage, repetition, difficulty.

    `public_questions` has the same figures of public questions. None of them tells whether a question is one that
    users would ask, nor whether its labels are all that answers it.

    Args:
        dataset: The dataset.
        corpus: The documents; by default those that the dataset has.
        registry: The chunks of the labelled chunking, for labels that are chunks.

    Raises:
        CorpusError: There are no documents, or the corpus is not a `Corpus`.
        DatasetError: It is not a dataset.
        InputError: The documents are blank.
    """
    dataset = checked_dataset(dataset)
    documents = dataset.corpus if corpus is None else checked_corpus(corpus)
    if documents is None:
        raise CorpusError(
            f"dataset {shown(dataset.name)} has no documents; expected them as corpus=Corpus.from_folder(...)"
        )
    info, (questions, answered) = describe_dataset(dataset, documents, registry), _read(dataset, documents, registry)
    truth = [one for entry, labels in answered if (one := placed(entry, labels, documents, registry)) is not None]
    copies = [copied_answer(entry, labels) for entry, labels in answered if any(label.text for label in labels)]
    repeated = near_duplicates([entry.query.text for entry, _ in questions])
    overlap, coverage, is_of_documents = info.overlap, info.coverage, dataset.level == DOCUMENT
    return DatasetQuality(
        dataset.name,
        info.evaluation_type,
        info.questions,
        info.answerable,
        info.question_characters,
        info.answer_characters,
        0 if coverage is None else coverage.mismatched,
        Spread.of([len(entry.answers) for entry, _ in answered]),
        None if overlap is None else overlap.mean,
        None if overlap is None else overlap.none / overlap.questions,
        _share(sum(map(bool, copies)), len(copies)),
        _share(len(repeated), len(questions)),
        None if coverage is None else _share(coverage.documents, len(documents)),
        None if coverage is None else coverage.share_of_text,
        None if is_of_documents else _positions(truth, documents),
        search_lexically(truth, documents),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _positions(truth: Sequence[TokenLevelGroundTruth], corpus: Corpus) -> tuple[float, ...] | None:
    """Return the share of answers in each tenth of their documents, by their middle; None if there are none."""
    spans = [span for entry in truth for span in entry.relevant if span.start < span.end]
    if not spans:
        return None
    parts = [_PARTS * (span.start + span.end) // (2 * len(corpus[span.doc_id].content)) for span in spans]
    counts = np.bincount(np.minimum(parts, _PARTS - 1), minlength=_PARTS)
    return tuple(round(float(count) / len(spans), 4) for count in counts)


# What public questions are like: the figures that those of a dataset are to be seen beside.

_FIGURES = Path(__file__).with_name("public_figures.json")


@dataclass(frozen=True)
class PublicQuestions:
    """A public dataset, and what it is like.

    Attributes:
        title: A short title.
        authors: Who wrote the questions, and how.
        source: Where they are published.
        quality: Its figures.
    """

    title: str
    authors: str
    source: str
    quality: DatasetQuality

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {"title": self.title, "authors": self.authors, "source": self.source, "quality": self.quality.record()}


@cache
def public_questions() -> tuple[PublicQuestions, ...]:
    """Return what public questions are like: some that a model wrote, some that people wrote.

    Only figures are kept here, no question and no text. `benchmarks/public_questions.py --json` measures them anew.
    """
    return TypeAdapter(tuple[PublicQuestions, ...]).validate_json(_FIGURES.read_text(encoding="utf-8"))
