"""Files that once ended in something else than an error of ours: each is read, or refused in one clear line."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from rag_evaluation_framework import Corpus, load_dataset, run_experiment
from rag_evaluation_framework.data import DOCUMENT
from rag_evaluation_framework.data.chunks import ChunkRegistry
from rag_evaluation_framework.datasets.rankings import read_qrels, read_rankings
from rag_evaluation_framework.errors import InputError, RagEvalError
from rag_evaluation_framework.runs import load_config
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

TEXT = "# Billing\n\nInvoices are sent on the first day of the month. Refunds take five working days.\n"
READ_BY = {"chunking-eval.1.4.csv", "quotes-tsv.1.2.tsv"}
"""The ones that are valid: their lines end as on old Macintoshes."""


def load(path, corpus):
    return load_dataset(path, corpus=corpus)


def run(path, _):
    content = path.read_bytes().replace(b"batch_questions", b"batch_queries")  # as the key is called by now
    path = Path(path.name)
    path.write_bytes(content)
    run_experiment(load_config(path).experiment(Path()))


LOADERS = {
    "chunking-eval": load,
    "config-json": run,
    "config-yaml": run,
    "config-yaml2": run,
    "examples": load,
    "examples-doc": lambda path, corpus: load_dataset(path, DOCUMENT, corpus=corpus),
    "examples-jsonl": load,
    "examples-reg": lambda path, corpus: load_dataset(path, corpus=corpus, registry=ChunkRegistry()),
    "harness-c": lambda path, corpus: load_dataset(path, DOCUMENT, corpus=corpus),
    "native-json-nocorpus": lambda path, _: load_dataset(path),
    "native-jsonl": load,
    "qrels-json": lambda path, _: read_qrels(path),
    "qrels-jsonl": lambda path, _: read_qrels(path),
    "quotes-csv-load": load,
    "quotes-tsv": load,
    "registry": lambda path, _: ChunkRegistry.load(path),
    "run-json": lambda path, _: read_rankings(path),
    "tokenizer": lambda path, _: resolve_tokenizer(path).count("a zebra"),
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The documents and the dataset that the files are about."""
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    Path("docs/billing.md").write_text(TEXT)
    span = {"doc_id": "billing.md", "start": 11, "end": 59}
    questions = [{"id": "q1", "query": "When?", "relevant_spans": [span]}]
    Path("tok.json").write_text(json.dumps({"schema_version": 1, "questions": questions}))
    return Corpus.from_folder("docs")


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.filterwarnings("ignore")
def test_what_once_ended_badly_is_read_or_refused_in_one_line(shared, project, kind):
    files = sorted((shared / "data/crashers").glob(f"{kind}.*"))
    assert files
    for file in files:
        refused = pytest.raises(RagEvalError) if file.name not in READ_BY else contextlib.nullcontext()
        with refused as caught:
            LOADERS[kind](file, project)
        if caught is not None:
            assert isinstance(caught.value, InputError)
            assert "\n" not in str(caught.value), file.name
            assert len(str(caught.value)) < 400, file.name
        shutil.rmtree("out", ignore_errors=True)
