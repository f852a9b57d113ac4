"""Model folders that try to run code: each would leave a mark."""

import json
import os
import pickle
import shutil
import sys
from pathlib import Path

import pytest

from rag_evaluation_framework.base.model_trust import check_model_folder
from rag_evaluation_framework.components import CrossEncoderReranker, SentenceTransformerEmbedder
from rag_evaluation_framework.errors import ConfigError
from support.tiny_models import tiny_cross_encoder

HOSTILE = "hostile_model_of_test"
SAFE_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


@pytest.fixture
def mark(tmp_path):
    """The file that hostile code makes."""
    yield tmp_path / "mark"
    sys.modules.pop(HOSTILE, None)


@pytest.fixture
def model(tmp_path, mark):
    """A folder that both libraries can load, with a hostile `.py` in it."""
    folder = tmp_path / "model"
    shutil.copytree(tiny_cross_encoder(), folder)
    (folder / "modules.json").write_text(json.dumps(SAFE_MODULES))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})
    )
    (folder / f"{HOSTILE}.py").write_text(
        f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
        "from sentence_transformers.models import Transformer as Model\n"
        "from transformers import BertConfig as Config, BertTokenizerFast as Tokenizer\n"
    )
    return folder


def changed(path, **entries):
    content = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**content, **entries}))


def with_module(kind, **entries):
    def attack(folder, mark):
        modules = [{**SAFE_MODULES[0], "type": kind, **entries}, SAFE_MODULES[1]]
        (folder / "modules.json").write_text(json.dumps(modules))

    return attack


def with_entry(file, **entries):
    def attack(folder, mark):
        (folder / file).parent.mkdir(exist_ok=True)
        changed(folder / file, **entries)

    return attack


class Bomb:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def pickled(name):
    def attack(folder, mark):
        (folder / "model.safetensors").unlink()
        (folder / name).write_bytes(pickle.dumps(Bomb(mark)))

    return attack


def with_bytes(file, content):
    def attack(folder, mark):
        (folder / file).write_bytes(content)

    return attack


def sharded(shards, pickle_name="pytorch_model.bin", place="1_Pooling"):
    """Pickled weights beside an index of safetensors, as modules of sentence-transformers would read them."""

    def attack(folder, mark):
        inner = folder / place
        changed(inner / "model.safetensors.index.json", metadata={}, weight_map=shards)
        (inner / pickle_name).write_bytes(pickle.dumps(Bomb(mark)))

    return attack


def dangling(folder, mark):
    pickled("pytorch_model.bin")(folder, mark)
    (folder / "model.safetensors").symlink_to(folder / "gone")


SHARDS = {"a.weight": "model-00001-of-00002.safetensors", "b.weight": "model-00002-of-00002.safetensors"}


def with_shards(*numbers, **given):
    def attack(folder, mark):
        sharded(SHARDS, **given)(folder, mark)
        for number in numbers:
            (folder / "1_Pooling" / f"model-0000{number}-of-00002.safetensors").touch()

    return attack


def linked(folder, mark):
    shutil.move(folder / "1_Pooling", folder.parent / "elsewhere")
    (folder / "1_Pooling").symlink_to(folder.parent / "elsewhere")


