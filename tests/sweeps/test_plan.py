"""What a sweep varies, how it is written, and the cells that this makes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    DocumentLevelEvaluation,
    RecursiveCharacterChunker,
    TokenLevelEvaluation,
    demo,
)
from rag_evaluation_framework.components import InMemoryVectorStore, LsaEmbedder, SentenceChunker
from rag_evaluation_framework.components.chunkers import FunctionChunker
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.runs import RunSpec
from rag_evaluation_framework.sweeps import Sweep, SweepConfig, load_sweep
from rag_evaluation_framework.sweeps.plan import sweep_of
from rag_evaluation_framework.sweeps.settings import parse_axis

BASE = RunSpec(corpus="docs", dataset="questions.csv")


def swept(**given):
    return Sweep(**{"base": BASE, **given})


def test_cells_are_the_product_of_the_different_values_of_the_axes_the_last_varying_fastest():
    over = {"chunker.chunk_size": [200, 200, 400], "embedder": ["lsa", None, "none"], "k": [5, 10, 20]}
    sweep = swept(over=over)
    assert [cell.name for cell in sweep.cells] == [
        "chunk_size=200, embedder=lsa",
        "chunk_size=200, embedder=none",
        "chunk_size=400, embedder=lsa",
        "chunk_size=400, embedder=none",
    ]
    assert [cell.number for cell in sweep.cells] == [1, 2, 3, 4]
    assert {tuple(cell.spec.k) for cell in sweep.cells} == {(5, 10, 20)}  # rows of each, no cells
    assert sweep.cells[2].values == {"chunker.chunk_size": 400, "embedder": "lsa"}
    assert sweep.cells[2].spec.chunker["chunk_size"] == 400
    assert sweep.cells[2].spec.experiment_name == "chunk_size=400, embedder=lsa"


def test_a_retriever_of_an_axis_replaces_the_parts_of_the_run_as_the_option_does():
    base = BASE.model_copy(update={"chunker": "sentence", "embedder": "lsa"})
    retrievers = ["own:search", "vector-rag", "vector-rag:candidates=9", {"type": "vector-rag", "candidates": 9}]
    own, *others, holding, lexical = swept(
        base=base, over={"retriever": [*retrievers, "vector-rag:chunker=sentence-window", "bm25"]}
    ).cells
    assert own.spec.pipeline == {"retriever": "own:search"}
    assert [(cell.spec.chunker, cell.spec.embedder) for cell in others] == [("sentence", "lsa")] * 3
    assert (holding.spec.chunker, holding.spec.embedder) == ("sentence-window", "lsa")
    assert lexical.spec.pipeline == {"retriever": "bm25", "chunker": "sentence"}


def test_a_part_is_varied_wherever_the_run_gives_it_and_is_not_given_by_two_axes():
    over = {"chunker": ["sentence", "recursive-character"]}
    base = RunSpec(corpus="docs", dataset="questions.csv", retriever="bm25:k1=2,chunker=sentence")
    assert [cell.spec.chunker for cell in swept(base=base, over=over).cells] == over["chunker"]
    for inside in ({"retriever": ["bm25:chunker=sentence"]}, {"retriever.chunker": ["sentence"]}):
        with pytest.raises(ConfigError, match="cell 1, chunker=sentence: chunker is given inside of the retriever and"):
            _ = swept(over={**over, **inside}).cells


@pytest.mark.parametrize(
    ("chunker", "expected"),
    [
        (None, {"type": "recursive-character", "chunk_size": 300, "overlap": 0}),
        ("sentence", {"type": "sentence", "chunk_size": 300}),
        ("recursive-character:overlap=20", {"type": "recursive-character", "overlap": 20, "chunk_size": 300}),
        ({"type": "sentence", "length": "words"}, {"type": "sentence", "length": "words", "chunk_size": 300}),
        (SentenceChunker(100), {"type": "sentence", "chunk_size": 300}),
    ],
)
def test_an_axis_sets_a_parameter_of_a_component_however_that_is_given(chunker, expected):
    sweep = swept(base=BASE.model_copy(update={"chunker": chunker}), over={"chunker.chunk_size": [300]})
    assert expected.items() <= sweep.cells[0].spec.chunker.items()


def test_a_component_is_set_before_its_parameters_and_a_parameter_of_one_inside_is_reached_in_python_too():
    over = {"retriever.chunker.chunk_size": [200], "retriever.k1": [1.0, 2.0], "retriever": ["bm25"]}
    cells = swept(over=over).cells
    assert [(cell.spec.retriever["k1"], cell.spec.chunker["chunk_size"]) for cell in cells] == [(1.0, 200), (2.0, 200)]
    with pytest.raises(ConfigError, match=r"embedder\.dimensions is a parameter of the embedder"):
        _ = swept(over={"retriever.embedder.dimensions": [2], "retriever": ["bm25"]}).cells
    over = {"retriever.k1": [1, 2], "retriever.chunker.chunk_size": [30, 40]}
    base = RunSpec(corpus="docs", dataset="questions.csv", retriever=BM25Retriever(SentenceChunker(100)))
    cells = swept(base=base, over=over).cells
    known = [(cell.spec.retriever["k1"], cell.spec.chunker["chunk_size"]) for cell in cells]
    assert known == [(1, 30), (1, 40), (2, 30), (2, 40)]


@pytest.mark.parametrize("values", [np.arange(200, 500, 200), [*np.arange(200, 500, 200)]])
def test_numbers_of_numpy_are_plain_ones(values):
    cells = swept(over={"chunker.chunk_size": values}).cells
    assert [cell.name for cell in cells] == ["chunk_size=200", "chunk_size=400"]
    assert {type(cell.spec.chunker["chunk_size"]) for cell in cells} == {int}
    with pytest.raises(ConfigError, match=r"over: k is array.*; expected a list of values"):
        swept(over={"k": np.array(5)})


CONDITIONS = [
    ("embedder != 'lsa'", ["200 none", "400 none"]),
    ("embedder is None or chunker.chunk_size == 200", ["200 lsa", "200 none", "400 none"]),
    ("not (chunker.chunk_size in [200, 300]) and embedder == 'lsa'", ["400 lsa"]),
    ("100 < chunker.chunk_size < 300", ["200 lsa", "200 none"]),
    ("chunker.chunk_size > -1 and embedder is None", ["200 none", "400 none"]),
    ("embedder is 'lsa' and chunker.chunk_size is not 200", ["400 lsa"]),
    (lambda values: values["chunker.chunk_size"] > 200, ["400 lsa", "400 none"]),
]


@pytest.mark.parametrize(("condition", "wanted"), CONDITIONS)
def test_a_condition_or_a_function_says_which_combinations_are_wanted(condition, wanted):
    over = {"chunker.chunk_size": [200, 400], "embedder": [LsaEmbedder(), None]}
    values = [cell.values for cell in swept(over=over, only_if=condition).cells]
    assert [f"{v['chunker.chunk_size']} {'lsa' if v['embedder'] else 'none'}" for v in values] == wanted


def test_a_component_is_compared_by_its_name_however_it_is_written_and_none_in_a_file_is_none(tmp_path):
    written = ["lsa:dimensions=64", {"type": "lsa", "dimensions": 32}, LsaEmbedder(), "sentence-transformer:model=m"]
    (cell,) = swept(over={"embedder": written}, only_if="embedder != 'lsa'").cells
    assert cell.spec.embedder == "sentence-transformer:model=m"
    engines = swept(over={"engine": ["http://127.0.0.1:8000", "mine:engine"]}, only_if="engine != 'mine:engine'").cells
    assert [cell.spec.engine for cell in engines] == ["http://127.0.0.1:8000"]
    (tmp_path / "sweep.yaml").write_text(
        "base: {corpus: docs, dataset: q.csv}\n"
        "over: {embedder: [none, lsa], corpus: [none]}\n"
        "only_if: embedder is None\n"
    )
    (cell,) = load_sweep(tmp_path / "sweep.yaml").cells
    assert (cell.spec.embedder, cell.spec.corpus) == (None, "none")


@pytest.mark.filterwarnings("ignore:.*nothing tells it from others")
def test_values_that_are_described_alike_are_numbered_and_their_effect_is_told(tmp_path):
    chunkers = [lambda text: text.split("\n\n"), "sentence", lambda text: [text], {"type": "sentence"}]
    sweep = Sweep(base=RunSpec(dataset=load_handbook(), k=[5]), over={"chunker": chunkers})
    first, _, second, _ = (cell.levels["chunker"] for cell in sweep.cells)
    assert second == f"{first} (2)"
    names = [first, "sentence", second, "sentence (2)"]
    assert [cell.name for cell in sweep.cells] == [f"chunker={name}" for name in names]
    assert [effect.level for effect in sweep.run(tmp_path).effects()] == names[1:]
    first, second = swept(over={"chunker": [FunctionChunker(given) for given in chunkers[::2]]}).cells
    assert (second.levels["chunker"], second.name) == (f"{first.levels['chunker']} (2)", f"{first.name} (2)")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"over": {"chunk": [1]}}, "over: chunk: unknown key; did you mean chunker?"),
        ({"over": {"chunker.chunk_size": 200}}, "chunker.chunk_size is 200; expected a list of values"),
        ({"over": {"chunker.chunk_size": []}}, "expected a list of values, at least one"),
        (
            {"over": {"embedder.dimensions": [64]}},
            "embedder.dimensions is a parameter of the embedder, and there is none",
        ),
        ({"over": {"k": [0]}}, "cutoff 0"),
        ({"over": {"gates": [["recall@5 >= 1"]]}}, "gates is about one run, and a sweep has many"),
        ({"base": RunSpec(dataset="q.csv", gates=["recall@5 >= 1"])}, "gates is about one run"),
        ({"over": {"max_concurrency": [1, 0]}}, "cell 2, max_concurrency=0: $.max_concurrency: input should be"),
        ({"over": {"chunker.chunk_size": [1, 2]}, "only_if": "chunker.chunk_size > 2"}, "only_if leaves no cell"),
        (
            {"over": {"chunker.chunk_size": [1]}, "only_if": "embedder is None"},
            "embedder is no axis, value or comparison",
        ),
        ({"over": {"chunker.chunk_size": [1]}, "only_if": "chunker.chunk_size < 'a'"}, "not supported between"),
        *(
            ({"over": {"chunker.chunk_size": [1]}, "only_if": code}, "is no axis, value or comparison")
            for code in (
                "__import__('os')",
                "chunker.chunk_size.real",
                "'a'.join",
                "(1)[0]",
                "f'{chunker}'",
                "9 ** 9",
                "lambda: 1",
            )
        ),
        ({"only_if": "a ="}, "only_if='a ='"),
        ({"overs": {}}, "overs: unknown key; did you mean over?"),
        (
            {"over": {"chunker.chunk_size": [*range(1, 400)], "rerank_top_k": [*range(1, 400)]}},
            "more than 100,000 cells",
        ),
    ],
)
def test_what_cannot_be_a_sweep_is_refused(given, told):
    with pytest.raises(ConfigError) as refused:
        [cell.spec.experiment for cell in swept(**given).cells] and swept(**given)._rows
    assert told in str(refused.value)


def test_a_base_is_a_run_or_its_keys_and_what_is_printed_is_a_file_that_makes_the_same_sweep(tmp_path):
    over = {"chunker.chunk_size": [200, 400], "embedder": [None, LsaEmbedder(64)], "k": [5]}
    sweep = swept(over=over, only_if="embedder is None", decide_by="span_recall@5")
    (tmp_path / "sweep.yaml").write_text(str(sweep))
    again = load_sweep(tmp_path / "sweep.yaml")
    assert str(again) == str(sweep)
    assert [cell.spec for cell in again.cells] == [cell.spec for cell in sweep.cells]
    assert hash(again) == hash(sweep)
    assert Sweep(base={"dataset": "q.csv"}, over={"k": [1]}) == Sweep(base=RunSpec(dataset="q.csv"), over={"k": [1]})


class Full(InMemoryVectorStore):
    def add(self, chunks, vectors):
        raise OSError("no space left")


@pytest.mark.parametrize("workers", [None, 1])
def test_the_bill_counts_what_cells_asked_that_failed(tmp_path, providers, workers):
    home, store = Path(demo.__file__).parent, f"{__name__}:Full"
    base = RunSpec(corpus=str(home / "corpus"), dataset=str(home / "questions.json"), k=[5], vector_store=store)
    sweep = Sweep(
        base=base, over={"embedder": [{"type": "openai", "price_in": 1.0, "dimensions": size} for size in (8, 9)]}
    )
    with ThreadPoolExecutor(1) if workers else nullcontext() as executor:
        result = sweep.run(tmp_path, executor=executor)
    assert len(result.failed) == result.bill["cells"] == 2
    assert result.bill["requests"] == len(providers.exchanges) > 0
    assert result.bill["tokens"] > 0
    assert result.bill["cost"] == pytest.approx(result.bill["tokens"] / 1e6)


@pytest.mark.parametrize("score", ["nosuch@5", "span_recall@7", "recall"])
def test_a_score_that_cells_will_not_have_is_refused_before_one_is_run(tmp_path, score):
    sweep = Sweep(base=RunSpec(dataset=load_handbook(), k=[5]), over={"chunker.overlap": [900, 0]}, decide_by=score)
    told = f"no score '{score}' in all cells; there are span_recall@5, "
    with pytest.raises(ConfigError, match=told):
        sweep.plan(tmp_path)
    with pytest.raises(ConfigError, match=told):
        sweep.run(tmp_path)
    assert not (tmp_path / "cells").exists()


def test_a_sweep_over_datasets_is_saved(tmp_path):
    handbook = load_handbook()
    sweep = Sweep(base=RunSpec(k=[5]), over={"dataset": [handbook, handbook]})
    assert sweep.save(sweep.run(tmp_path), tmp_path).name.endswith(handbook.name)
    nothing = Sweep(base=RunSpec(corpus="docs"))
    assert nothing.save(nothing.run(tmp_path), tmp_path).name.endswith("sweep")


def test_a_configuration_of_a_run_is_varied_as_it_is_and_options_replace_keys(tmp_path):
    (tmp_path / "config.yaml").write_text("corpus: docs\ndataset: q.csv\nk: [5]\n")
    sweep = load_sweep(
        tmp_path / "config.yaml", ["embedder=lsa,none"], {"dataset": "other.csv", "decide_by": "span_iou@5"}
    )
    assert [cell.name for cell in sweep.cells] == ["embedder=lsa", "embedder=none"]
    assert (sweep.base.dataset, sweep.decide_by, sweep.folder) == ("other.csv", "span_iou@5", tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a mapping"),
        ("a: [", "cannot be parsed"),
        ("over: {chunk: [1]}", "sweep.yaml: over: chunk: unknown key; did you mean chunker?"),
        ("base: {corpse: x}\nover: {}", "did you mean corpus?"),
    ],
)
def test_a_file_that_is_no_sweep_is_refused_with_its_name(tmp_path, text, told):
    (tmp_path / "sweep.yaml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_sweep(tmp_path / "sweep.yaml")
    assert told in str(refused.value)
    assert "sweep.yaml" in str(refused.value)


COMPONENT = "recursive-character:chunk_size=300,overlap=50"
AXES = [
    (["chunker.chunk_size=200,400"], ("chunker.chunk_size", [200, 400])),
    (["embedder=lsa, none ,null"], ("embedder", ["lsa", None, None])),
    (["retriever.b=0.5"], ("retriever.b", [0.5])),
    (
        ["chunker='recursive-character:chunk_size=200,overlap=20',sentence"],
        ("chunker", ["recursive-character:chunk_size=200,overlap=20", "sentence"]),
    ),
    (
        ["chunker={type: sentence, chunk_size: 300},sentence"],
        ("chunker", [{"type": "sentence", "chunk_size": 300}, "sentence"]),
    ),
    (["k=[5,10]"], ("k", [[5, 10]])),
    ([f"chunker={COMPONENT}", "--set"], ("chunker", [COMPONENT])),
    (["k=5,10", "--set"], ("k", [5, 10])),
]


@pytest.mark.parametrize(("given", "axis"), AXES, ids=lambda value: value[0])
def test_an_axis_is_written_as_hydra_writes_it_and_a_setting_names_one_component(given, axis):
    assert parse_axis(*given) == axis


@pytest.mark.parametrize("text", ["chunker", "chunker=", "chunker=a,,b", "=1"])
def test_an_axis_without_key_or_value_is_refused(text):
    with pytest.raises(ConfigError, match="--over"):
        load_sweep(None, [text])


def test_the_classes_of_the_design_documents_make_a_sweep_whose_rows_are_the_product():
    dataset = load_handbook()
    evaluation = TokenLevelEvaluation(dataset.corpus, dataset)
    chunkers, embedders = [RecursiveCharacterChunker(400), lambda text: text.split("\n\n")], [LsaEmbedder(), None]
    sweep = sweep_of(evaluation, SweepConfig(chunkers, embedders, rerankers=[None], k_values=[5, 10]), None)
    assert len(sweep.cells) == 4
    assert sweep._rows * len(sweep.cells) == len(chunkers) * len(embedders) * 1 * 2
    assert sweep.cells[0].spec.corpus is dataset.corpus
    assert sweep.cells[0].name == "chunker=recursive-character(chunk_size=400), embedder=lsa"
    document = sweep_of(
        DocumentLevelEvaluation(dataset.corpus, dataset),
        SweepConfig([SentenceChunker()], [None], metrics={"r": "recall"}),
        None,
    )
    config = document.cells[0].spec.experiment(document.folder)
    assert (config.level.evaluation_type, [metric.name for metric in config.metrics]) == ("document-level", ["recall"])
    assert isinstance(config.retriever, BM25Retriever)
