import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId, load_dataset, save_dataset
from rag_evaluation_framework.labels import relabel

LINE = "Support answers within one day, also on Sundays."
PAGE = f"# Page\n\nThe first of all of the lines here.\n\n{LINE}\n\nThe last of all of the lines here.\n"


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "d.yaml"])
def test_what_a_file_of_each_format_keeps_of_its_spans_tells_copies_apart(tmp_path, name):
    before = corpus_of(a=PAGE, b=f"# Other\n\n{LINE}\n")
    (tmp_path / "q.csv").write_text(f'question,quote,document\nWho answers?,"{LINE}",a\n')
    saved = save_dataset(load_dataset(tmp_path / "q.csv", corpus=before), tmp_path / name.replace("yaml", "json"))
    path = saved.rename(tmp_path / name)  # JSON is YAML
    after = corpus_of(c=f"New.\n{PAGE}", b=f"# Other\n\nMore.\n\n{LINE}\n")
    (change,) = relabel(load_dataset(path), after).changes
    assert (change.carried.span.doc_id, change.kind) == ("c.md", "moved")
    assert relabel(load_dataset(path), before).changed == ()
