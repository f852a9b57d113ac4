import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework import Embedder
from rag_evaluation_framework.components import CachedEmbedder, LsaEmbedder
from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.embedders.cached import (
    Embedding,
    embedder_identity,
    vector_key,
)
from rag_evaluation_framework.errors import ConfigError
from support.each import each
from support.kept_vectors import kept_vectors
from support.nightly import nightly

WRITER = """
import sys
import numpy as np
from rag_evaluation_framework.components.embedders import EmbeddingCache
from rag_evaluation_framework.components.embedders.cached import Embedding

root, first, last, size = sys.argv[1], *map(int, sys.argv[2:])
cache = EmbeddingCache(root)
print("ready", flush=True)
sys.stdin.readline()
for batch in range(first, last):
    rng = np.random.default_rng(batch)
    rows = rng.standard_normal((size, 384)).astype(np.float32)
    cache.put("embedder", {f"{batch}/{n}": Embedding(row, n % 2 == 0) for n, row in enumerate(rows)})
    print(batch, flush=True)
"""


def a_vector(*numbers, truncated=False):
    return Embedding(np.array(numbers, dtype=np.float32), truncated)


def expected(batch, size):
    rows = np.random.default_rng(batch).standard_normal((size, 384)).astype(np.float32)
    return {f"{batch}/{number}": row for number, row in enumerate(rows)}


def assert_whole(cache, batches, size):
    for batch in batches:
        wanted = expected(batch, size)
        found = cache.get("embedder", list(wanted))
        assert found.keys() == wanted.keys(), f"batch {batch} lost {len(wanted) - len(found)} vectors"
        for number, (text, row) in enumerate(wanted.items()):
            np.testing.assert_array_equal(found[text].vector, row)
            assert found[text].truncated == (number % 2 == 0)


