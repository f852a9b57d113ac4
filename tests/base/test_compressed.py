"""What is compressed is never unfolded beyond a bound."""

import gzip
import tracemalloc
import zlib

import pytest

from rag_evaluation_framework.base import files as compressed
from rag_evaluation_framework.base.files import decompressed, decompressed_lines
from rag_evaluation_framework.datasets.rankings import read_rankings
from rag_evaluation_framework.errors import DatasetError

BOMB = 64 << 20  # bytes of zeros, 64 KB compressed


@pytest.fixture(scope="module")
def bomb():
    return gzip.compress(bytes(BOMB), 9)


@pytest.fixture
def unfolded_bytes(monkeypatch):
    """How many bytes were decompressed."""
    counted = []
    real = zlib.decompressobj

    class Counting:
        def __init__(self, *given, **named):
            self.real = real(*given, **named)

        def decompress(self, *given):
            found = self.real.decompress(*given)
            counted.append(len(found))
            return found

        def __getattr__(self, name):
            return getattr(self.real, name)

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    return counted


def test_neither_an_endless_line_nor_a_file_is_unfolded_beyond_the_bound(tmp_path, bomb, unfolded_bytes):
    told = r"unfolds to more than 20,\d{3},\d{3} bytes, of a file of 6"
    file = tmp_path / "x.jsonl.gz"
    file.write_bytes(gzip.compress(b"first\n") + bomb)
    lines = decompressed_lines(file)
    assert next(lines) == b"first\n"
    with pytest.raises(DatasetError, match=rf"x\.jsonl\.gz: line 2: {told}"):
        next(lines)
    assert sum(unfolded_bytes) <= compressed.most_unfolded(file.stat().st_size) + (2 << 20)
    unfolded_bytes.clear()
    file = tmp_path / "run.gz"
    file.write_bytes(bomb)
    with pytest.raises(DatasetError, match=rf"run\.gz: {told}.*Decompress"):
        read_rankings(file)
    assert sum(unfolded_bytes) <= compressed.most_unfolded(file.stat().st_size) + (2 << 20)


@pytest.mark.parametrize("size", [0, 1, 1 << 20, 3 << 20])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_lines_of_any_length_are_read_whole(tmp_path, size, end):
    lines = [b"a" * size + b"\n", b"\n", b"b" * size + end]
    file = tmp_path / "x.gz"
    file.write_bytes(gzip.compress(b"".join(lines)))
    assert [*decompressed_lines(file)] == [line for line in lines if line]
    assert decompressed(file.read_bytes(), file) == b"".join(lines)


def test_as_much_as_the_size_of_the_file_allows_is_unfolded(tmp_path, monkeypatch):
    line = b"x" * (2 << 20)
    file = tmp_path / "x.gz"
    file.write_bytes(gzip.compress(line))
    monkeypatch.setattr(compressed, "FREE", 10)
    ratio = len(line) // file.stat().st_size
    monkeypatch.setattr(compressed, "RATIO", ratio + 1)
    assert decompressed(file.read_bytes(), file) == line
    monkeypatch.setattr(compressed, "RATIO", ratio - 1)
    with pytest.raises(DatasetError, match="unfolds to more than"):
        decompressed(file.read_bytes(), file)


def test_a_line_may_be_as_large_as_the_file(tmp_path, monkeypatch):
    line = b"x" * (2 << 20)
    file = tmp_path / "x.gz"
    monkeypatch.setattr(compressed, "FREE", 10)
    file.write_bytes(gzip.compress(line, 0))
    assert [*decompressed_lines(file)] == [line]
    file.write_bytes(gzip.compress(line))
    with pytest.raises(DatasetError, match=r"unfolds to more than 10\d,\d{3} bytes, of a file of 2,\d{3} bytes"):
        list(decompressed_lines(file))


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    file = tmp_path / "x.gz"
    file.write_bytes(gzip.compress(b"abc\n" * 1000)[:-9])
    with pytest.raises(DatasetError, match="cannot be read"):
        list(decompressed_lines(file))
    with pytest.raises(DatasetError, match="cannot be decompressed"):
        decompressed(file.read_bytes(), file)


def test_lines_are_read_up_to_a_bound_of_all_of_them(tmp_path, unfolded_bytes, monkeypatch):
    monkeypatch.setattr(compressed, "FREE", 4 << 20)
    file = tmp_path / "lines.gz"
    file.write_bytes(gzip.compress((b" " * 999 + b"\n") * 60_000, 9))
    most = (4 << 20) + 50 * file.stat().st_size
    with pytest.raises(DatasetError, match=rf"line \d+: unfolds to more than {most:,} bytes, of a file of"):
        for _ in decompressed_lines(file):
            pass
    assert 0 < sum(unfolded_bytes) < most + (1 << 20)


def test_a_small_file_takes_little_memory(tmp_path):
    content = gzip.compress(b"a line\n")
    tracemalloc.start()
    try:
        assert decompressed(content, tmp_path / "run.gz") == b"a line\n"
        assert tracemalloc.get_traced_memory()[1] < 4 << 20  # it may be 16 MB when it is decompressed
    finally:
        tracemalloc.stop()
