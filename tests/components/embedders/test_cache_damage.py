"""Whatever becomes of the files of the cache: vectors are the embedder's own, and what was lost is said."""

import os
import random
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import Embedder
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import CachedEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.embedders.cached import Embedding, embedder_identity, vector_key
from support.each import each
from support.kept_vectors import kept_vectors
from support.nightly import nightly

TEXTS = [f"text {number}" for number in range(60)]


@dataclass(frozen=True)
class Lengths(Embedder):
    """Vectors that follow from the text alone."""

    dimension = 24
    input_limit = 9

    def embed(self, texts):
        return np.stack([np.random.default_rng([*text.encode()]).random(24, dtype=np.float32) for text in texts])

    def truncated(self, texts):
        return np.array([len(text) > 6 for text in texts])


def embedded(root):
    """What a run embeds, with its notes; the vectors are right."""
    with collect_notes() as notes:
        embedder = CachedEmbedder(Lengths(), root)
        vectors = embedder.embed(TEXTS)
        assert embedder.truncated(TEXTS).tolist() == Lengths().truncated(TEXTS).tolist()
        assert embedder.dimension == 24
        assert embedder.input_limit is None or isinstance(embedder.input_limit, int)
    np.testing.assert_array_equal(vectors, Lengths().embed(TEXTS))
    return notes


@pytest.fixture
def filled(tmp_path):
    """The folder of the vectors."""
    assert embedded(tmp_path) == []
    return tmp_path / "cache" / "embeddings"


def entry(filled, number=7):
    return filled / vector_key(embedder_identity(Lengths()), "text", TEXTS[number])


def record(filled, identity=None):
    return filled / (vector_key(identity or embedder_identity(Lengths()), "text", "")[:16] + "0" * 48)


def kept(root):
    return sum(number for _, number, _ in kept_vectors(EmbeddingCache(root)))


def assert_mended(root):
    """The next run finds everything, and says nothing."""
    assert embedded(root) == []
    assert kept(root) == len(TEXTS)


def some_of(count):
    """A tenth of the numbers, and all of them at night."""
    return [number if number % 10 == 3 else nightly(number) for number in range(count)]


def flipped(content, seed, flips):
    rng, content = random.Random(seed), bytearray(content)
    for _ in range(flips):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