ATTACKS = {
    "a module of its own": (with_module(f"{HOSTILE}.Model"), "modules.json: key 'type'"),
    "a module without a class": (with_module(HOSTILE), "modules.json: key 'type'"),
    "a module of another repository": (with_module(f"a/model--{HOSTILE}.Model"), "modules.json: key 'type'"),
    "a module that looks like the library": (with_module("sentence_transformers_x.Model"), "modules.json: key 'type'"),
    "a function of the library": (with_module("sentence_transformers.os.system"), "modules.json: key 'type'"),
    "no module at all": (with_module(None), "modules.json: key 'type'"),
    "a module elsewhere": (
        with_module("sentence_transformers.models.Transformer", path="../elsewhere"),
        "modules.json: key 'path'",
    ),
    "a module at a path of the machine": (
        with_module("sentence_transformers.models.Transformer", path="/elsewhere"),
        "modules.json: key 'path'",
    ),
    "a configuration": (
        with_entry("config.json", model_type="own", auto_map={"AutoConfig": f"{HOSTILE}.Config"}),
        "config.json: key 'auto_map'",
    ),
    "a tokenizer": (
        with_entry("tokenizer_config.json", auto_map={"AutoTokenizer": [f"{HOSTILE}.Tokenizer", None]}),
        "tokenizer_config.json: key 'auto_map'",
    ),
    "a processor": (
        with_entry("preprocessor_config.json", auto_map={"AutoProcessor": f"{HOSTILE}.Tokenizer"}),
        "preprocessor_config.json: key 'auto_map'",
    ),
    "trust of its own": (
        with_entry("sentence_bert_config.json", model_args={"trust_remote_code": True}),
        "sentence_bert_config.json: key 'trust_remote_code'",
    ),
    "a router": (
        with_entry("1_Pooling/router_config.json", types={"query": f"{HOSTILE}.Model"}),
        "router_config.json: key 'types'",
    ),
    "a tokenizer of words": (
        with_entry("1_Pooling/wordembedding_config.json", tokenizer_class=f"{HOSTILE}.Tokenizer"),
        "wordembedding_config.json: key 'tokenizer_class'",
    ),
    "an activation": (
        with_entry("config.json", sentence_transformers={"activation_fn": f"{HOSTILE}.Model"}),
        "config.json: key 'activation_fn'",
    ),
    "a function of torch as activation": (
        with_entry("1_Pooling/config.json", activation_function="torch.hub.load"),
        "config.json: key 'activation_function'",
    ),
    "attention of the hub": (
        with_entry("config.json", attn_implementation="someone/kernel"),
        "config.json: key 'attn_implementation'",
    ),
    "an adapter": (
        with_entry("adapter_config.json", base_model_name_or_path="elsewhere"),
        "adapter_config.json: is of an adapter",
    ),
    "pickled weights": (pickled("pytorch_model.bin"), "pytorch_model.bin: is pickled.*save_pretrained"),
    "weights of torch": (pickled("weights.pt"), "weights.pt: is pickled"),
    "a pickle": (pickled("vocab.pkl"), "vocab.pkl: is pickled"),
    "safetensors that are not there": (dangling, "pytorch_model.bin: is pickled"),
    "an index without shards": (with_shards(), "pytorch_model.bin: is pickled"),
    "an index without one of its shards": (with_shards(1, pickle_name="old.bin"), "old.bin: is pickled"),
    "shards that a module does not read": (with_shards(1, 2), "pytorch_model.bin: is pickled"),
    "an index of nothing": (sharded({}), "index.json: key 'weight_map': got {}"),
    "an index that is none": (sharded(["model.safetensors"]), "index.json: key 'weight_map'"),
    "an index of pickles": (sharded({"a": "weights.dat"}), "index.json: key 'weight_map': got 'weights.dat'"),
    "an index of files elsewhere": (sharded({"a": "../x.safetensors"}), "index.json: key 'weight_map': got '../x"),
    "an index of pickles without a known ending": (
        with_entry("model.safetensors.index.json", weight_map={"a": "weights.dat"}),
        "index.json: key 'weight_map': got 'weights.dat'",
    ),
    "attention of the hub for one part": (
        with_entry("config.json", attn_implementation={"text_config": "someone/kernel"}),
        "config.json: key 'attn_implementation': got 'someone/kernel'",
    ),
    "attention of the hub by its private name": (
        with_entry("config.json", _attn_implementation_internal="someone/kernel"),
        "config.json: key '_attn_implementation_internal'",
    ),
    "attention as a list": (
        with_entry("config.json", _attn_implementation=["someone/kernel"]),
        "config.json: key '_attn_implementation'",
    ),
    "a router as a list": (
        with_entry("1_Pooling/router_config.json", types=[f"{HOSTILE}.Model"]),
        "router_config.json: key 'types'",
    ),
    "a router of routers": (
        with_entry("1_Pooling/router_config.json", types={"query": {"type": f"{HOSTILE}.Model"}}),
        "router_config.json: key 'types'",
    ),
    "tokenizers as a list": (
        with_entry("tokenizer_config.json", tokenizer_class=["BertTokenizer", f"{HOSTILE}.Tokenizer"]),
        "tokenizer_config.json: key 'tokenizer_class'",
    ),
    "a configuration that says true": (
        with_entry("config.json", auto_map=True),
        "config.json: key 'auto_map'",
    ),
    "trust as a number": (with_entry("config.json", trust_remote_code=1), "config.json: key 'trust_remote_code'"),
    "modules in another encoding": (
        with_bytes(
            "modules.json", json.dumps([{"type": f"{HOSTILE}.Model", "x": "é"}], ensure_ascii=False).encode("l1")
        ),
        "modules.json: is not JSON .*; expected JSON in UTF-8",
    ),
    "half a file": (with_bytes("config.json", b'{"auto_map": {'), "config.json: is not JSON"),
    "a link to elsewhere": (linked, "1_Pooling: is a symbolic link"),
}
attacks = pytest.mark.parametrize(("attack", "problem"), ATTACKS.values(), ids=ATTACKS.keys())


