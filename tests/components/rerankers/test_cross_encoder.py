import shutil
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import BM25Retriever, Document, DocumentId, PositionAwareChunk, evaluate
from rag_evaluation_framework.components import CrossEncoderReranker, RerankedRetriever
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError
from support.tiny_models import tiny_cross_encoder

pytestmark = pytest.mark.slow

TEXTS = ["Refunds take five days.", "Restart the server.", "", "🚀 検索", "Refunds.", "word " * 400, "\ud800 odd"]


def chunks(*texts):
    documents = [Document(DocumentId(f"{number}.md"), text) for number, text in enumerate(texts)]
    return [PositionAwareChunk.of(document, 0, len(document.content)) for document in documents]


@pytest.fixture(scope="module")
def reranker():
    return CrossEncoderReranker(tiny_cross_encoder())


class TestScores:
    def test_they_are_the_logits_of_the_model_whatever_the_batch_size(self, reranker):
        torch = pytest.importorskip("torch")
        transformers = pytest.importorskip("transformers")
        tokenizer = transformers.AutoTokenizer.from_pretrained(reranker.model)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(reranker.model).eval()
        texts = TEXTS[:-1]
        inputs = tokenizer(
            ["refunds?"] * len(texts), texts, padding=True, truncation=True, max_length=128, return_tensors="pt"
        )
        with torch.inference_mode():
            wanted = model(**inputs).logits[:, 0].numpy()
        for size in (64, 1, 2, 100):
            scores = CrossEncoderReranker(reranker.model, batch_size=size).scores("refunds?", texts)
            assert scores == pytest.approx(wanted, abs=1e-5)
        assert not (wanted > 0).all()  # a sigmoid's would be


class TestRerank:
    def test_the_best_score_comes_first(self, reranker):
        given = chunks(*TEXTS)
        scores = reranker.scores("refunds?", TEXTS)
        ranked = reranker.rerank("refunds?", given)
        assert ranked == [given[number] for number in np.argsort(-scores, kind="stable")]
        assert ranked != given
        assert reranker.rerank("refunds?", tuple(given), np.int64(2)) == ranked[:2]

    def test_equal_texts_keep_the_order_given_whatever_batch_they_fall_into(self):
        small = CrossEncoderReranker(tiny_cross_encoder(), batch_size=2)
        given = chunks(*["same text", "another longer text", "x"] * 5)
        ranked = small.rerank("q", given)
        for text in ("same text", "another longer text", "x"):
            assert [chunk for chunk in ranked if chunk.content == text] == [c for c in given if c.content == text]


class TestModel:
    def test_what_is_no_model_of_one_score_is_refused_when_prepared_and_nothing_is_loaded_for_nothing(self, tmp_path):
        for model, said in (
            ("no-such/cross-encoder", r"is not on this machine.*hf download no-such/cross-encoder\)"),
            ("no-such", r"is not on this machine.*hf download no-such\)"),
            (str(tmp_path), r"neither modules\.json nor config\.json"),
            (tiny_cross_encoder(3), "has 3 outputs; expected one"),
        ):
            reranker = CrossEncoderReranker(model)
            assert reranker.rerank("q", []) == []
            with pytest.raises(ConfigError, match=said):
                reranker.prepare()

    def test_an_embedder_is_refused_since_its_head_would_be_random(self, tmp_path):
        transformers = pytest.importorskip("transformers")
        folder = tiny_cross_encoder()
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).bert
        model.save_pretrained(tmp_path)
        with pytest.raises(ConfigError, match="is BertModel, which scores no pairs"):
            CrossEncoderReranker(tmp_path).prepare()

    def test_the_loaded_model_is_no_parameter_and_a_path_is_a_folder(self, reranker):
        reranker.prepare()
        assert reranker == CrossEncoderReranker(reranker.model) == CrossEncoderReranker(Path(reranker.model))
        assert reranker.name == f"CrossEncoderReranker(model={reranker.model!r})"


def test_it_reranks_the_candidates_of_a_retriever(reranker):
    dataset = load_handbook()
    result = evaluate(RerankedRetriever(BM25Retriever(), reranker, candidates=5), dataset, k=3, budgets=[])
    assert not result.counts["failed"]
    assert set(result.queries[0].stages) == {"search", "rerank"}