class TestDamage:
    @pytest.mark.parametrize("seed", some_of(60))
    def test_bytes_that_flip_anywhere(self, filled, tmp_path, seed):
        names, rng = sorted(path for path in filled.iterdir() if path != record(filled)), random.Random(seed)
        harmed = rng.sample(names, 1 + seed % 40)
        for path in harmed:
            path.write_bytes(flipped(path.read_bytes(), seed, rng.choice((1, 2, 90))))
        (said,) = embedded(tmp_path)
        assert f"{len(harmed)} of 60 vectors were damaged; they are removed, and that work is done again" in said
        assert_mended(tmp_path)

    @each("damaged", [0, 1, 15, 16, 17, 20, 112, b"\0" * 500, b"some notes of mine\n", b"\xff" * 20, b"{}"])
    def test_a_file_that_is_cut(self, tmp_path_factory, damaged):
        """Or that holds something else."""
        root = tmp_path_factory.mktemp("root")
        assert embedded(root) == []
        file = entry(root / "cache" / "embeddings")
        file.write_bytes(file.read_bytes()[:damaged] if isinstance(damaged, int) else damaged)
        (said,) = embedded(root)
        assert "1 of 60 vectors were damaged" in said
        assert_mended(root)

    def test_a_vector_in_place_of_another(self, filled, tmp_path):
        shutil.copyfile(entry(filled, 1), entry(filled, 2))
        (said,) = embedded(tmp_path)
        assert "1 of 60 vectors were damaged" in said
        assert_mended(tmp_path)

    def test_the_vector_of_another_embedder_is_not_taken(self, filled, tmp_path):
        cache = EmbeddingCache(tmp_path)
        cache.put("other", {"text": Embedding(np.ones(3, dtype=np.float32), False)})
        shutil.copyfile(filled / vector_key("other", "text", "text"), entry(filled))
        shutil.copyfile(record(filled, "other"), record(filled))
        with pytest.warns(UserWarning, match="1 of 1 vectors were damaged"):
            assert cache.known(embedder_identity(Lengths())) is None
        assert cache.known("other") == (3, None)
        (said,) = embedded(tmp_path)
        assert "1 of 60 vectors were damaged" in said
        assert embedded(tmp_path) == []

    @pytest.mark.parametrize("kind", ["nothing", "fifo", "loop", "dangling"])
    def test_what_is_not_a_file_is_replaced(self, filled, tmp_path, kind):
        file = entry(filled)
        file.unlink()
        match kind:
            case "fifo":
                os.mkfifo(file)
            case "loop":
                file.symlink_to(file)
            case "dangling":
                file.symlink_to(tmp_path / "nowhere" / "else")
        assert embedded(tmp_path) == []
        assert_mended(tmp_path)

    def test_a_folder_in_place_of_a_file_stays(self, filled, tmp_path):
        file = entry(filled)
        file.unlink()
        file.mkdir()
        (file / "mine.txt").write_text("mine")
        (said,) = embedded(tmp_path)
        assert "cannot be kept" in said
        EmbeddingCache(tmp_path).clear()
        assert (file / "mine.txt").read_text() == "mine"

    @pytest.mark.parametrize("content", [b"", b"edited", None])
    def test_an_embedder_that_is_not_known_any_more_is_asked_until_its_next_vector_is_kept(
        self, filled, tmp_path, content
    ):
        record(filled).unlink() if content is None else record(filled).write_bytes(content)
        cache, identity = EmbeddingCache(tmp_path), embedder_identity(Lengths())
        assert kept_vectors(cache) == []  # which removes what is damaged
        assert cache.known(identity) is None
        assert cache.size() > 60 * 24 * 4
        assert embedded(tmp_path) == []
        CachedEmbedder(Lengths(), tmp_path).embed(["new"])
        assert cache.known(identity) == (24, 9)
        assert kept(tmp_path) == len(TEXTS) + 1

    def test_files_of_others_stay_where_they_are(self, filled, tmp_path):
        theirs = [filled / "notes.txt", filled / "vectors.sqlite"]
        for path in theirs:
            path.write_text("mine")
        assert embedded(tmp_path) == []
        assert EmbeddingCache(tmp_path).others() == theirs
        EmbeddingCache(tmp_path).clear()
        assert sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file()) == sorted(theirs)
        assert embedded(tmp_path) == []
        assert_mended(tmp_path)


@contextmanager
def a_small_disk(folder):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


class TestDisks:
    def test_a_full_disk_costs_a_note_and_loses_nothing(self, tmp_path):
        script = (
            "import resource, signal, sys, warnings\n"
            "sys.path.insert(0, 'tests')\n"
            "from tests.components.embedders.test_cache_damage import CachedEmbedder, Lengths, TEXTS, embedded, kept\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "embedder = CachedEmbedder(Lengths(), sys.argv[1])\n"
            "embedder.embed(TEXTS[:10])\n"
            "sys.dont_write_bytecode = True\n"  # a compiled module that is cut at the limit would stay
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))\n"
            "said = embedded(sys.argv[1])\n"
            "assert said and all('cannot be' in each for each in said), said\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
            "assert kept(sys.argv[1]) == 10\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert embedded(tmp_path) == []
        assert_mended(tmp_path)

    @pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may mount a small disk")
    def test_a_disk_without_any_space(self, tmp_path):
        with a_small_disk(tmp_path):
            (tmp_path / "filler").write_bytes(b"0" * 80_000)
            (said,) = embedded(tmp_path)
            assert "cannot be kept" in said

    @pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may remount a disk")
    def test_a_disk_that_is_read_only(self, tmp_path):
        with a_small_disk(tmp_path):
            CachedEmbedder(Lengths(), tmp_path).embed(TEXTS[:9])
            subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
            (said,) = embedded(tmp_path)
            assert "cannot be kept" in said
            assert kept(tmp_path) == 9
