"""A model folder that is damaged anywhere, and a library that is broken, are told in a message of ours."""

import random
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rag_evaluation_framework.components import CrossEncoderReranker, SentenceTransformerEmbedder
from rag_evaluation_framework.errors import ConfigError, MissingDependency, RagEvalError
from support.tiny_models import tiny_cross_encoder

pytestmark = pytest.mark.filterwarnings("ignore")
KINDS = ("cut", "empty", "zeros", "flip", "flip", "null", "[]", "{}", "7", '"text"', "[null]")


def scored(folder):
    return CrossEncoderReranker(str(folder)).scores("a", ["b", "c d"])


def embedded(folder):
    return SentenceTransformerEmbedder(str(folder)).embed(["a", "b c"])


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A cross-encoder, and a sentence model, by what uses them."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    folder = tmp_path_factory.mktemp("sentence-model")
    model = sentence_transformers.SentenceTransformer(tiny_cross_encoder())
    model.save(str(folder))
    return {scored: Path(tiny_cross_encoder()), embedded: folder}


def damaged(content, kind, rng):
    match kind:
        case "cut":
            return content[: rng.randrange(max(1, len(content)))]
        case "empty":
            return b""
        case "zeros":
            return b"\0" * len(content)
        case "flip":
            flipped = bytearray(content)
            for _ in range(rng.choice([1, 5, 50])):
                flipped[rng.randrange(min(len(flipped), rng.choice([200, len(flipped)])))] ^= 1 << rng.randrange(8)
            return bytes(flipped)
        case _:
            return kind.encode()


@pytest.mark.slow
@pytest.mark.parametrize("use", [scored, embedded])
def test_damage_of_any_file_is_told_or_does_no_harm(use, folders, tmp_path):
    told = 0
    for file in sorted(path for path in folders[use].rglob("*") if path.is_file() and path.suffix != ".md"):
        for number, kind in enumerate(KINDS):
            copy = tmp_path / f"{file.name}-{number}"
            shutil.copytree(folders[use], copy)
            place = copy / file.relative_to(folders[use])
            place.write_bytes(damaged(place.read_bytes(), kind, random.Random(f"{file.name} {number}")))
            try:
                use(copy)
            except RagEvalError as error:
                told += str(copy) in str(error)
            shutil.rmtree(copy)
    assert told > 20


@pytest.mark.parametrize("use", [scored, embedded])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_file_that_was_cut_off_is_told(use, name, folders, tmp_path):
    shutil.copytree(folders[use], tmp_path / "model")
    file = tmp_path / "model" / name
    file.write_bytes(file.read_bytes()[: len(file.read_bytes()) // 2])
    with pytest.raises(ConfigError, match=r"model .*cannot be loaded|is not JSON"):
        use(tmp_path / "model")


class Broken(ModuleType):
    """A library whose parts are not those that are needed: another version of it."""

    def __getattr__(self, name):
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


@pytest.mark.parametrize("error", [AttributeError, OSError, ValueError, RuntimeError, SyntaxError])
def test_a_library_that_cannot_be_imported_is_told_whatever_it_raises(error, tmp_path, monkeypatch):
    pytest.importorskip("sentence_transformers")
    for name in [name for name in sys.modules if name.partition(".")[0] == "sentence_transformers"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "sentence_transformers.py").write_text(f"raise {error.__name__}('built for another version')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingDependency, match=rf"{error.__name__}: built for another version.*pip install"):
        scored(tiny_cross_encoder())


def test_a_library_of_another_version_is_told(folders, monkeypatch):
    pytest.importorskip("sentence_transformers")
    monkeypatch.setitem(sys.modules, "sentence_transformers", Broken("sentence_transformers"))
    sys.modules["sentence_transformers"].__spec__ = np.__spec__
    for use, folder in folders.items():
        with pytest.raises(ConfigError, match=r"has no attribute '(CrossEncoder|SentenceTransformer)'"):
            use(folder)
