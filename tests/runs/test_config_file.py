import json
import re
import sys
import warnings

import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    EvaluationConfig,
    RecursiveCharacterChunker,
    SpanIoU,
    SpanRecall,
    VectorRAGRetriever,
    run_experiment,
)
from rag_evaluation_framework.components import FunctionRetriever, InMemoryVectorStore, LsaEmbedder, SentenceChunker
from rag_evaluation_framework.errors import (
    ConfigError,
    CorpusError,
    DatasetError,
    InputError,
    MissingDependency,
    TokenizerError,
)
from rag_evaluation_framework.runs import RunSpec, load_config, parse_config
from support.each import each

REFUNDS = "Refunds take five working days."


@pytest.fixture
def folder(tmp_path):
    """A project of a user's: documents, questions, and a place for configurations."""
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "billing.md").write_text(f"# Billing\n\nInvoices are sent monthly. {REFUNDS}\n")
    (tmp_path / "docs" / "deep" / "start.txt").write_text("Install the agent. Restart the server.\n")
    (tmp_path / "questions.csv").write_text(f"question,quote\nHow long do refunds take?,{REFUNDS}\n")
    return tmp_path


def write(folder, content, name="run.yaml"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def experiment(folder, **content):
    return parse_config({"corpus": "docs", "dataset": "questions.csv", **content}, "test").experiment(folder)


@pytest.mark.parametrize(("options", "k"), [({}, (7,)), ({"k": 4}, (4,)), ({"k": [4, 5]}, (4, 5))])
def test_k_is_that_of_the_configuration_else_that_of_the_dataset(folder, options, k):
    asked = {"id": "q1", "query": "How long?", "relevant": {"sourceIds": ["billing.md"]}}
    content = {"version": "1", "id": "help", "defaults": {"topK": 7}, "queries": [asked]}
    write(folder, content, "harness.json")
    assert experiment(folder, dataset="harness.json", **options).k == k
    assert experiment(folder, **options).k == (k if options else (5, 10))


YAML_FILE = """\
# a comment
corpus: docs
dataset: questions.csv
retriever: bm25
chunker:
  type: recursive-character
  chunkSize: 60   # as the TypeScript design writes it
  chunkOverlap: 10
k: [3, 1]
budgets:
  - 40ch
  - 90ch_whole
metrics: [span_recall, {type: span_iou}]
count_as_zero: [failed]
experiment_name: mine
"""
JSON_FILE = {
    "corpus": "docs",
    "dataset": "questions.csv",
    "retriever": "bm25",
    "chunker": "recursive-character:chunk_size=60,overlap=10",
    "k": [3, 1],
    "budgets": ["40ch", "90ch_whole"],
    "metrics": ["span_recall", "span_iou"],
    "count_as_zero": ["failed"],
    "experiment_name": "mine",
}


def test_yaml_json_and_python_describe_the_same_experiment(folder):
    yaml = load_config(write(folder, YAML_FILE)).experiment(folder)
    from_json = load_config(str(write(folder, JSON_FILE, "run.json"))).experiment(folder)
    assert yaml == from_json
    assert yaml.retriever == BM25Retriever(RecursiveCharacterChunker(chunk_size=60, overlap=10))
    assert yaml.metrics == (SpanRecall(), SpanIoU())
    assert [str(cutoff) for cutoff in yaml.cutoffs] == ["3", "1", "40ch", "90ch_whole"]
    assert (yaml.config.count_as_zero, yaml.name) == ({"failed"}, "mine")
    assert run_experiment(yaml).metrics["span_recall"] == 1.0


def test_what_is_left_out_is_as_in_python(folder):
    config = experiment(folder)
    assert config.retriever == BM25Retriever()
    assert [str(cutoff) for cutoff in config.cutoffs] == ["5", "10", "4000ch"]
    assert [metric.name for metric in config.metrics] == ["span_recall", "span_precision", "span_iou"]
    assert config.config == EvaluationConfig()
    assert [document.id for document in config.corpus] == ["billing.md", "deep/start.txt"]


def test_paths_are_relative_to_the_folder_of_the_file(folder, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    path = write(folder, "corpus: ../docs\ndataset: ../questions.csv\n", "configs/run.yaml")
    config = load_config(path).experiment(path.parent)
    assert len(config.dataset) == 1
    absolute = {"corpus": str(folder / "docs"), "dataset": str(folder / "questions.csv")}
    assert parse_config(absolute, "test").experiment(path.parent).dataset == config.dataset


def test_the_glob_chooses_the_documents(folder):
    assert [document.id for document in experiment(folder, glob="**/*.[m]*").corpus] == ["billing.md"]
    config = experiment(folder, glob=["*.md", "deep/*"], exclude="start.*")
    assert [document.id for document in config.corpus] == ["billing.md"]


def test_a_converter_is_a_function_of_ones_own(folder):
    given = {"glob": "**/*", "converter": "support.own_converter:upper", "dataset": "questions.csv"}
    (folder / "docs/a.html").write_text("<p>one")
    config = experiment(folder, **given)
    assert config.corpus["a.html"].content == "<P>ONE"
    assert config.record["corpus"]["converter"] == "support.own_converter:upper"
    assert config.record["corpus"]["readers"] == {"support.own_converter:upper": "3"}
    with pytest.raises(
        ConfigError, match=r"converter 'support.own_converter:upper' names your own code, and --no-import"
    ):
        parse_config({"corpus": "docs", **given}, "test").experiment(folder, imports=False)


@pytest.mark.parametrize(
    ("content", "retriever"),
    [
        ({"embedder": "lsa"}, VectorRAGRetriever()),
        ({"embedder": "lsa:dimensions=8"}, VectorRAGRetriever(embedder=LsaEmbedder(8))),
        (
            {"chunker": "recursive-character:chunk_size=50", "embedder": {"type": "lsa", "dimensions": 8}},
            VectorRAGRetriever(RecursiveCharacterChunker(50), LsaEmbedder(8)),
        ),
        ({"retriever": "bm25:k1=2,b=0.5"}, BM25Retriever(k1=2, b=0.5)),
        ({"retriever": {"type": "bm25", "language": "german"}}, BM25Retriever(language="german")),
        ({"retriever": {"type": "bm25", "language": None}}, BM25Retriever(language=None)),
        ({"retriever": "vector-rag", "embedder": "lsa"}, VectorRAGRetriever()),
        (
            {
                "retriever": {
                    "type": "vector-rag",
                    "chunker": {"type": "recursive-character", "chunk_size": 50, "separators": [" ", ""]},
                    "embedder": "lsa:dimensions=8",
                    "batch_size": 3,
                }
            },
            VectorRAGRetriever(
                RecursiveCharacterChunker(50, separators=(" ", "")), LsaEmbedder(8), vector_store=None, batch_size=3
            ),
        ),
    ],
    ids=["embedder", "short", "mapping", "parameters", "language", "no language", "parts beside", "nested"],
)
def test_components_are_written_short_or_nested(folder, content, retriever):
    assert experiment(folder, **content).retriever == retriever


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (
            {"retriever": "bm25:k1=2,chunker=sentence", "chunker": "sentence"},
            "test: chunker is given inside of the retriever and beside it; leave one of them out",
        ),
        (
            {"retriever": "own:search", "chunker": {"type": "sentence"}, "embedder": "lsa"},
            "retriever 'own:search' and chunker, embedder were given; it is a whole pipeline: leave chunker, embedder "
            "out",
        ),
        (
            {"retriever": {"type": "bm25", "chunker": "sentence"}, "chunker": "sentence"},
            "test: chunker is given inside of the retriever and beside it; leave one of them out",
        ),
        (
            {"retriever": {"type": "hybrid"}, "chunker": "sentence"},
            "retriever 'hybrid' and chunker were given; it is a whole pipeline: leave chunker out",
        ),
    ],
    ids=["text", "own", "mapping", "hybrid"],
)
def test_parts_beside_a_retriever_that_holds_its_own_are_refused_with_advice(folder, content, advice):
    with pytest.raises(ConfigError) as refused:
        experiment(folder, **content)
    assert str(refused.value) == advice


