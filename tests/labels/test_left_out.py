import shlex

import pytest

from rag_evaluation_framework import Corpus
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.labels import leaving_out
from rag_evaluation_framework.report.pages.result import labels_left_out


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
        ("**/[ab].md", ["c.txt"], "**/*.{md,txt}"),
        ("**/[ab].md", ["c.txt", "noext"], None),
    ],
)
def test_the_pattern_that_is_named_reads_what_was_left_out(folder, glob, names, pattern):
    corpus = Corpus.from_folder(folder, glob)
    assert [leaving_out(name, corpus) for name in names] == [glob] * len(names)
    expected = "one that does not" if pattern is None else f"glob {shlex.quote(pattern)}"
    assert labels_left_out(names, corpus).endswith(f"; expected {expected}")
    if pattern is not None:
        with collect_notes():  # of c.txt
            read = {document.id for document in Corpus.from_folder(folder, pattern)}
        assert read >= {"guides/a.md", *names}


def test_what_is_read_gone_hidden_or_elsewhere_is_not_left_out_and_what_is_excluded_is_without_a_pattern(folder):
    corpus = Corpus.from_folder(folder, "guides/*.md")
    names = ("guides/a.md", "gone.md", ".hidden.md", "../b.md", "/etc/passwd", "a\0b", "guides")
    assert {name: leaving_out(name, corpus) for name in names} == dict.fromkeys(names)
    with collect_notes():  # of noext
        corpus = Corpus.of(folder, exclude="b.md")
    assert leaving_out("b.md", corpus) == ""
