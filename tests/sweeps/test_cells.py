"""Cells are run once, kept when they are done, and found again by what they are."""

import importlib
import sys

import pytest

from rag_evaluation_framework import (
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    RecursiveCharacterChunker,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    evaluate,
    load_result,
)
from rag_evaluation_framework.data import Answer, QueryId, QueryText
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError, Interrupted
from rag_evaluation_framework.runs import RunSpec
from rag_evaluation_framework.runs.journal import unfinished_folder
from rag_evaluation_framework.sweeps import Sweep, SweepConfig, cells

OVER = {"chunker.chunk_size": [200, 800], "k": [5, 10]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Billing\n\nInvoices are sent on the first day.\n\nSupport helps you.\n")
    (tmp_path / "q.csv").write_text("question,quote\nWhen do invoices come?,Invoices are sent on the first day.\n")
    return tmp_path


def base(**keys):
    return RunSpec(**{"corpus": "docs", "dataset": "q.csv", **keys})


def made(result):
    return [not found.is_kept for found in result.cells]


def test_a_cell_is_the_run_that_it_describes_and_has_its_folder(tmp_path):
    dataset = load_handbook()
    result = Sweep(base=RunSpec(dataset=dataset), over=OVER).run(tmp_path)
    for found, size in zip(result.cells, (200, 800), strict=True):
        alone = evaluate(BM25Retriever(chunker=RecursiveCharacterChunker(size)), dataset, k=[5, 10])
        kept = load_result(found.folder)
        assert kept.metrics == alone.metrics
        assert kept.queries.hits == alone.queries.hits
        assert (found.folder.parent, kept.name) == (tmp_path / "cells", f"chunk_size={size}")
        assert kept.explain("q001").record()  # its documents are kept below the root
    assert len(result.rows) == 2 * 3  # two numbers of results, and the usual budget


def test_a_second_start_runs_nothing_and_a_changed_sweep_only_what_is_new(folder, monkeypatch):
    assert made(Sweep(base=base(), over=OVER).run()) == [True, True]
    again = Sweep(base=base(), over=OVER).run()
    assert made(again) == [False, False]
    assert again.bill["cells"] == 0
    one, other = (cell.facts for cell in again.cells)
    assert one.questions is other.questions  # thousands of cells have them once
    more = Sweep(base=base(), over={"chunker.chunk_size": [400, 200], "k": [5, 10]}).run()
    assert made(more) == [True, False]
    assert made(Sweep(base=base(), over=OVER).run(fresh=True)) == [True, True]


def edited(folder):
    (folder / "docs" / "a.md").write_text("# Billing\n\nInvoices are sent on the first day.\n\nSupport helps all.\n")


def asked(folder):
    with (folder / "q.csv").open("a") as file:
        file.write("Who helps?,Support helps you.\n")


def damaged(folder):
    for report in folder.glob(".rag-eval/cells/*/report.json"):
        report.write_text(report.read_text()[:-20])


def untouched(folder):
    pass


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        (edited, {}),
        (asked, {}),
        (damaged, {}),
        (untouched, {"k": [5]}),
        (untouched, {"budgets": ["100ch"]}),
        (untouched, {"metrics": ["span_iou"]}),
        (untouched, {"count_as_zero": frozenset({"failed"})}),
        (untouched, {"batch_queries": False}),
    ],
)
def test_what_a_cell_depends_on_and_how_it_is_measured_makes_it_another_one(folder, change, keys):
    over = {"chunker.chunk_size": [200, 800]}
    Sweep(base=base(), over=over).run()
    change(folder)
    assert made(Sweep(base=base(**keys), over=over).run()) == [True, True]


def test_labels_have_one_form_in_the_name_of_a_cell_as_those_that_are_done_are_found_by_it(tmp_path, monkeypatch):
    corpus = Corpus([Document(DocumentId("a.md"), "Invoices are sent. Support helps you.")])
    first = CharacterSpan(DocumentId("a.md"), 0, 8, "Invoices")
    second = CharacterSpan(DocumentId("a.md"), 19, 26, "Support")
    several = [(first, second), (Answer.any_of(first, second),)]
    labels = [
        TokenLevelGroundTruth(Query(QueryId(f"q{number}"), QueryText(f"What is sent, {number}?")), spans)
        for number, spans in enumerate(several)
    ]
    digest, given = cells.digest, []
    monkeypatch.setattr(cells, "digest", lambda value: given.append(value) or digest(value))
    Sweep(base=RunSpec(dataset=Dataset(labels, TOKEN, corpus=corpus), k=[5]), over={"chunker": ["sentence"]}).run(
        tmp_path
    )
    one, other = ["a.md", 0, 8], ["a.md", 19, 26]
    assert [["q0", [one], [other]], ["q1", [one, other]]] in given


