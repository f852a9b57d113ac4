import json
import os
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.embedders.cached import Embedding
from rag_evaluation_framework.components.llms import Completion, KeptAnswers
from rag_evaluation_framework.components.llms.language_model import answer_key
from support.kept_vectors import kept_vectors

IDENTITY = json.dumps({"type": "own.module:Own", "parameters": {"size": 3}, "source": None, "content": None})


@pytest.fixture
def filled(tmp_path):
    vectors = {f"text {number}": Embedding(np.ones(3, dtype=np.float32), False) for number in range(5)}
    EmbeddingCache(tmp_path / "root").put(IDENTITY, vectors)
    return tmp_path / "root"


def test_it_shows_how_much_is_kept_and_an_empty_cache_is_not_an_error(rag_eval, tmp_path, filled):
    size = EmbeddingCache(filled).size()
    assert rag_eval("cache", "info", "--root", filled).out == f"{filled}: {size:,} bytes (vectors {size:,})\n"
    assert rag_eval("cache", "info").out == ".rag-eval: 0 bytes\n"
    assert rag_eval("cache", "clear") == (0, "removed 0 bytes\n", "")
    assert not (tmp_path / ".rag-eval").exists()


def test_vectors_and_answers_are_counted_and_removed_with_yes_and_nothing_else(rag_eval, filled):
    kept = KeptAnswers(filled)
    for number in range(3):
        kept.keep(answer_key({"asked": number}), Completion("Yes."))
    (filled / "runs").mkdir()
    vectors, answers = EmbeddingCache(filled).size(), kept.size()
    told = f"{filled}: {vectors + answers:,} bytes (vectors {vectors:,}, answers {answers:,})\n"
    assert rag_eval("cache", "info", "--root", filled).out == told
    outcome = rag_eval("cache", "clear", "--root", filled)
    assert outcome.code == 2
    for said in ("this removes", "the answers have to be paid again", "add --yes"):
        assert said in outcome.err
    assert kept_vectors(EmbeddingCache(filled))[0][1] == 5
    assert rag_eval("cache", "clear", "--root", filled, "--yes").out == f"removed {vectors + answers:,} bytes\n"
    assert kept_vectors(EmbeddingCache(filled)) == []
    assert list((filled / "cache").iterdir()) == []
    assert (filled / "runs").exists()


@pytest.mark.parametrize("action", ["info", "clear"])
def test_a_root_that_is_a_file_is_refused(rag_eval, tmp_path, action):
    (tmp_path / "file").write_text("mine")
    outcome = rag_eval("cache", action, "--root", tmp_path / "file", "--yes")
    assert outcome.code == 2
    assert "is a file; expected the folder that contains the cache" in outcome.err
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("kind", ["zeros", "text", "empty", "edited", "fifo"])
def test_whatever_is_in_place_of_a_file_can_be_shown_and_cleared(rag_eval, filled, kind):
    for file in (filled / "cache" / "embeddings").iterdir():
        match kind:
            case "zeros":
                file.write_bytes(b"\0" * 40_000)
            case "text":
                file.write_text("some notes of mine\n")
            case "empty":
                file.write_bytes(b"")
            case "edited":
                file.write_bytes(file.read_bytes().replace(b"own.module", b"own.other!"))
            case _:
                file.unlink()
                os.mkfifo(file)
    outcome = rag_eval("cache", "info", "--root", filled)
    assert (outcome.code, outcome.err) == (0, "")
    assert rag_eval("cache", "clear", "--root", filled, "--yes").code == 0
    assert rag_eval("cache", "info", "--root", filled).out == f"{filled}: 0 bytes\n"


def test_what_cannot_be_read_or_removed_is_told_in_a_line(rag_eval, filled, monkeypatch):
    def denied(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    rag_eval("cache", "info", "--root", filled)  # which loads what it needs
    monkeypatch.setattr(Path, "unlink", denied)
    outcome = rag_eval("cache", "clear", "--yes", "--root", filled)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert f"{filled}/cache/embeddings/" in outcome.err
    assert ": cannot be read or removed (Permission denied)" in outcome.err


def test_behind_a_link_the_vectors_are_cleared_and_the_link_stays(rag_eval, filled):
    linked, real = filled / "cache" / "embeddings", filled / "elsewhere"
    linked.rename(real)
    linked.symlink_to(real)
    assert rag_eval("cache", "clear", "--root", filled, "--yes").code == 0
    assert list(real.iterdir()) == []
    assert linked.is_symlink()


def test_what_is_not_ours_stays_and_is_told(rag_eval, filled):
    cache = filled / "cache"
    names = ("embeddings/notes.txt", "embeddings/vectors.sqlite", "embeddings/own.csv", "other.txt")  # one of 0.9
    theirs = [cache / name for name in names]
    for file in theirs:
        file.write_bytes(b"1" * 50_000)
    before = rag_eval("cache", "clear", "--root", filled)
    assert before.code == 2
    outcome = rag_eval("cache", "clear", "--root", filled, "--yes")
    assert outcome.code == 0
    assert sorted(path for path in cache.rglob("*") if path.is_file()) == sorted(theirs)
    left = theirs[:-1]
    assert all(str(file) in outcome.out for file in left)
    assert "left as not ours" in outcome.out
    freed = int(outcome.out.split(" bytes")[0].removeprefix("removed ").replace(",", ""))
    assert 0 < freed < 150_000
    assert rag_eval("cache", "clear", "--root", filled).out.startswith("removed 0 bytes\nleft as not ours: ")
    EmbeddingCache(filled).put(IDENTITY, {"text": Embedding(np.ones(3, dtype=np.float32), False)})
    assert kept_vectors(EmbeddingCache(filled))[0][1] == 1