@pytest.mark.parametrize(
    "content",
    [
        {"retriever": "bm25:k1=2,chunker=sentence"},
        {"retriever": "bm25:k1=2", "chunker": "sentence"},
        {"retriever": {"type": "bm25", "k1": 2}, "chunker": {"type": "sentence"}},
        {"retriever": {"type": "bm25", "k1": 2, "chunker": "sentence"}},
    ],
)
def test_parts_are_in_a_retriever_with_parameters_or_beside_it(folder, content):
    assert experiment(folder, **content).retriever == BM25Retriever(SentenceChunker(), k1=2)
    assert RunSpec(**content).retriever == {"type": "bm25", "k1": 2}  # the same description


@pytest.mark.parametrize("content", [{"embedder": None}, {"retriever": {"type": "vector-rag", "embedder": None}}])
def test_vectors_need_an_embedder(folder, content):
    with pytest.raises(ConfigError, match="retriever vector-rag needs an embedder, and embedder is none"):
        experiment(folder, **{"retriever": "vector-rag", **content})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"k": 1.5}, "$.k: expected a whole number or a list, got 1.5"),
        ({"k": [1, "x"]}, "$.k[1]: expected a whole number, got 'x'"),
        ({"chunker": 5}, "$.chunker: expected a text or a mapping, got 5"),
        ({"glob": 5}, "$.glob: expected a text or a list, got 5"),
        ({"max_concurrency": True}, "$.max_concurrency: expected a whole number, got True"),
        ({"batch_queries": 1}, "$.batch_queries: expected true or false, got 1"),
        *(
            ({key: ""}, f"$.{key}: expected a path or name that is not empty, got ''")
            for key in ("corpus", "dataset", "save_results_path", "tokenizer")
        ),
        # a slip in a key is told what was meant
        (
            {"datset": "d", "Metric": ["x"]},
            "$.datset: unknown key; did you mean dataset?; $.Metric: unknown key; did you mean metrics?",
        ),
    ],
)
def test_a_value_or_key_that_cannot_be_is_told_once_in_plain_words(content, message):
    with pytest.raises(ConfigError) as refused:
        parse_config({"corpus": "docs", "dataset": "questions.csv", **content}, "x.yaml")
    assert str(refused.value) == f"x.yaml: {message}"