def a_writer(root, first, last, size):
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITER, str(root), str(first), str(last), str(size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def started(process):
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.fixture
def cache(tmp_path):
    return EmbeddingCache(tmp_path)


class TestKeeping:
    def test_what_is_put_last_comes_back_to_the_bit(self, cache):
        vector = np.array([1e-38, -0.0, 3.4e38, 1 / 3], dtype=np.float32)
        for kept in (a_vector(1, 2, 3, 4), Embedding(vector, True)):
            cache.put("one", {"text": kept})
        ((text, found),) = EmbeddingCache(str(cache.folder.parents[1])).get("one", ["text", "other"]).items()
        assert (text, found.truncated, found.seconds, found.vector.dtype) == ("text", True, None, np.float32)
        assert found.vector.tobytes() == vector.tobytes()
        assert kept_vectors(cache)[0][1] == 1

    def test_an_empty_cache_has_nothing_and_makes_no_folder(self, cache, tmp_path):
        assert cache.get("one", ["text"]) == {}
        assert cache.known("one") is None
        assert kept_vectors(cache) == []
        assert cache.size() == 0
        cache.clear()
        cache.put("one", {})
        assert list(tmp_path.iterdir()) == []

    @example(texts=["", "\ud800", "\udc00", "\ud800\udc00", "𐀀", "?", "\ufffd", "\0"])
    @given(texts=st.lists(st.text(st.characters(), max_size=20), unique=True, max_size=10))
    def test_any_text_is_told_apart_lone_surrogates_too(self, texts, tmp_path_factory):
        cache = EmbeddingCache(tmp_path_factory.mktemp("cache"))
        cache.put("one", {text: a_vector(number) for number, text in enumerate(texts)})
        found = cache.get("one", texts)
        assert [found[text].vector.tolist() for text in texts] == [[number] for number in range(len(texts))]


class TestDamage:
    @pytest.mark.parametrize("place", range(16 + 9 + 8))
    def test_a_damaged_vector_is_dropped_with_a_warning_and_can_be_kept_anew(self, cache, place):
        cache.put("one", {"a": a_vector(1, 2), "b": a_vector(3, 4)})
        file = cache.folder / vector_key("one", "text", "a")
        content = bytearray(file.read_bytes())
        assert len(content) == 33
        content[place] ^= 1
        file.write_bytes(content)
        with pytest.warns(UserWarning, match="1 of 2 vectors were damaged; they are removed"):
            assert [*cache.get("one", ["a", "b"])] == ["b"]
        assert [*cache.get("one", ["a", "b"])] == ["b"]
        cache.put("one", {"a": a_vector(1, 2)})
        assert cache.get("one", ["a"])["a"].vector.tolist() == [1, 2]


class TestWithoutAPlace:
    """A folder that cannot be written is no reason to stop."""

    @pytest.fixture
    def nowhere(self, tmp_path):
        (tmp_path / "file").write_text("in the way")
        return EmbeddingCache(tmp_path / "file")

    def test_nothing_is_kept_and_it_is_said_once(self, nowhere):
        with pytest.warns(UserWarning, match=r"vectors cannot be kept \(.*that work is done again") as caught:
            [nowhere.put("one", {"a": a_vector(1)}) for _ in range(2)]
        assert len(caught) == 1
        assert nowhere.get("one", ["a"]) == {}
        assert kept_vectors(nowhere) == []
        assert nowhere.folder.parents[1].read_text() == "in the way"

    def test_a_full_disk_keeps_what_was_written_before(self, cache, monkeypatch):
        real, left = Path.write_bytes, iter([True, True])  # what is said of the embedder, and one vector

        def limited(path, data):
            if not next(left, False):
                real(path, data[:9])
                raise OSError(28, "No space left on device")
            return real(path, data)

        monkeypatch.setattr(Path, "write_bytes", limited)
        with pytest.warns(UserWarning, match="cannot be kept .*No space left"):
            cache.put("one", {text: a_vector(number) for number, text in enumerate("abc")})
        assert list(cache.get("one", "abc")) == ["a"]
        assert cache.others() == []

    def test_what_cannot_be_read_is_computed_anew_and_said_once(self, cache, monkeypatch):
        cache.put("one", {"a": a_vector(1)})
        monkeypatch.setattr(Path, "read_bytes", lambda path: (_ for _ in ()).throw(PermissionError(13, "Denied")))
        with pytest.warns(UserWarning, match=r"cannot be read \(Denied\)") as caught:
            assert [cache.get("one", ["a"]) for _ in range(2)] == [{}, {}]
        assert len(caught) == 1


class TestProcesses:
    def test_two_processes_write_at_once_and_nothing_is_lost(self, tmp_path):
        writers = [a_writer(tmp_path, 0, 30, 64), a_writer(tmp_path, 15, 45, 64)]
        for writer in writers:
            started(writer)
        assert [writer.communicate(timeout=120)[0].split()[-1:] for writer in writers] == [["29"], ["44"]]
        assert [writer.returncode for writer in writers] == [0, 0]
        cache = EmbeddingCache(tmp_path)
        assert_whole(cache, range(45), 64)
        assert kept_vectors(cache) == [("embedder", 45 * 64, 384)]

    @pytest.mark.slow
    @pytest.mark.parametrize("count", [6, nightly(24)])
    def test_killed_at_any_moment_it_keeps_every_batch_that_was_written(self, tmp_path, count):
        rng, written, cut_short = random.Random(0), [], 0
        for attempt in range(count):
            first = attempt * 1_000
            writer = a_writer(tmp_path, first, first + 1_000, 64)
            started(writer)
            before = "".join(writer.stdout.readline() for _ in range(attempt % 3))  # a slow disk writes few in a second
            time.sleep(rng.uniform(0.0, 0.1))
            writer.send_signal(signal.SIGKILL)
            output = before + writer.communicate(timeout=60)[0]
            done = [int(line) for line in output.splitlines(keepends=True) if line.endswith("\n")]
            cut_short += len(done) < 1_000
            written += done
            cache = EmbeddingCache(tmp_path)
            assert_whole(cache, done, 64)
            begun = expected(first + len(done), 64)  # of the batch that was being written, whole vectors
            assert all(np.array_equal(each.vector, begun[text]) for text, each in cache.get("embedder", begun).items())
        assert cut_short == count
        assert len(written) >= count
        assert_whole(EmbeddingCache(tmp_path), written, 64)


@dataclass(frozen=True)
class Plain(Embedder):
    size: Any = 3
    scale: Any = 1
    note: str = ""

    dimension = 3

    def embed(self, texts):
        return np.zeros((len(texts), 3), dtype=np.float32)


@dataclass(frozen=True)
class Weighted(Plain):
    content_hash = "of the weights"


@dataclass(frozen=True)
class Around(Embedder):
    embedder: Embedder

    dimension = 3

    def embed(self, texts):
        return self.embedder.embed(texts)


@dataclass(frozen=True)
class Hiding(Plain):
    prompt: Any = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    root: str = field(default="", repr=False, compare=False)


@dataclass
class Changing(Embedder):
    dimension = 3

    def embed(self, texts):
        return np.zeros((len(texts), 3), dtype=np.float32)


class Ordinary(Embedder):
    dimension = 3

    def embed(self, texts):
        return np.zeros((len(texts), 3), dtype=np.float32)


class TestIdentity:
    @each(
        ("first", "second", "alike"),
        [
            (Plain(5), Plain(size=5, scale=1), True),
            (Plain(np.int64(5)), Plain(5), True),
            (Hiding(prompt="a hint", api_key="one", root="a"), Hiding(prompt="a hint", api_key="two", root="b"), True),
            *(
                (first, second, False)
                for first, second in [
                    (Plain(1), Plain(2)),
                    (Plain(1), Plain(1.0)),
                    (Plain(1), Plain(True)),
                    (Plain(1), Plain("1")),
                    (Plain(None), Plain("None")),
                    (Plain((1, 2)), Plain((2, 1))),
                    (Plain("a"), Plain(Path("a"))),
                    (Plain({1: 2}), Plain({"1": 2})),
                    (Plain(1, 2), Plain(2, 1)),
                    (Plain(note="\ud800"), Plain(note="?")),
                    (Plain(), Weighted()),
                    (Around(Plain(1)), Around(Plain(2))),
                    (Around(Plain()), Around(Weighted())),
                    (Hiding(prompt="query: "), Hiding(prompt="passage: ")),
                    (Hiding(prompt=1), Hiding(prompt="1")),
                ]
            ),
        ],
    )
    def test_equal_embedders_are_one_and_what_differs_is_told_apart_also_what_is_hidden(self, first, second, alike):
        identities = {embedder_identity(embedder) for embedder in (first, second)}
        assert (len(identities) == 1) is alike
        assert not any(hidden in identity for identity in identities for hidden in ("a hint", "query: "))

    def test_the_weights_count_and_a_cache_around_the_embedder_does_not_ask_for_them(self, monkeypatch):
        def loud(self):
            raise AssertionError("the weights were read")

        before = embedder_identity(Around(Weighted()))
        monkeypatch.setattr(Weighted, "content_hash", "of other weights")
        assert embedder_identity(Around(Weighted())) != before
        monkeypatch.setattr(Weighted, "content_hash", property(loud))
        CachedEmbedder(Weighted())

    def test_the_source_code_of_somebody_elses_class_and_of_what_it_inherits_from_counts(self, tmp_path, monkeypatch):
        monkeypatch.syspath_prepend(tmp_path)
        identities = []
        for number in (1, 2):
            (tmp_path / f"base_{number}.py").write_text(
                "from dataclasses import dataclass\nfrom rag_evaluation_framework import Embedder\n\n\n"
                "@dataclass(frozen=True)\nclass Base(Embedder):\n    dimension = 1\n\n"
                f"    def embed(self, texts):\n        return [[{number}.0] for _ in texts]\n"
            )
            (tmp_path / f"heir_{number}.py").write_text(
                f"from collections.abc import Sized\nfrom base_{number} import Base\n\n\n"
                "class Heir(Base, Sized):\n    def __len__(self):\n        return 1\n"
            )
            own, heir = __import__(f"base_{number}").Base(), __import__(f"heir_{number}").Heir()
            identities.append([embedder_identity(one).replace(f"_{number}", "") for one in (own, heir)])
        assert all(first != second for first, second in zip(*identities, strict=True))

    @pytest.mark.parametrize(
        ("embedder", "reason"),
        [
            (Ordinary(), "Ordinary is not a frozen dataclass"),
            (Changing(), "Changing is not a frozen dataclass"),
            (LsaEmbedder(), "LsaEmbedder learns from the corpus"),
            (Around(LsaEmbedder()), "LsaEmbedder learns from the corpus"),
            (Around(Ordinary()), "Ordinary is not a frozen dataclass"),
            (Plain(len), "a parameter of type builtin_function_or_method"),
            (Plain([object()]), "a parameter of type object"),
            (Plain(np.zeros(2)), "a parameter of type ndarray"),
            (Hiding(prompt=object()), "a parameter of type object"),
        ],
    )
    def test_what_cannot_be_told_apart_is_refused(self, embedder, reason):
        with pytest.raises(ConfigError, match=reason):
            embedder_identity(embedder)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        *((512, 512), (np.int64(512), 512), (lambda _: 512, None)),  # a method
        *((odd, None) for odd in ("512", -1, 0, 2.5, np.inf, np.nan, [1], True, None)),
    ],
)
def test_an_input_limit_that_is_none_loses_no_vector(tmp_path, given, kept):
    @dataclass(frozen=True)
    class Limited(Embedder):
        dimension = 3
        input_limit = given

        def embed(self, texts):
            return np.ones((len(texts), 3), dtype=np.float32)

    embedder = CachedEmbedder(Limited(), tmp_path)
    assert embedder.input_limit == kept
    embedder.embed(["a"])
    known = EmbeddingCache(tmp_path).known(embedder_identity(Limited()))
    assert known == (3, kept)
    assert type(known.input_limit) is type(kept)


def test_a_root_may_be_given_from_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert EmbeddingCache("~/x").folder == tmp_path / "x" / "cache" / "embeddings"