@pytest.mark.slow
@attacks
def test_a_folder_that_would_run_code_is_refused_with_file_and_key(model, mark, attack, problem):
    attack(model, mark)
    with pytest.raises(ConfigError, match=problem):
        check_model_folder(model)
    with pytest.raises(ConfigError, match=problem):
        SentenceTransformerEmbedder(str(model)).embed(["text"])
    with pytest.raises(ConfigError, match=problem):
        CrossEncoderReranker(str(model)).prepare()
    assert not mark.exists()
    assert HOSTILE not in sys.modules


@pytest.mark.parametrize("beside", [(), ("pytorch_model.bin", "training_args.bin")], ids=["alone", "pickles beside"])
def test_the_same_folder_without_an_attack_is_loaded_and_no_file_beside_the_safetensors_is_run(model, mark, beside):
    for name in beside:
        (model / name).write_bytes(pickle.dumps(Bomb(mark)))
    assert SentenceTransformerEmbedder(str(model)).embed(["text"]).shape == (1, 16)
    CrossEncoderReranker(str(model)).prepare()
    assert not mark.exists()


HARMLESS = {
    "pickles that nothing reads beside shards": with_shards(1, 2, pickle_name="training_args.bin"),
    "shards that are missing where nothing is pickled": with_entry(
        "1_Pooling/model.safetensors.index.json", weight_map=SHARDS
    ),
    "plain names for each part": with_entry(
        "config.json",
        attn_implementation={"text_config": "sdpa", "vision_config": None},
        tokenizer_class=None,
        activation_function="gelu_new",
    ),
    "a router to modules of the library": with_entry(
        "router_config.json", types={"query": "sentence_transformers.models.Transformer"}
    ),
    "a vocabulary of any word": with_entry("vocab.json", auto_map=7, types=8, trust=9, tokenizer_class=-1.5),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_what_runs_no_code_is_accepted(model, mark, change):
    change(model, mark)
    check_model_folder(model)


def test_the_library_is_told_not_to_trust_the_folder_and_to_read_safetensors(model, monkeypatch):
    library = pytest.importorskip("sentence_transformers")
    told = []
    for name in ("SentenceTransformer", "CrossEncoder"):
        real = getattr(library, name)
        monkeypatch.setattr(
            library, name, lambda folder, real=real, **given: told.append(given) or real(folder, **given)
        )
    SentenceTransformerEmbedder(str(model)).embed(["text"])
    CrossEncoderReranker(str(model)).prepare()
    wanted = {"local_files_only": True, "trust_remote_code": False, "model_kwargs": {"use_safetensors": True}}
    assert told == [wanted, wanted]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800", "x" * 300])
def test_a_path_that_no_folder_can_have_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match="choose another path"):
        check_model_folder(tmp_path / name)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(ConfigError, match="is not JSON"):
        check_model_folder(tmp_path)