def test_a_store_alone_makes_vector_retrieval(folder):
    retriever = experiment(folder, vector_store="in-memory").retriever
    assert type(retriever) is VectorRAGRetriever
    assert type(retriever.vector_store) is InMemoryVectorStore


# --- one's own parts --------------------------------------------------------------------------------------------------

OWN = f"""
from dataclasses import dataclass
from functools import lru_cache, partial
from rag_evaluation_framework import Retriever, TokenLevelMetric

def search(query, k):
    return [{REFUNDS!r}][:k]

async def search_slowly(query, k):
    return search(query, k)

class Searcher:
    def __init__(self, times=1):
        self.times = times
    def __call__(self, query, k):
        return search(query, k) * self.times
    def search(self, query, k):
        return self(query, k)

searcher = Searcher(2)
remembered = lru_cache(search)
twice = partial(lambda times, query, k: search(query, k) * times, 2)

@dataclass(frozen=True)
class Mine(Retriever):
    text: str = {REFUNDS!r}
    def index(self, corpus): ...
    def retrieve(self, query, k):
        from rag_evaluation_framework.data import Hit
        return [Hit(text=self.text)]

mine = Mine()

class Always(TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 0.25

number = 7
"""


@pytest.fixture
def own(folder, monkeypatch):
    """A module of the user's in the working directory."""
    (folder / "own_search_of_a_user.py").write_text(OWN)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_search_of_a_user", raising=False)
    return "own_search_of_a_user"


def of(module, retriever):
    """Return a component of that module, written as text or as a mapping."""
    if isinstance(retriever, str):
        return f"{module}:{retriever}"
    return {**retriever, "type": f"{module}:{retriever['type']}"}


@pytest.mark.parametrize(
    "retriever",
    [
        "search",
        "search_slowly",
        "Mine",
        "searcher",
        "searcher.search",
        "mine",
        "remembered",
        "twice",
        {"type": "Mine", "text": REFUNDS},
    ],
    ids=str,
)
def test_your_own_function_or_class_is_named_by_its_module(folder, own, retriever):
    result = run_experiment(experiment(folder, retriever=of(own, retriever)))
    assert not result.failures
    assert result.metrics["span_recall"] == 1.0


