"""Progress is shown to people who watch, and to nobody else."""

from rag_evaluation_framework.base.progress import progress, progress_bar


def test_where_nobody_watches_nothing_is_written(capsys):
    with progress_bar(3, "Doing", "thing", delay=0) as bar:
        bar.update(3)
    assert list(progress(range(3), "Doing", "thing")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")
