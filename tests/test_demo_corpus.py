from collections import Counter

from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.text.text_locator import TextLocator


def test_the_handbook_is_as_large_as_promised():
    dataset = load_handbook()
    assert len(dataset.corpus) >= 25
    assert sum(len(document.content.encode()) for document in dataset.corpus) >= 60_000
    assert len(dataset) >= 60


def test_every_answer_reads_as_labelled():
    dataset = load_handbook()
    for entry in dataset:
        for span in entry.relevant:
            assert span.text
            assert dataset.corpus[span.doc_id].content[span.start : span.end] == span.text


def test_there_are_questions_of_every_kind():
    dataset = load_handbook()
    kinds = Counter()
    for entry in dataset:
        documents = {span.doc_id for span in entry.relevant}
        texts = {span.text for span in entry.relevant}
        kinds["no answer"] += not entry.relevant
        kinds["one span"] += len(entry.relevant) == 1
        kinds["several spans"] += len(entry.relevant) > 1 and len(documents) == 1
        kinds["several documents"] += len(documents) > 1 and len(texts) > 1
        kinds["repeated passage"] += len(entry.relevant) > 1 and len(texts) == 1
    assert min(kinds[kind] for kind in ("no answer", "several documents", "repeated passage")) >= 4
    assert kinds["several spans"] >= 10
    assert kinds["one span"] >= 30


def test_every_place_of_a_repeated_answer_is_labelled():
    dataset = load_handbook()
    locator = TextLocator(dataset.corpus)
    for entry in dataset:
        labelled = set(entry.relevant)
        for span in entry.relevant:
            assert set(locator.places(span.text)) <= labelled


def test_the_corpus_hash_in_the_dataset_is_that_of_the_handbook():
    dataset = load_handbook()
    assert dataset.corpus_hash == dataset.corpus.content_hash
