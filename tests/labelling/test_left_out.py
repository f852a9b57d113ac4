import pytest

from rag_evaluation_framework import Corpus
from rag_evaluation_framework.labelling import leaving_out, pattern_with


@pytest.fixture
def folder(tmp_path):
    for name in ("guides/a.md", "b.md", "c.txt", "noext", ".hidden.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Something.")
    return tmp_path


@pytest.mark.parametrize(
    ("glob", "names", "pattern"),
    [
        ("guides/*.md", ["b.md"], "**/*.md"),
        ("**/*.md", ["c.txt"], "**/*.{md,txt}"),
        ("**/*.md", ["c.txt", "noext"], None),
    ],
)
def test_the_pattern_that_is_named_reads_what_was_left_out(folder, glob, names, pattern):
    corpus = Corpus.from_folder(folder, glob)
    assert [leaving_out(name, corpus) for name in names] == [glob] * len(names)
    assert pattern_with(names, corpus) == pattern
    if pattern is not None:
        assert {document.id for document in Corpus.from_folder(folder, pattern)} >= {"guides/a.md", *names}


@pytest.mark.parametrize("name", ["guides/a.md", "gone.md", ".hidden.md", "../b.md", "/etc/passwd", "a\0b", "guides"])
def test_what_is_read_gone_hidden_or_elsewhere_is_not_left_out(folder, name):
    assert leaving_out(name, Corpus.from_folder(folder, "guides/*.md")) is None
