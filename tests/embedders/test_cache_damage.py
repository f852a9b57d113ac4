"""Whatever becomes of the file of the cache: vectors are the embedder's own, and what was lost is said."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import CachedEmbedder, Embedder
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.embedders import EmbeddingCache, cache_file
from rag_evaluation_framework.embedders.cached import embedder_identity
from rag_evaluation_framework.embedders.embedding_cache import Embedding
from rag_evaluation_framework.errors import InputError

TEXTS = [f"text {number}" for number in range(60)]
CRASHERS = sorted((Path(__file__).parent / "damaged_caches").glob("*.sqlite"))


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
    with collected() as notes:
        embedder = CachedEmbedder(Lengths(), root)
        vectors = embedder.embed(TEXTS)
        assert embedder.truncated(TEXTS).tolist() == Lengths().truncated(TEXTS).tolist()
        assert embedder.dimension == 24
        assert embedder.input_limit is None or isinstance(embedder.input_limit, int)
    np.testing.assert_array_equal(vectors, Lengths().embed(TEXTS))
    return notes


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    root = tmp_path_factory.mktemp("valid")
    assert embedded(root) == []
    return (root / "cache" / "embeddings" / "vectors.sqlite").read_bytes()


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "cache" / "embeddings"
    folder.mkdir(parents=True)
    return folder / "vectors.sqlite"


def kept(root):
    return sum(entry.vectors for entry in EmbeddingCache(root).contents())


def assert_mended(root):
    """The next run finds everything, and says nothing."""
    assert embedded(root) == []
    assert kept(root) == len(TEXTS)


def some_of(count):
    """A tenth of the numbers, and all of them where there is time."""
    return [number if number % 10 == 3 else pytest.param(number, marks=pytest.mark.slow) for number in range(count)]


def flipped(content, seed, flips):
    rng, content = random.Random(seed), bytearray(content)
    for _ in range(flips):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


class TestDamage:
    @pytest.mark.parametrize("seed", some_of(60))
    def test_bytes_that_flip_anywhere(self, valid, file, tmp_path, seed):
        file.write_bytes(flipped(valid, seed, 1 + seed % 40 * 3))
        embedded(tmp_path)
        notes = embedded(tmp_path)
        assert all("damaged" in note or "left as it is" in note or "readonly" in note for note in notes)
        embedded(tmp_path)

    @pytest.mark.parametrize("place", some_of(60))
    def test_bytes_that_flip_in_the_header_and_the_schema(self, valid, file, tmp_path, place):
        damaged = bytearray(valid)
        damaged[3 * place if place < 30 else 16_384 - 29 * (place - 29)] ^= 1 << place % 8
        file.write_bytes(damaged)
        embedded(tmp_path)
        with suppress(InputError):
            kept(tmp_path)

    @pytest.mark.parametrize("length", [0, 1, 15, 16, 99, 100, 511, 16_384, 20_000, 40_000, 65_535])
    def test_a_truncated_file(self, valid, file, tmp_path, length):
        file.write_bytes(valid[:length])
        (said,) = embedded(tmp_path)
        assert "damaged" in said
        assert_mended(tmp_path)

    @pytest.mark.parametrize("content", [b"\0" * 50_000, b"some notes of mine\n" * 900, b"\xff" * 20, b""])
    def test_what_is_no_database_is_set_aside_and_not_deleted(self, file, tmp_path, content):
        file.write_bytes(content)
        (said,) = embedded(tmp_path)
        assert "is damaged" in said
        assert str(tmp_path / "cache" / "embeddings.damaged") in said
        assert (tmp_path / "cache" / "embeddings.damaged" / "vectors.sqlite").read_bytes() == content
        assert_mended(tmp_path)

    @pytest.mark.parametrize("kind", ["folder", "fifo", "loop", "dangling"])
    def test_what_is_no_file(self, file, tmp_path, kind):
        match kind:
            case "folder":
                file.mkdir()
                (file / "mine.txt").write_text("mine")
            case "fifo":
                os.mkfifo(file)
            case "loop":
                file.symlink_to(file)
            case _:
                file.symlink_to(tmp_path / "nowhere" / "else")
        assert len(embedded(tmp_path)) == 1
        if kind == "folder":
            aside = tmp_path / "cache" / "embeddings.damaged" / "vectors.sqlite"
            assert (aside / "mine.txt").read_text() == "mine"
        assert_mended(tmp_path)

    @pytest.mark.parametrize("leftover", ["vectors.sqlite-wal", "vectors.sqlite-shm", "vectors.sqlite-journal"])
    def test_what_is_left_beside_a_file_that_is_gone(self, file, tmp_path, leftover):
        file.with_name(leftover).write_bytes(b"left" * 4_000)
        embedded(tmp_path)
        assert_mended(tmp_path)

    @pytest.mark.parametrize("leftover", ["vectors.sqlite-wal", "vectors.sqlite-shm", "vectors.sqlite-journal"])
    def test_damage_beside_the_file(self, valid, file, tmp_path, leftover):
        file.write_bytes(valid)
        file.with_name(leftover).write_bytes(b"left" * 4_000)
        embedded(tmp_path)
        assert_mended(tmp_path)

    def test_a_file_in_place_of_the_folder(self, file, tmp_path):
        file.parent.rmdir()
        file.parent.write_text("mine")
        (said,) = embedded(tmp_path)
        assert "is damaged" in said
        assert (tmp_path / "cache" / "embeddings.damaged").read_text() == "mine"
        assert_mended(tmp_path)

    @pytest.mark.parametrize("crasher", CRASHERS, ids=lambda path: path.stem)
    def test_a_file_that_ended_a_run(self, file, tmp_path, crasher):
        shutil.copyfile(crasher, file)
        with pytest.raises(InputError, match="rag-eval cache clear"):
            kept(tmp_path)
        (said,) = embedded(tmp_path)
        assert "is damaged" in said
        assert_mended(tmp_path)

    @pytest.mark.parametrize("statement", ["DROP TABLE vectors", "ALTER TABLE vectors RENAME COLUMN record TO other"])
    def test_a_schema_that_is_not_whole(self, valid, file, tmp_path, statement):
        file.write_bytes(valid)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(statement)
        (said,) = embedded(tmp_path)
        assert "is damaged" in said
        assert_mended(tmp_path)

    @pytest.mark.parametrize("record", ["x'00'", "7", "NULL", "(SELECT record FROM vectors LIMIT 1)", "flipped"])
    def test_an_embedder_whose_latest_vector_is_damaged_is_asked_until_that_is_made_anew(
        self, valid, file, tmp_path, record
    ):
        file.write_bytes(valid)
        with closing(sqlite3.connect(file)) as connection, connection:
            ((key, kept_as),) = connection.execute("SELECT key, record FROM vectors, embedders WHERE key = latest")
            value = f"x'{flipped(kept_as, 1, 1).hex()}'" if record == "flipped" else record
            connection.execute("CREATE TABLE others (key BLOB UNIQUE, embedder INTEGER, record)")
            connection.execute("INSERT INTO others SELECT * FROM vectors")
            connection.execute("DROP TABLE vectors")
            connection.execute("ALTER TABLE others RENAME TO vectors")
            connection.execute(f"UPDATE vectors SET record = {value} WHERE key = ?", (key,))
        identity = embedder_identity(Lengths())
        assert EmbeddingCache(tmp_path).known(identity) is None
        (said,) = embedded(tmp_path)
        assert "held 1 damaged of 60 vectors; they are dropped and computed anew" in said
        assert EmbeddingCache(tmp_path).known(identity) == (24, 9)
        assert_mended(tmp_path)

    def test_the_vector_of_another_embedder_tells_nothing(self, valid, file, tmp_path):
        file.write_bytes(valid)
        vector = np.ones(3, dtype=np.float32)
        EmbeddingCache(tmp_path).put("other", {"text": Embedding(vector, False)})
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE embedders SET latest = (SELECT max(latest) FROM embedders WHERE id = 2)")
        assert EmbeddingCache(tmp_path).known(embedder_identity(Lengths())) is None
        assert EmbeddingCache(tmp_path).known("other") == (3, None)

    def test_an_identity_that_is_damaged_is_told_and_mended(self, valid, file, tmp_path):
        file.write_bytes(valid)
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE embedders SET identity = CAST(x'ff7b' AS TEXT)")
        with pytest.raises(InputError, match="what it says of an embedder is damaged"):
            kept(tmp_path)
        CachedEmbedder(Lengths(), tmp_path).embed(["new"])
        assert kept(tmp_path) == len(TEXTS) + 1

    def test_only_the_last_damaged_file_is_kept(self, file, tmp_path):
        for content in (b"first", b"second"):
            file.write_bytes(content)
            embedded(tmp_path)
        assert (tmp_path / "cache" / "embeddings.damaged" / "vectors.sqlite").read_bytes() == b"second"
        cache = EmbeddingCache(tmp_path)
        assert cache.size() > len(b"second")
        cache.clear()
        assert list((tmp_path / "cache").iterdir()) == []

    def test_files_of_others_stay_where_they_are(self, file, tmp_path):
        theirs = [file.with_name("notes.txt"), tmp_path / "cache" / "embeddings.damaged" / "own.csv"]
        theirs[1].parent.mkdir()
        for path in theirs:
            path.write_text("mine")
        assert embedded(tmp_path) == []
        for content in (b"first", b"second"):
            file.write_bytes(content)
            assert "is damaged" in embedded(tmp_path)[0]
        assert [path.read_text() for path in theirs] == ["mine", "mine"]
        assert (tmp_path / "cache" / "embeddings.damaged" / "vectors.sqlite").read_bytes() == b"second"
        assert EmbeddingCache(tmp_path).others() == theirs
        EmbeddingCache(tmp_path).clear()
        assert sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file()) == sorted(theirs)
        assert_mended_from_nothing(tmp_path)


class TestNotOurs:
    @staticmethod
    def assert_left_alone(file, root, said):
        before = {path.name: path.read_bytes() for path in file.parent.iterdir()}
        for _ in range(2):
            (told,) = embedded(root)
            assert said in told
            assert "it is left as it is" in told
        with pytest.raises(InputError, match=f"{said}.*left as it is"):
            EmbeddingCache(root).contents()
        assert {path.name: path.read_bytes() for path in file.parent.iterdir()} == before

    @pytest.mark.parametrize("version", [0, 1, 3, 2**31 - 1])
    def test_another_version_is_left_alone(self, valid, file, tmp_path, version):
        file.write_bytes(valid)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        self.assert_left_alone(file, tmp_path, f"has schema version {version}, and this version of rag-eval reads 2")

    def test_another_version_is_left_alone_with_the_log_of_a_killed_process(self, valid, file, tmp_path):
        other = tmp_path / "other.sqlite"
        other.write_bytes(valid)
        with closing(sqlite3.connect(other)) as connection:
            connection.execute("PRAGMA user_version = 3")
        with closing(sqlite3.connect(other)) as connection, connection:
            connection.execute("DELETE FROM vectors")
            connection.commit()
            for path in tmp_path.glob("other.sqlite*"):
                shutil.copyfile(path, file.with_name(path.name.replace("other", "vectors")))
        assert file.with_name("vectors.sqlite-wal").stat().st_size > 0
        self.assert_left_alone(file, tmp_path, "has schema version 3")

    @pytest.mark.parametrize("version", [0, 1, 3])
    def test_the_database_of_another_application_is_left_alone(self, file, tmp_path, version):
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("CREATE TABLE bookmarks (url TEXT)")
            connection.execute("INSERT INTO bookmarks VALUES ('mine')")
            connection.execute(f"PRAGMA user_version = {version}")
        self.assert_left_alone(file, tmp_path, "is the database of another application")
        with pytest.raises(InputError, match="another application; it is not removed"):
            EmbeddingCache(tmp_path).clear()
        assert file.exists()

    def test_another_version_can_be_cleared(self, valid, file, tmp_path):
        file.write_bytes(valid)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA user_version = 3")
        EmbeddingCache(tmp_path).clear()
        assert_mended_from_nothing(tmp_path)


def assert_mended_from_nothing(root):
    assert embedded(root) == []
    assert_mended(root)


class TestOtherProcesses:
    def test_a_file_that_another_process_locks_is_left_alone(self, valid, file, tmp_path, monkeypatch):
        monkeypatch.setattr(cache_file, "_SECONDS", 0)
        file.write_bytes(valid)
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            other.execute("DELETE FROM vectors WHERE rowid = 1")
            notes = embedded(tmp_path)
            other.execute("ROLLBACK")
        assert notes
        assert all("cannot be" in said and "locked" in said for said in notes)
        assert_mended(tmp_path)

    def test_a_cache_that_another_process_has_open_is_emptied_and_its_file_stays(self, valid, file, tmp_path):
        file.write_bytes(valid)
        cache = EmbeddingCache(tmp_path)
        with closing(sqlite3.connect(file)) as other:
            assert other.execute("SELECT count(*) FROM vectors").fetchone()[0] > 10
            cache.clear()
            assert other.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
            assert cache.contents() == []
        cache.clear()
        assert not cache.folder.exists()

    @pytest.mark.parametrize("other_version", [True, False])
    def test_what_cannot_be_emptied_while_another_process_has_it_open_is_told(
        self, valid, file, tmp_path, other_version
    ):
        file.write_bytes(valid)
        with closing(sqlite3.connect(file)) as making:
            making.execute("PRAGMA user_version = 3" if other_version else "PRAGMA user_version").fetchone()
        with closing(sqlite3.connect(file)) as other:
            other.execute("SELECT count(*) FROM vectors").fetchone()
            if not other_version:
                other.executescript("DROP TABLE vectors; DROP TABLE embedders; CREATE TABLE vectors (key)")
            with pytest.raises(
                InputError, match=r"vectors\.sqlite: cannot be removed: it .* try again when that has ended"
            ):
                EmbeddingCache(tmp_path).clear()
        EmbeddingCache(tmp_path).clear()

    def test_while_one_writes_another_clears(self, tmp_path):
        script = (
            "import sys, numpy as np\n"
            "from rag_evaluation_framework.embedders.embedding_cache import Embedding\n"
            "from rag_evaluation_framework.embedders import EmbeddingCache\n"
            "cache, row = EmbeddingCache(sys.argv[1]), np.arange(99, dtype=np.float32)\n"
            "for number in range(150):\n"
            "    cache.put('own', {f'{number}/{n}': Embedding(row + number, False) for n in range(20)})\n"
            "    found = cache.get('own', [f'{number}/{n}' for n in range(20)])\n"
            "    assert all((each.vector == row + number).all() for each in found.values())\n"
        )
        writers = [subprocess.Popen([sys.executable, "-W", "error", "-c", script, str(tmp_path)]) for _ in range(2)]
        cleared = 0
        while any(writer.poll() is None for writer in writers):
            cleared += EmbeddingCache(tmp_path).size() > 0
            EmbeddingCache(tmp_path).clear()
            time.sleep(0.02)
        assert cleared > 5
        assert [writer.returncode for writer in writers] == [0, 0]
        cache = EmbeddingCache(tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cache.contents()


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
            "from tests.embedders.test_cache_damage import CachedEmbedder, Lengths, TEXTS, embedded, kept\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "embedder = CachedEmbedder(Lengths(), sys.argv[1])\n"
            "embedder.embed(TEXTS[:10])\n"
            "sys.dont_write_bytecode = True\n"  # a compiled module that is cut at the limit would stay
            "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))\n"
            "said = embedded(sys.argv[1])\n"
            "assert said and all('cannot be' in each for each in said), said\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
            "assert kept(sys.argv[1]) == 10\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            cwd=Path(__file__).parents[2],
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
            assert "cannot be written" in said

    @pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may remount a disk")
    def test_a_disk_that_is_read_only(self, valid, tmp_path):
        with a_small_disk(tmp_path):
            folder = tmp_path / "cache" / "embeddings"
            folder.mkdir(parents=True)
            (folder / "vectors.sqlite").write_bytes(valid[:80_000])
            subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
            notes = embedded(tmp_path)
            assert 1 <= len(notes) <= 2
            assert all("cannot be" in said for said in notes)
