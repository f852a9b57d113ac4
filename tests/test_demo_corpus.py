import re
from collections import Counter
from statistics import fmean

import pytest

from rag_evaluation_framework import BM25Retriever, VectorRAGRetriever, evaluate
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.text.text_locator import TextLocator


def test_the_handbook_is_as_large_as_promised_and_every_place_of_its_answers_is_labelled():
    dataset = load_handbook()
    assert len(dataset.corpus) >= 25
    assert sum(len(document.content.encode()) for document in dataset.corpus) >= 60_000
    assert len(dataset) >= 60
    assert dataset.corpus_hash == dataset.corpus.content_hash

    locator = TextLocator(dataset.corpus)
    for entry in dataset:
        for span in entry.relevant:
            assert span.text
            assert dataset.corpus[span.doc_id].content[span.start : span.end] == span.text
            assert set(locator.places(span.text)) <= set(entry.relevant)  # also where it is repeated


def test_questions_are_short_different_and_of_every_kind():
    # There are questions of every kind:
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

    # Questions are short and different:
    texts = [entry.query.text for entry in load_handbook()]
    assert len(set(texts)) == len(texts)
    assert [text for text in texts if len(text) > 90] == []

    # No question repeats four words in a row of its answer:
    def runs(text):
        words = re.findall(r"[\w-]+", text.lower())
        return set(zip(words, words[1:], words[2:], words[3:], strict=False))

    for entry in load_handbook():
        assert not runs(entry.query.text) & set().union(*(runs(span.text) for span in entry.relevant)), entry.query


@pytest.mark.parametrize("retriever", [BM25Retriever(), VectorRAGRetriever()], ids=["BM25", "LSA"])
def test_questions_are_as_hard_as_their_tags_say(retriever):
    dataset = load_handbook()
    scores = evaluate(retriever, dataset, k=5, budgets=[]).per_query("span_recall@5")
    recall = {
        level: fmean(
            scores[entry.query.id] for entry in dataset.ground_truth if entry.relevant and level in tags(entry)
        )
        for level in ("easy", "medium", "hard")
    }
    assert recall["hard"] < 0.5 < recall["easy"]
    assert recall["hard"] < recall["medium"] < recall["easy"]


def tags(entry):
    return entry.query.metadata["tags"]