def test_your_own_metric_is_named_by_its_module_and_a_run_is_called_after_your_function(folder, own):
    config = experiment(folder, retriever=f"{own}:search", metrics=[f"{own}:Always", "span_hit"])
    assert (type(config.retriever), config.name) == (FunctionRetriever, "search")
    result = run_experiment(config)
    assert result.metrics["always"] == 0.25
    assert result.metrics["span_hit"] == 1.0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no dataset is named; expected `dataset:` in the configuration, or --dataset"),
        ("dataset: questions.csv\norder: given\n", "order is about stored rankings, and none is named"),
        ("dataset: questions.csv\nties: trec_eval\n", "ties is about stored rankings, and none is named"),
    ],
    ids=["dataset", "order", "ties"],
)
def test_a_configuration_without_a_dataset_or_what_its_keys_are_about_can_be_read_and_not_be_run(
    folder, lines, message
):
    config = load_config(write(folder, f"corpus: docs\n{lines}"))
    with pytest.raises(ConfigError, match=message):
        config.experiment(folder)


# --- what is refused --------------------------------------------------------------------------------------------------

MINIMAL = "corpus: docs\ndataset: questions.csv\n"


@each(
    ("text", "message"),
    [
        (
            MINIMAL + "chunk_size: 200\n",
            r"\$\.chunk_size: unknown key; there are corpus, glob, exclude, converter, text_column,",
        ),
        (MINIMAL + "K: [5]\n", r"\$\.K: unknown key"),
        (MINIMAL + "k: 5\nk: 6\n", 'found duplicate key "k".*line 4'),
        (MINIMAL + "k: [five]\n", r"\$\.k\[0\]: expected a whole number, got "),
        (MINIMAL + "k: ['5']\n", r"\$\.k\[0\]: expected a whole number, got "),
        (MINIMAL + "k: [true]\n", r"\$\.k\[0\]: expected a whole number, got "),
        (MINIMAL + "k: {a: 1}\n", r"\$\.k: "),
        (MINIMAL + "budgets: 4000ch\n", r"\$\.budgets='4000ch': expected a list"),
        (MINIMAL + "budgets: [4000]\n", r"\$\.budgets: budget '4000': expected characters"),
        (MINIMAL + "metrics: span_recall\n", r"\$\.metrics: "),
        (MINIMAL + "experiment_name: 5\n", r"\$\.experiment_name: expected a text, got 5"),
        (MINIMAL + "experiment_name: 2026-01-01\n", r"\$\.experiment_name: 2026-01-01 .* quotes"),
        (MINIMAL + "count_as_zero: [unsure]\n", r"\$\.count_as_zero.*: .*'no-answer' or 'failed', got 'unsure'"),
        (MINIMAL + "on_error: stop\n", r"\$\.on_error: .*'collect' or 'raise', got 'stop'"),
        (MINIMAL + "retriever: 5\n", r"\$\.retriever: "),
        (MINIMAL + "metrics: [5]\n", r"\$\.metrics\S*0\S*: "),
        ("5: x\n" + MINIMAL, r"run\.yaml: "),
        ("corpus: 5\ndatset: x\nk: [a]\n", r"\$\.corpus: .*\$\.k\S*: .*\$\.datset: unknown key"),
        ("", "expected a mapping with at least 'corpus' and 'dataset', got nothing"),
        ("- corpus: docs\n", "expected a mapping .* got list"),
        ("just words", "expected a mapping .* got str"),
        ("corpus: [docs\n", "cannot be parsed: .*line"),
        ("corpus: docs\n\tdataset: x\n", "cannot be parsed: "),
        (MINIMAL + "experiment_name: !!python/object/apply:os.system ['touch hacked']\n", "cannot be parsed: "),
        (MINIMAL + "experiment_name: !custom x\n", "cannot be parsed: "),
        (MINIMAL + "experiment_name: " + "[" * 5000 + "\n", "cannot be parsed: "),
    ],
)
def test_a_configuration_that_is_wrong_is_refused_where_it_is_wrong(folder, monkeypatch, text, message):
    monkeypatch.chdir(folder)
    path = write(folder, text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert not (folder / "hacked").exists()


@each(
    ("text", "message"),
    [
        ('{"corpus": "docs", "dataset": "q.csv", "depth": 3}', r"\$\.depth: unknown key"),
        ('{"corpus": "docs", "dataset": "q.csv"', "cannot be parsed: .*line 1"),
        (
            '{"corpus": "docs", "dataset": "q.csv", "experiment_name": "a", "experiment_name": "b"}',
            "duplicate key .*name",
        ),
        (MINIMAL, "cannot be parsed"),
    ],
)
def test_a_configuration_in_json_is_read_as_strictly(folder, text, message):
    path = write(folder, text, "run.json")
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.yaml", None, "cannot be read"),
        ("docs", None, "cannot be read"),
        ("run.yaml", b"corpus: d\xff", "not valid UTF-8 .byte 9.; save the file as UTF-8"),
        ("run.yaml", b"#" * 300_001, r"has more than 300,000 bytes; is it a configuration\?"),
    ],
    ids=["not there", "a folder", "no UTF-8", "too large"],
)
def test_a_configuration_that_cannot_be_read_is_refused(folder, name, content, message):
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(ConfigError, match=f"{name}: {message}"):
        load_config(folder / name)


