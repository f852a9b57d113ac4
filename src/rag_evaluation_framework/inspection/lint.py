"""Checking a dataset: labels that no retriever can find, questions that mislead, and what is counted."""

from typing import Any

from rag_evaluation_framework._outside import one_line, shown
from rag_evaluation_framework._support.progress import progress
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.dataset import Dataset, check_dataset_level
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.inspection.findings import Finding, quotation
from rag_evaluation_framework.inspection.label_checks import LabelChecks
from rag_evaluation_framework.inspection.labelled_text import LabelTexts
from rag_evaluation_framework.inspection.lint_report import LintReport
from rag_evaluation_framework.inspection.meanings import MEANINGS
from rag_evaluation_framework.inspection.question_checks import asked_twice, copied_answer
from rag_evaluation_framework.labelling.relabelling import relabel


def lint_dataset(
    dataset: Dataset[Any],
    corpus: Corpus | None = None,
    registry: ChunkRegistry | None = None,
    budget: str = "4000ch",
    k: int = 10,
) -> LintReport:
    """Check a dataset of any level: which labels are wrong, and which questions mislead.

    `MEANINGS` lists what is found. Without the corpus it is what the dataset tells by itself, and the report says what
    was not checked.

    Args:
        dataset: The dataset.
        corpus: The documents as they are now; by default those that the dataset has.
        registry: The chunks of the labelled chunking; chunk level only.
        budget: The largest context budget, in characters: an answer that is longer is told.
        k: The largest number of results: a question with more relevant documents or chunks is told.

    Raises:
        ConfigError: The budget is not one of characters, or k is not a number of results.
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: It is not a dataset.
    """
    check_dataset_level(dataset, getattr(dataset, "level", TOKEN))
    corpus = dataset.corpus if corpus is None else checked_corpus(corpus)
    characters, results = Cutoff.parse(budget), Cutoff.parse(k)
    if characters.unit != "ch" or results.unit:
        given = f"budget={shown(budget)}, k={shown(k)}"
        raise ConfigError(f"{given}: expected a budget in characters, such as 4000ch, and a number of results")
    texts = LabelTexts(dataset, corpus, registry)
    checks = LabelChecks(texts, corpus, characters.size, results.size)
    questions = [(entry, texts.labels(entry)) for entry in dataset]
    findings: list[Finding] = []
    for entry, labels in progress(questions, "Checking questions", "question"):
        findings += checks.findings(entry, labels)
        copied = copied_answer(entry, labels)
        findings += [] if copied is None else [copied]
    findings += [finding for _, finding in asked_twice(questions, dataset.contexts.with_lost)]
    findings += _skipped(dataset, corpus)
    findings += _counted(dataset)
    rank = {kind: number for number, kind in enumerate(MEANINGS)}
    findings.sort(key=lambda finding: rank[finding.kind])
    return LintReport(dataset.name, len(dataset), tuple(findings), tuple(_not_checked(dataset, corpus, registry)))


def _skipped(dataset: Dataset[Any], corpus: Corpus | None) -> list[Finding]:
    """Return the labels of questions that are skipped, and why they would be in the documents as they are now."""
    now = dataset.skipped
    if corpus is not None and any(label.anchor is not None for label in now):
        known, recorded = dataset.corpus_hash, dataset.recorded
        alone = Dataset[CharacterSpan]((), TOKEN, skipped=now, corpus_hash=known, recorded=recorded)
        now = relabel(alone, corpus).dataset.skipped
    skipped, told = {label.query.id for label in now}, iter(now)
    again = "is there again; `rag-eval dataset update` takes the question back"
    found: list[Finding] = []
    for label in dataset.skipped:
        why = f"{quotation(label.quote)} {again}"
        if label.query.id in skipped:
            label = next(told)
            why = f"{f'{quotation(label.quote)}: ' if label.quote else ''}{one_line(label.reason)}"
        found.append(Finding("skipped", why, label.query))
    return found


def _counted(dataset: Dataset[Any]) -> list[Finding]:
    """Return what is told of the dataset as a whole."""
    found: list[Finding] = []
    unanswered = sum(not entry.relevant for entry in dataset)
    if unanswered == len(dataset):
        found.append(Finding("no answers", "no question has an answer" if unanswered else "there are no questions"))
    elif unanswered:
        verb = "has" if unanswered == 1 else "have"
        what = f"{unanswered:,} of {len(dataset):,} questions {verb} no answer in the corpus"
        found.append(Finding("no answer", what))
    return found


def _not_checked(dataset: Dataset[Any], corpus: Corpus | None, registry: ChunkRegistry | None) -> list[str]:
    """Return what could not be checked, and what is needed for it."""
    if dataset.level == CHUNK:
        return [] if registry is not None else ["whether there are such chunks, and their texts: needs the chunks"]
    if dataset.level == DOCUMENT:
        told = [] if corpus is not None else ["whether there are such documents: needs the corpus"]
        return [*told, "whether a question copies its answer: documents are too long to say"]
    spans = [unit for entry in dataset for unit in entry.labels if isinstance(unit, CharacterSpan)]
    silent = sum(not dataset.quoted(span).text for span in spans)
    told = ["whether labels match their documents, and where else their texts stand: needs the corpus"]
    told = [] if corpus is not None else told
    without = f"{silent:,} label{'s' * (silent != 1)} without a text"
    if silent and corpus is None:
        told.append(f"{without}: needs the corpus")
    elif silent:
        told.append(f"whether {without} are where they were: nobody knows what they quoted")
    return told