def test_nothing_tells_a_lambda_from_another_one_so_that_it_is_run_again(tmp_path):
    dataset = load_handbook()
    evaluation = TokenLevelEvaluation(dataset.corpus, dataset)
    config = SweepConfig([lambda text: text.split("\n\n"), RecursiveCharacterChunker(800)], [None], k_values=[5])
    assert made(evaluation.sweep(config, root=tmp_path)) == [True, True]
    assert made(evaluation.sweep(config, root=tmp_path)) == [True, False]
    alone = Sweep(base=RunSpec(dataset=dataset), over={"chunker": [lambda text: text.split("\n\n")]})
    assert made(alone.run(tmp_path)) == [True]


@pytest.mark.parametrize("part", ["reranker", "metrics"])
def test_what_a_script_defines_is_another_thing_in_another_script(tmp_path, part):
    def swept():
        names = {"__name__": "__main__", "SpanRecall": SpanRecall}
        lines = {
            "reranker": "def made(query, texts):\n    return [0] * len(texts)\n",
            "metrics": "class Made(SpanRecall):\n    pass\nmade = [Made()]\n",
        }
        exec(lines[part], names)
        keys = {part: names["made"]} if part == "metrics" else {}
        over = {"k": [5]} if part == "metrics" else {part: [names["made"]]}
        return Sweep(base=RunSpec(dataset=load_handbook(), **keys), over=over).run(tmp_path)

    assert made(swept()) == [True]
    assert made(swept()) == [True]


def test_a_cell_that_fails_is_data_and_the_others_are_run(folder):
    over = {"chunker.overlap": [0, 500], "chunker": ["recursive-character:chunk_size=400"]}
    result = Sweep(base=base(), over=over).run()
    assert [found.facts is None for found in result.cells] == [False, True]
    assert "overlap=500" in result.cells[1].failure
    assert result.failed == (result.cells[1],)
    with pytest.raises(ConfigError, match="overlap=500"):
        Sweep(base=base(), over=over).run(on_error="raise")