def test_a_byte_order_mark_is_ignored(folder):
    path = folder / "run.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
    assert load_config(path).corpus == "docs"


@each(
    ("content", "error"),
    [
        ({"corpus": "nowhere"}, CorpusError),
        ({"glob": "**/*.html"}, CorpusError),
        ({"dataset": "nothing.csv"}, DatasetError),
        ({"k": [], "budgets": []}, ConfigError),
        ({"k": [0]}, ConfigError),
        ({"metrics": []}, ConfigError),
        ({"metrics": ["span_recal"]}, ConfigError),
        ({"budgets": ["many"]}, ConfigError),
        ({"budgets": ["9tok"]}, ConfigError),
    ],
)
def test_what_python_refuses_is_refused_in_a_file(folder, content, error):
    with pytest.raises(error):
        experiment(folder, **content)


def test_the_name_of_a_retriever_is_checked_before_any_file_is_read(tmp_path):
    with pytest.raises(ConfigError, match="'nobody' is unknown"):
        experiment(tmp_path / "nowhere", retriever="nobody")


# --- trust ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        {"retriever": "{own}:search"},
        {"chunker": {"type": "{own}:Mine"}},
        {"embedder": "{own}:Mine"},
        {"vector_store": "{own}:Mine"},
        {"reranker": "{own}:Mine"},
        {"metrics": ["span_recall", "{own}:Always"]},
        {"evaluation_type": "chunk-level", "chunk_id": "{own}:search"},
        {"retriever": {"type": "hybrid", "retrievers": ["bm25", "{own}:search"]}},
    ],
    ids=str,
)
def test_without_imports_your_own_code_is_refused_before_it_is_imported(folder, own, content):
    content = json.loads(json.dumps(content).replace("{own}", own))
    run_file = parse_config({"corpus": "docs", "dataset": "questions.csv", **content}, "test")
    with pytest.raises(ConfigError, match=f"'{own}:.*' names your own code, and --no-import .* allows nothing but"):
        run_file.experiment(folder, imports=False)
    assert own not in sys.modules


@pytest.mark.parametrize("name", ["os:system", "{own}:Mine", "{own}:mine", "{own}:number", "{own}:OWN", "builtins:max"])
def test_chunk_id_names_a_python_function_of_a_chunk_and_its_number(folder, own, name):
    with pytest.raises(ConfigError, match=r"expected a Python function of .*\(chunk, number\)|has no 'OWN'"):
        experiment(folder, evaluation_type="chunk-level", chunk_id=name.format(own=own))


