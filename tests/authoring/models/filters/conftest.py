"""Embedders whose vectors are written down, and the public questions."""

import numpy as np
import pytest

from rag_evaluation_framework import Corpus, load_dataset
from rag_evaluation_framework.components import LsaEmbedder
from rag_evaluation_framework.components.embedders import FunctionEmbedder


@pytest.fixture
def written():
    """Return an embedder of texts whose vectors are given by their last word; others are zeros."""

    def embedder(**vectors):
        size = len(next(iter(vectors.values())))
        return FunctionEmbedder(lambda texts: np.array([vectors.get(text.split()[-1], [0] * size) for text in texts]))

    return embedder


@pytest.fixture(scope="session")
def public(shared):
    """The questions, excerpts and documents of the public chunking questions, and LSA of these documents."""
    folder = shared / "data" / "chunking_questions"
    corpus = Corpus.from_folder(folder / "corpora")
    dataset = load_dataset(folder / "questions_df.csv", corpus=corpus)
    documents = [document.content for document in corpus]
    questions = [entry.query.text for entry in dataset]
    excerpts = [[span.text for span in entry.relevant] for entry in dataset]
    return questions, excerpts, documents, LsaEmbedder().fit(documents)
