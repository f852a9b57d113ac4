"""What a dataset is like: how many questions and labels, how long, of which documents, and in whose words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data import (
    TOKEN,
    ChunkRegistry,
    DocumentLevelGroundTruth,
    EvaluationType,
    GroundTruth,
    count_skipped,
)
from rag_evaluation_framework.data.dataset import Dataset, check_dataset_level
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.spans import CharacterSpan, merge_overlapping_spans, total_length
from rag_evaluation_framework.inspection.labelled_text import Label, LabelTexts, of_reference
from rag_evaluation_framework.text.terms import question_words, stemmer

_MOST_DOCUMENTS = 5


@dataclass(frozen=True)
class Spread:
    """How some numbers are spread.

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
    """How much of a corpus the labels of a dataset cover; those that do not match the corpus do not count.

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
    """How far questions are asked in the words of their answers: lexical retrieval finds those that are.

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
class DatasetInfo:
    """What a dataset is like. What is undefined is None.

    Attributes:
        name: Its name.
        evaluation_type: Its level.
        content_hash: Its identity.
        corpus_hash: The hash of the labelled documents, if it is known.
        chunking: The fingerprint of the labelled chunks, if it is known.
        metadata: Its metadata, such as `id` and `version`.
        questions: How many questions it has, without those that are skipped.
        answerable: How many of them have an answer.
        skipped: How many questions are skipped.
        labels: How many labels there are, at all places of answers.
        alternatives: How many answers have several places, any of which is enough.
        labels_per_question: Of the questions with an answer.
        question_characters: The lengths of the questions.
        answer_characters: The lengths of the answers of the questions that have one: of each answer the first place,
            all of a question together, shared characters once. None if the texts are not known.
        coverage: The documents that are labelled; None for labels of chunks.
        overlap: The words that questions share with their answers; None if no text is known.
        metadata_columns: Which metadata the questions have, and how many have it.
    """

    name: str
    evaluation_type: EvaluationType
    content_hash: str
    corpus_hash: str | None
    chunking: str | None
    metadata: Mapping[str, Any]
    questions: int
    answerable: int
    skipped: int
    labels: int
    alternatives: int
    labels_per_question: Spread | None
    question_characters: Spread | None
    answer_characters: Spread | None
    coverage: Coverage | None
    overlap: WordOverlap | None
    metadata_columns: Mapping[str, int]

    @property
    def no_answer(self) -> int:
        """How many questions have no answer in the corpus."""
        return self.questions - self.answerable

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        record = asdict(replace(self, metadata={}, metadata_columns={}))
        plain = {"metadata": dict(self.metadata), "metadata_columns": dict(self.metadata_columns)}
        return {**record, **plain, "no_answer": self.no_answer}

    def __repr__(self) -> str:
        return f"DatasetInfo({shown(self.name)}, {self.evaluation_type}, {self.questions:,} questions)"


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
    check_dataset_level(dataset, getattr(dataset, "level", TOKEN))
    corpus = dataset.corpus if corpus is None else checked_corpus(corpus)
    texts = LabelTexts(dataset, corpus, registry)
    questions = [(entry, texts.labels(entry)) for entry in dataset]
    answered = [(entry, labels) for entry, labels in questions if labels]
    lengths = [length for entry, labels in answered if (length := _length(of_reference(entry, labels))) is not None]
    return DatasetInfo(
        dataset.name,
        dataset.level.evaluation_type,
        dataset.content_hash,
        dataset.corpus_hash,
        dataset.chunking,
        dataset.metadata,
        len(questions),
        len(answered),
        count_skipped(dataset.skipped),
        sum(len(labels) for _, labels in answered),
        sum(len(answer.places) > 1 for entry, _ in answered for answer in entry.answers),
        Spread.of([len(labels) for _, labels in answered]),
        Spread.of([len(entry.query.text) for entry, _ in questions]),
        Spread.of(lengths),
        _coverage(answered, corpus),
        _overlap(answered),
        dict(Counter(key for entry, _ in questions for key in entry.query.metadata).most_common()),
    )


_Questions = Sequence[tuple[GroundTruth[Any], Sequence[Label]]]


def _length(labels: Sequence[Label]) -> int | None:
    """Return the length of an answer; None if it is not known."""
    spans = [label.span for label in labels if label.span is not None]
    if spans:
        return total_length(merge_overlapping_spans(spans))
    texts = [label.text for label in labels]
    return None if None in texts else sum(len(text) for text in texts if text is not None)


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
    stem = stemmer("english")
    shares: list[float] = []
    for entry, all_labels in answered:
        labels = of_reference(entry, all_labels)
        asked = {stem(word) for word in question_words(entry.query.text, "english")}
        texts = [label.text for label in labels]
        if asked and None not in texts:
            told = {stem(word) for text in texts if text for word in question_words(text, "english")}
            shares.append(len(asked & told) / len(asked))
    if not shares:
        return None
    return WordOverlap(len(shares), float(np.mean(shares)), float(np.median(shares)), shares.count(0.0))