@pytest.mark.parametrize("tokenizer", ["{own}:search", "{own}.search", "os:system", "{own}.json"])
def test_a_tokenizer_is_a_name_or_a_file_and_never_code(folder, own, tokenizer):
    given = tokenizer.format(own=own)
    with pytest.raises((InputError, MissingDependency)):
        experiment(folder, tokenizer=given, budgets=["9tok"])
    with pytest.raises((InputError, MissingDependency)):
        run_experiment(experiment(folder, chunker={"type": "fixed-token", "tokenizer": given}))
    assert own not in sys.modules


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_a_dataset_names_no_code(folder, own, ending):
    content = {
        "schema_version": 1,
        "evaluation_type": "token-level",
        "name": f"{own}:search",
        "type": f"{own}:Mine",
        "retriever": f"{own}:search",
        "questions": [{"id": "q", "query": "How long?", "relevant_spans": [], "chunk_id": f"{own}:search"}],
    }
    (folder / f"labels.{ending}").write_text(json.dumps(content))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        experiment(folder, dataset=f"labels.{ending}")
    assert own not in sys.modules


@pytest.mark.parametrize("name", ["run.json", "run.yaml"])
def test_what_is_nested_too_deeply_is_refused_before_anything_walks_through_it(folder, name):
    inner = "bm25"
    for _ in range(60):
        inner = {"type": "hybrid", "retrievers": [inner, "bm25"]}
    path = write(folder, {"corpus": "docs", "dataset": "questions.csv", "retriever": inner}, name)
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_config(path)
    with pytest.raises(ConfigError, match=r"^test: nested too deeply; expected at most 50 levels$"):
        parse_config({"corpus": "docs", "dataset": "d", "retriever": inner}, "test")


@pytest.mark.parametrize("key", ["\ud800", "a\x1b[31m", "x" * 100_000])
def test_an_unknown_key_of_any_kind_is_named(key):
    with pytest.raises(ConfigError) as caught:
        parse_config({"corpus": "docs", "dataset": "d", key: 1}, "test")
    assert str(caught.value).startswith("test: $")
    assert str(caught.value).isprintable()


def test_of_many_problems_the_first_are_told_and_one_lists_the_keys_that_there_are():
    with pytest.raises(ConfigError) as caught:
        parse_config({"corpus": "docs", "dataset": "d", **{f"k{number}": 1 for number in range(20_000)}}, "test")
    told = str(caught.value)
    assert told.startswith("test: $.k0: unknown key; there are corpus, glob, exclude")
    assert told.count("there are corpus, glob, exclude") == 1
    assert told.endswith("; $.k9: unknown key; and 19990 more")


@pytest.mark.parametrize("key", ["questions", "queries"])
def test_a_dataset_is_no_configuration(key):
    with pytest.raises(ConfigError) as caught:
        parse_config({"schema_version": 1, "name": "q", key: []}, "q.json")
    assert str(caught.value) == (
        "q.json: this is a dataset, not a configuration; name it by `dataset:` in one, or --dataset"
    )


@pytest.mark.parametrize("key", ["corpus", "dataset", "save_results_path", "tokenizer", "glob"])
@pytest.mark.parametrize("name", ["a\0b", "a\ud800", "x" * 300, "x/" * 3_000])
def test_a_path_that_no_file_can_have_is_refused_whatever_it_is_of(folder, key, name):
    ending = {"dataset": ".csv", "tokenizer": ".json"}.get(key, "")
    with pytest.raises(InputError) as caught:
        run_experiment(experiment(folder, **{key: name + ending, "budgets": ["4000ch"]}))
    assert "\n" not in str(caught.value)


def test_paths_of_a_file_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    docs = tmp_path / "home" / "docs"
    docs.mkdir(parents=True)
    (docs / "a.md").write_text("a text")
    (tmp_path / "home" / "q.csv").write_text("question,quote\nq,a text\n")
    (tmp_path / "c.json").write_text(
        json.dumps({"corpus": "~/docs", "dataset": "~/q.csv", "save_results_path": "~/x", "tokenizer": "~/t.json"})
    )
    (tmp_path / "home" / "t.json").write_text("{}")
    with pytest.raises(TokenizerError, match=re.escape(str(tmp_path / "home" / "t.json"))):
        load_config(tmp_path / "c.json").experiment(tmp_path)
    config = load_config(tmp_path / "c.json").model_copy(update={"tokenizer": None})
    experiment = config.experiment(tmp_path)
    assert experiment.config.save_results_path == tmp_path / "home" / "x"
    assert [document.id for document in experiment.corpus] == ["a.md"]
    here = config.model_copy(update={"save_results_path": "./~/x"}).experiment(tmp_path)
    assert here.config.save_results_path == tmp_path / "~" / "x"