def test_a_cell_in_which_questions_failed_is_run_again(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    (folder / "own_failing.py").write_text(
        "from pathlib import Path\n\ndef search(query, k):\n    Path('works').stat()\n"
        "    return ['Invoices are sent']\n"
    )
    sweep = Sweep(base=base(), over={"retriever": ["own_failing:search"]})
    assert sweep.run().cells[0].failure.startswith("all questions failed, the first: FileNotFoundError")
    (folder / "works").touch()
    again = sweep.run()
    assert made(again) == [True]
    assert again.cells[0].failure is None
    assert made(sweep.run()) == [False]


def test_the_plan_has_to_run_what_the_next_start_runs(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    (folder / "own_half.py").write_text(
        "def search(query, k):\n    return [None] if 'days' in query else ['Support']\n"
    )
    (folder / "q.csv").write_text("question,quote\nHow many days?,first day\nWho helps?,Support helps you.\n")
    sweep = Sweep(base=base(), over={"retriever": ["bm25", "own_half:search"]})
    damaged, failed = sweep.run().cells
    assert len(load_result(failed.folder).failures) == 1
    assert sweep.plan().kept == {1}
    report = damaged.folder / "report.json"
    report.write_text(report.read_text()[:1000])
    known = sweep.plan()
    assert (known.kept, known.totals["cells"], sweep.run().bill["cells"]) == (frozenset(), 2, 2)


def prepared(folder, **keys):
    (cell,) = Sweep(base=base(**{key: keys[key] for key in keys if key != "over"}), over=keys.get("over", {})).cells
    return cells.Workshop(folder, folder / "root").prepared(cell)


def test_what_requests_cost_and_hold_makes_no_other_cell_and_a_field_that_is_not_shown_does(folder, monkeypatch):
    one = prepared(folder, embedder={"type": "openai", "price_in": 0.02}, reranker="cohere").folder
    embedder, reranker = "openai:price_in=0.03,batch_size=64", {"type": "cohere", "price_search": 2.0, "timeout": 9}
    assert prepared(folder, embedder=embedder, reranker=reranker).folder == one
    assert prepared(folder, embedder="openai:dimensions=8", reranker="cohere").folder != one
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    (folder / "own_hidden.py").write_text(
        "from dataclasses import dataclass, field\nfrom rag_evaluation_framework import Reranker\n\n\n"
        "@dataclass(frozen=True)\nclass Mine(Reranker):\n    weight: int = field(default=1, repr=False)\n\n"
        "    def rerank(self, query, chunks, top_k=None):\n        return list(chunks)\n"
    )
    both = [prepared(folder, reranker={"type": "own_hidden:Mine", "weight": weight}) for weight in (1, 2)]
    assert both[0].folder != both[1].folder
    assert len({unfinished_folder(folder, each.config, each.pipeline) for each in both}) == 2


def test_answers_are_found_again_however_a_file_says_the_same(folder):
    size = {"type": "recursive-character", "chunk_size": 400}
    ways = [{"over": {"chunker.chunk_size": [400]}}, {"chunker": size}, {"chunker": size, "experiment_name": "mine"}]
    found = [prepared(folder, **keys) for keys in ways]
    (folder / "docs2").mkdir()
    (folder / "docs2" / "a.md").write_text("Invoices are sent on the first day.")
    others = [prepared(folder, chunker=size, corpus="docs2"), prepared(folder, chunker={**size, "chunk_size": 200})]
    names = [unfinished_folder(folder, each.config, each.pipeline) for each in (*found, *others)]
    assert len({*names[:3]}) == 1
    assert len({*names}) == 3


def test_answers_of_a_cell_outlive_another_one_of_its_retriever_that_is_done(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.setattr(cells, "_JOURNAL_AFTER", 0.0)
    (folder / "own_stopped.py").write_text(
        "ASKED = []\n\ndef search(query, k):\n    ASKED.append(query)\n    if len(ASKED) == 4:\n"
        "        raise KeyboardInterrupt\n    return ['Support helps you.']\n"
    )
    (folder / "q.csv").write_text("question,quote\nWhich day?,first day\nWho helps?,Support helps you.\n")
    keys = base(retriever="own_stopped:search", budgets=[], k=[1])
    sweep = Sweep(base=keys, over={"metrics": [["span_recall"], ["span_iou"]]})
    with pytest.raises(Interrupted, match="1 of 2 cells are done and kept; the same sweep goes on"):
        sweep.run()
    assert made(sweep.run()) == [False, True]
    assert len(importlib.import_module("own_stopped").ASKED) == 4 + 1
    assert not (folder / ".rag-eval" / "runs" / "unfinished").exists()


def test_documents_and_questions_are_read_once(folder, monkeypatch):
    read, of = [], Corpus.of
    monkeypatch.setattr(Corpus, "of", lambda given, **how: read.append(given) or of(given, **how))
    Sweep(base=base(), over={"chunker.chunk_size": [100, 200, 300]}).run()
    assert [given for given in read if not isinstance(given, Corpus)] == ["docs"]


def test_of_a_cell_that_is_soon_done_no_answer_is_written_twice(folder, monkeypatch):
    sizes, run = [], cells.run

    def watched(config, journal):
        found = run(config, journal)
        sizes.extend(file.stat().st_size for file in journal.folder.glob("journal-*.jsonl"))
        return found

    monkeypatch.setattr(cells, "run", watched)
    monkeypatch.setattr(cells, "_JOURNAL_AFTER", 60.0)  # however slow this machine is
    Sweep(base=base(), over=OVER).run()
    assert sizes == [0, 0]


def test_code_that_is_edited_after_it_was_loaded_is_not_found_again(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    over = {"retriever": ["own_edited:search"]}
    (folder / "own_edited.py").write_text("def search(query, k):\n    return ['Support helps you.']\n")
    assert made(Sweep(base=base(), over=over).run()) == [True]
    assert made(Sweep(base=base(), over=over).run()) == [False]
    (folder / "own_edited.py").write_text("def search(query, k):\n    return ['Invoices are sent']\n")
    with pytest.warns(UserWarning, match="edited after it was loaded"):
        old = Sweep(base=base(), over=over).run()
    assert old.cells[0].facts.means["span_recall@5"] == 0  # the code that was loaded
    monkeypatch.delitem(sys.modules, "own_edited")
    importlib.invalidate_caches()
    new = Sweep(base=base(), over=over).run()
    assert (made(new), new.cells[0].facts.means["span_recall@5"] > 0) == ([True], True)


OWN_CLASS = """
from rag_evaluation_framework import Retriever

class Mine(Retriever):
    def index(self, corpus):
        pass

    def retrieve(self, query, k):
        return ['Invoices are sent']
"""


@pytest.mark.parametrize(
    ("over", "filled"),
    [
        ({"vector_store": [{"type": "chroma", "path": "db"}], "embedder": ["lsa"]}, True),
        ({"retriever": ["own_class:Mine"]}, False),
    ],
    ids=["a store in a folder, which is filled", "a class that a file names and that is no dataclass"],
)
def test_a_cell_is_found_again_whatever_its_components_are(folder, monkeypatch, over, filled):
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    (folder / "own_class.py").write_text(OWN_CLASS)
    sweep = Sweep(base=base(), over=over)
    assert made(sweep.run()) == [True]
    assert (folder / "db").is_dir() is filled
    assert made(sweep.run()) == [False]


def test_a_component_that_is_called_like_a_loaded_module_is_not_that_module(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    over = {"retriever": ["bm25"]}
    Sweep(base=base(), over=over).run()
    (folder / "bm25.py").write_text("")
    importlib.import_module("bm25")
    assert made(Sweep(base=base(), over=over).run()) == [False]


def test_the_code_of_a_metric_counts(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    code = (
        "from rag_evaluation_framework import TokenLevelMetric\n\nclass Mine(TokenLevelMetric):\n    name = 'mine'\n\n"
        "    def calculate(self, retrieved, ground_truth):\n        return {score}\n"
    )
    scores = []
    for score in (0.25, 0.875):  # of other lengths, so that Python does not take the file for the old one
        (folder / "own_metric.py").write_text(code.format(score=score))
        sys.modules.pop("own_metric", None)
        importlib.invalidate_caches()
        result = Sweep(base=base(metrics=["own_metric:Mine"]), over={"k": [5]}).run()
        scores.append(result.cells[0].facts.means["mine@5"])
    assert scores == [0.25, 0.875]


def test_a_file_that_a_parameter_names_counts(folder):
    (folder / "words").write_text("one")
    over = {"chunker": [{"type": "own_lines:Lines", "marks": "words"}]}
    (folder / "own_lines.py").write_text(
        "from dataclasses import dataclass\nfrom rag_evaluation_framework import Chunker\n\n\n@dataclass(frozen=True)\n"
        "class Lines(Chunker):\n    marks: str = ''\n\n    def chunk(self, text):\n        return text.splitlines()\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folder), *sys.path])
        assert made(Sweep(base=base(), over=over).run()) == [True]
        assert made(Sweep(base=base(), over=over).run()) == [False]
        (folder / "words").write_text("two and three")
        assert made(Sweep(base=base(), over=over).run()) == [True]


def test_where_a_label_is_counts_and_the_order_of_documents(tmp_path):
    text = "The fee is 5 euros. " * 2
    documents = [Document(DocumentId(name), text) for name in ("a", "b")]

    def sweep(start, listed):
        span = CharacterSpan(DocumentId("a"), start, start + 19, text[:19])
        entry = TokenLevelGroundTruth(Query(QueryId("q"), QueryText("What is the fee?")), (span,))
        return Sweep(base=RunSpec(dataset=Dataset([entry], TOKEN, name="fees", corpus=Corpus(listed))), over={"k": [1]})

    assert made(sweep(0, documents).run(tmp_path)) == [True]
    assert made(sweep(0, documents).run(tmp_path)) == [False]
    assert made(sweep(20, documents).run(tmp_path)) == [True]
    assert made(sweep(0, documents[::-1]).run(tmp_path)) == [True]


def test_a_run_that_cannot_be_kept_leaves_the_earlier_one(folder, monkeypatch):
    sweep = Sweep(base=base(), over={"chunker.chunk_size": [200]})
    (first,) = sweep.run().cells

    def full(*_):
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rag_evaluation_framework.runs.result.store.write_folder", full)
        with pytest.warns(UserWarning, match="the result is used, but not kept: No space left"):
            again = sweep.run(fresh=True)
    assert again.cells[0].facts.means["span_recall@5"] == 1.0
    assert load_result(first.folder).metrics
    assert made(sweep.run()) == [False]
    assert [path.name for path in first.folder.parent.iterdir()] == [first.folder.name]


def test_without_imports_no_converter_is_imported(folder):
    workshop = cells.Workshop(folder, folder / "runs", imports=False)
    with pytest.raises(ConfigError, match="names your own code, and --no-import"):
        workshop._with_sources(base(converter="not_there_at_all:convert"))


def test_cells_whose_questions_are_in_other_columns_have_other_questions(folder):
    (folder / "q.csv").write_text("en,de,quote\nWhen do invoices come?,Wann?,Invoices are sent on the first day.\n")
    columns = [{"question": "en", "quote": "quote"}, {"question": "de", "quote": "quote"}]
    result = Sweep(base=base(), over={"columns": columns}).run()
    asked = [load_result(found.folder).queries[0].text for found in result.cells]
    assert asked == ["When do invoices come?", "Wann?"]


def test_answers_are_found_from_another_working_folder_and_where_all_was_moved(folder, monkeypatch):
    span = CharacterSpan(DocumentId("a.md"), 0, 9, "Invoices.")
    truth = TokenLevelGroundTruth(Query(QueryId("1"), QueryText("What?")), (span,))
    in_memory = Dataset([truth], TOKEN, name="q", corpus=Corpus([Document(DocumentId("a.md"), "Invoices.")]))

    def names(where):
        experiments = (spec.experiment(where) for spec in (base(), RunSpec(dataset=in_memory)))
        return [unfinished_folder(where / "root", each, None).name for each in experiments]

    before = names(folder)
    monkeypatch.chdir("/")
    assert names(folder) == before
    assert names(folder.rename(folder.with_name("moved"))) == before
