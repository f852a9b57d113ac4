import json
import re
import sys
from importlib import import_module
from itertools import product

import pytest

from rag_evaluation_framework import Corpus, load_result
from rag_evaluation_framework.contracts.registry.building import build

FLAGS = ("--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2")


BROKEN = """
from rag_evaluation_framework import Retriever
class Broken(Retriever):
    def index(self, corpus): raise RuntimeError('no disk')
    def retrieve(self, query, k): return []
"""
NOT_SET = [
    (["shard=1"], "--set shard: expected a text, got 1"),
    (["shard="], "--set shard=: expected a key and its value, such as chunker.chunk_size=200\n"),
    (["timeout"], "--set timeout: expected a key and its value, such as chunker.chunk_size=200\n"),
    (["tiemout=3"], "--set tiemout: unknown key; did you mean timeout?"),
    (["chunkr.chunk_size=3"], "--set chunkr: unknown key; did you mean chunker?"),
    (["timeout=3", "timeout=4"], "--set timeout=4: timeout is given twice"),
    (["corpus=docs"], "--set corpus=docs: corpus is given twice"),
    (["embedder.dimensions=3"], "is a parameter of the embedder, and there is none; name one\n"),
    (["columns.quote=Antwort"], "--set columns.quote: columns is not a component, so it has no"),
    *(([f"timeout={limit}"], "error: --set timeout=") for limit in ("0", "-1", "nan", "inf")),
    (["k=abc"], "--set k: "),
    (["gates=3"], "--set gates: "),
    (["chunk_size=100"], "--set: 'chunk_size' is no key of a run; did you mean chunker.chunk_size=100?"),
]

WRONG = [
    (["--set", "on_error=ignore"], "--set on_error", "'collect' or 'raise', got 'ignore'"),
    (
        ["--evaluation-type", "page"],
        "--evaluation-type",
        "'document-level', 'chunk-level' or 'token-level', got 'page'",
    ),
]
NO_PART = "--retriever: expected a text or a mapping, got 3"
CONTRADICTING = [  # of chunked.yaml, and of beside.yaml
    ("--set retriever.chunker.chunk_size=123 --set chunker.chunk_size=456", "chunker.chunk_size is given"),
    ("--chunker sentence --set retriever.chunker=recursive-character", "chunker is given inside"),
    ("--retriever bm25:chunker=3", NO_PART),
    ("--set retriever.chunker=3", NO_PART),
    ("--retriever vector-rag:embedder=lsa,api_key=plainsecret99 --embedder lsa", "embedder is given"),
]
INSIDE = "beside.yaml: chunker is given inside of the retriever and beside it; leave one of them out"


def test_run_shows_scores_and_the_weakest_questions_and_keeps_the_run(rag_eval, folder):
    outcome = rag_eval("run", *FLAGS, "--retriever", "bm25", "--k", "1", "--no-import")
    assert outcome.code == 0
    assert "scored 2 of 4 answerable questions (2 skipped, 0 failed), 1 without an answer\n" in outcome.out
    assert "@4000ch" in outcome.out
    (run,) = (folder / ".rag-eval/runs").iterdir()
    assert run.name.endswith("-questions")
    assert sorted(path.name for path in run.iterdir()) == ["rankings.jsonl.gz", "report.json", "summary.md"]
    assert f"Saved to {run}" in outcome.out
    outcome = rag_eval("run", *FLAGS, "--json", "--metric", "span_recall", "--k", "1", "--k", "2", "--budget", "50ch")
    printed = json.loads(outcome.out)  # one object
    assert list(printed["metrics"]) == ["span_recall@1", "span_recall@2", "span_recall@50ch"]
    assert [printed["counts"][key] for key in ("answerable", "skipped", "no_answer")] == [4, 2, 1]
    assert printed["headline"] == "scored 2 of 4 answerable questions (2 skipped, 0 failed)"
    assert printed["headline"] == load_result(printed["run"]).headline
    assert (folder / printed["run"] / "report.json").is_file()


def test_skipped_questions_are_shown_with_quote_and_reason_wherever_people_look(rag_eval, folder):
    outcome = rag_eval("run", *FLAGS)
    assert outcome.err.startswith("warning: ")
    assert "ambiguous" in outcome.err
    shown = " ".join(outcome.out[outcome.out.index("Skipped questions") :].split())
    ambiguous = (
        "“Support helps.” ambiguous: billing.md:3:37 (behind “day.”), guides/start.md:3:26 (behind “first.”): "
        "name the document, or quote more; or, if each of them answers the question, write * as the document "
        "(init and dataset update: --repeated any, for all rows)"
    )
    assert re.search(rf"Who helps\? \(query_\w+\) {re.escape(ambiguous)}", shown)
    assert re.search(r"How do I upgrade\? \(query_\w+\) “Upgrade the agent first.” missing: nearest passage", shown)
    lines = outcome.out[outcome.out.index("Skipped questions") :].splitlines()
    assert [line[:9] for line in lines[1:4]] == ["  Who hel", "    “Supp", "    ambig"]
    (run,) = (folder / ".rag-eval/runs").iterdir()
    page = (run / "summary.md").read_text()
    assert re.search(r"## Skipped questions\n\n- Who helps\? .*\n  - “Support helps.”\n  - ambiguous: .*\n- How", page)
    result = load_result(run)
    assert [label.quote for label in result.skipped] == ["Support helps.", "Upgrade the agent first."]
    assert 'Skipped questions</h2><ul><li><span><span class="label">Who helps?</span>' in result._repr_html_()
    assert "\n  Who helps? (" in repr(result)
    printed = json.loads(rag_eval("run", *FLAGS, "--json").out)
    assert [(label["query"], label["quote"]) for label in printed["skipped"]] == [
        ("Who helps?", "Support helps."),
        ("How do I upgrade?", "Upgrade the agent first."),
    ]
    assert printed["skipped"][0]["id"] == result.skipped[0].query.id
    assert printed["skipped"][0]["reason"] == ambiguous.partition("” ")[2]


def test_more_skipped_questions_than_allowed_end_in_exit_code_2_after_the_run_was_shown_and_saved(rag_eval, folder):
    given = FLAGS[:4]
    refused = rag_eval("run", *given)
    assert refused.code == 2
    assert "scored 2 of 4 answerable questions (2 skipped, 0 failed)" in refused.out
    (run,) = (folder / ".rag-eval/runs").iterdir()
    assert f"Saved to {run}" in refused.out
    (line,) = [line for line in refused.err.splitlines() if line.startswith("error: ")]
    assert line.startswith("error: 2 of 4 answerable questions were skipped")
    fix = "correct the quotes, those of a dataset file with `rag-eval dataset update`"
    assert (
        "skipped, more than the 0 allowed (allow_skipped, --allow-skipped), as some quotes have no "
        "certain place in the documents: "
        f"{fix}; the run" in line
    )
    assert line.endswith(f"the run is saved in {run}")
    assert rag_eval("run", *given, "--allow-skipped", "1").code == 2
    assert rag_eval("run", *given, "--allow-skipped", "2").code == 0


def test_failed_questions_are_shown_and_end_in_exit_code_2_unless_allowed(rag_eval, folder):
    (folder / "own.py").write_text(
        "def search(query, k):\n"
        "    if 'invoices' in query:\n"
        "        raise OSError('index \\x1b[31mgone')\n"
        "    return ['Install the agent first.']\n"
    )
    outcome = rag_eval("run", *FLAGS, "--retriever", "own:search")
    assert outcome.code == 2
    assert "1 of 3 questions failed" in outcome.err
    headline = "scored 1 of 4 answerable questions (2 skipped, 1 failed), 1 without an answer"
    assert f"\n{headline}\n" in outcome.out
    (run,) = (folder / ".rag-eval/runs").iterdir()
    assert f"\n{headline}\n" in (run / "summary.md").read_text()
    assert repr(load_result(run)).splitlines()[2] == headline
    assert "retrieve: OSError: index \N{REPLACEMENT CHARACTER}[31mgone" in outcome.out
    assert "\x1b[31m" not in outcome.out
    assert rag_eval("run", *FLAGS, "--retriever", "own:search", "--allow-failures", "1").code == 0
    outcome = rag_eval("run", *FLAGS[:4], "--retriever", "own:search")
    assert outcome.code == 2
    assert (
        "1 of 3 questions failed, more than the 0 allowed (allow_failures, --allow-failures); 2 of 4 answerable "
        "questions were skipped" in outcome.err
    )


def test_a_failed_question_that_counts_as_zero_is_shown_alike_everywhere(rag_eval, folder):
    (folder / "own.py").write_text(
        "def search(query, k):\n"
        "    if 'invoices' in query:\n"
        "        raise OSError('index \\x1b[31mgone')\n"
        "    return ['Install the agent first.']\n"
    )
    (folder / "zero.yaml").write_text(
        "corpus: docs\ndataset: questions.csv\nretriever: own:search\nk: 1\nbudgets: []\ncount_as_zero: [failed]\n"
    )
    outcome = rag_eval("run", "zero.yaml", "--metric", "span_recall", "--allow-failures", "1")
    shown = " ".join(outcome.out[outcome.out.index("Weakest") :].split())
    assert "0.000 When do invoices come?" in shown
    failed = "retrieval failed: OSError: index \N{REPLACEMENT CHARACTER}[31mgone"
    assert f"billing.md {failed} “Invoices are sent on the first day.”" in shown
    assert "not in" not in shown
    (saved,) = (folder / ".rag-eval/runs").iterdir()
    assert "- **0.000** When do invoices come? (query_" in (saved / "summary.md").read_text()
    printed = json.loads(rag_eval("run", "zero.yaml", "--metric", "span_recall", "--json").out)
    assert printed["worst"][0]["span_recall@1"] == 0.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--corpus and --dataset missing; expected a configuration file, or --dataset"),
        (["--corpus", "docs"], "--dataset missing"),
        ([*FLAGS, "--k", "0"], "k: cutoff 0"),
        ([*FLAGS, "--k", "-1"], "k: cutoff -1: expected a whole number of at least 1, as in k=5 (--k 5)"),
        ([*FLAGS, "--budget", "9tok"], "--set tokenizer=cl100k_base"),
        ([*FLAGS, "--glob", "*.txt"], "--glob '**/*.md'"),
        ([*FLAGS, "--budget", "1000tok"], "name the tokenizer"),
        ([*FLAGS, "--budget", "10"], "budget '10'"),
        ([*FLAGS, "--budget", "0ch"], "error: --budget: budget '0ch': expected a whole number of at least 1"),
        ([*FLAGS, "--retriever", "bm25:k1=x"], "error: BM25Retriever: k1='x'; expected a number of at least 0"),
        (
            [*FLAGS, "--retriever", "bm25:k1=1.2,chunker=sentence", "--chunker", "sentence"],
            "error: chunker is given inside of the retriever and beside it; leave one of them out",
        ),
        ([*FLAGS, "--retriever", "nonsense"], "bm25"),
        ([*FLAGS, "--retriever", "nowhere:search"], "cannot be imported"),
        ([*FLAGS, "--chunker", "recursive-character:size=3"], "chunk_size"),
        ([*FLAGS, "--chunker", "recursive-character:chunk_size=0"], "at least 1"),
        ([*FLAGS, "--metric", "span_magic"], "span_recall"),
        (["--corpus", "docs", "--dataset", "docs/billing.md"], ".json, .jsonl or .csv"),
        (["unknown.yaml"], "cannot be read"),
        (["extra.yaml"], "unknown key"),
        (["twice.yaml"], "duplicate key"),
        (["tag.yaml"], "cannot be parsed"),
        ([*FLAGS[:2], "--dataset", "moved.json"], "does not match the corpus"),
        ([*FLAGS[:2], "--dataset", "empty.json"], "holds no questions"),
        ([*FLAGS[:2], "--dataset", "twice.json"], "is already the id of an earlier question"),
        (["allowing.yaml"], "$.allow_skipped: unknown key"),
        ([*FLAGS, "--retriever", "own:Broken"], "error: RuntimeError: no disk; raised in index of Broken (set RAG"),
        ([*FLAGS, "--retriever", "bm25:language=klingon"], "language='klingon'; expected arabic, "),
        *(
            ([*FLAGS, "--shard", shard], "--shard: expected a shard such as 3/8, the third eighth of the questions")
            for shard in ("3/2", "0/2", "a", "a/b", "-1/2", "''")
        ),
        *(([*FLAGS, *(word for text in texts for word in ("--set", text))], said) for texts, said in NOT_SET),
        *(
            ([*given, *option], f"error: {name}: input should be {expected}\n")
            for option, name, expected in WRONG
            for given in (FLAGS, ["plain.yaml"])
        ),
        *((["chunked.yaml", *options.split()], said) for options, said in CONTRADICTING),
        (["beside.yaml", "--k", "5"], INSIDE),
    ],
)
def test_bad_input_is_one_clear_message_exit_code_2_and_nothing_written(rag_eval, folder, arguments, said):
    (folder / "own.py").write_text(BROKEN)
    for name, line in (
        ("plain.yaml", ""),
        ("allowing.yaml", "allow_skipped: 2"),
        ("extra.yaml", "retreiver: bm25"),
        ("chunked.yaml", "retriever: {type: bm25, chunker: {type: sentence, chunk_size: 300}}"),
        ("beside.yaml", "chunker: sentence\nretriever: {type: bm25, chunker: recursive-character}"),
    ):
        (folder / name).write_text(f"corpus: docs\ndataset: questions.csv\n{line}\n")
    (folder / "twice.yaml").write_text("corpus: docs\ncorpus: docs\ndataset: questions.csv\n")
    (folder / "tag.yaml").write_text("corpus: !!python/object/apply:os.system ['true']\ndataset: q.csv\n")
    question = {"id": "a", "query": "Why?", "relevant_spans": [{"doc_id": "billing.md", "start": 5000, "end": 5010}]}
    unanswered = {"id": "a", "query": "Why?", "relevant_spans": []}
    for name, questions in (
        ("moved.json", [question]),
        ("empty.json", []),
        ("twice.json", [unanswered, unanswered]),
    ):
        (folder / name).write_text(json.dumps({"schema_version": 1, "questions": questions}))
    outcome = rag_eval("run", *arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert "plainsecret99" not in outcome.err
    assert outcome.out == ""
    assert not (folder / ".rag-eval").exists()


def test_a_run_that_scores_nothing_ends_in_exit_code_2(rag_eval, folder):
    (folder / "none.csv").write_text("question,quote\nWho is the chief?,\n")
    outcome = rag_eval("run", "--corpus", "docs", "--dataset", "none.csv")
    assert outcome.code == 2
    assert "no question has a score" in outcome.err
    (folder / "own.py").write_text(
        "from rag_evaluation_framework import TokenLevelMetric\n"
        "class NoNumber(TokenLevelMetric):\n"
        "    def calculate(self, retrieved, ground_truth): return float('nan')\n"
    )
    allowed = ("run", *FLAGS, "--metric", "own:NoNumber", "--allow-failures", "9")
    outcome = rag_eval(*allowed)
    assert outcome.code == 2
    assert "error: no question has a score (the first failed: " in outcome.err
    assert "no_number" in outcome.out
    assert rag_eval(*allowed, "--metric", "span_recall").code == 0


def test_the_error_of_a_retriever_that_always_raises_says_why(rag_eval, folder, monkeypatch):
    (folder / "own.py").write_text("def search(query, k):\n    raise RuntimeError('the index is gone')\n")
    outcome = rag_eval("run", *FLAGS, "--retriever", "own:search")
    told = "(the first failed: RuntimeError: the index is gone; run it with RAG_EVAL_DEBUG=1 to see where); the run"
    assert f"error: no question has a score {told}" in outcome.err
    assert "Traceback" not in outcome.err
    monkeypatch.setenv("RAG_EVAL_DEBUG", "1")
    outcome = rag_eval("run", *FLAGS, "--retriever", "own:search")
    assert outcome.err.count("Traceback") == 1  # that of the first question
    assert 'own.py", line 2, in search' in outcome.err


# --- the three evaluation types ---------------------------------------------------------------------------------------

CHUNKER = "recursive-character:chunk_size=34"
QUESTIONS = {"q1": "When do invoices come?", "q2": "Where is the spaceship that helps?"}


def test_what_takes_long_is_said_from_the_first_second_to_the_last(rag_eval, folder, monkeypatch):
    module = import_module("rag_evaluation_framework.base.progress")
    real, said = module.tqdm, []

    def recorded(items=None, **options):
        said.append(options["desc"])
        assert options["delay"] < 1  # it is seen in the first second
        assert options["miniters"] == 1  # and shows that an item is slow, after however many that were quick
        return real(items, **options)

    recorded.set_lock = real.set_lock
    monkeypatch.setattr(module, "tqdm", recorded)
    monkeypatch.setattr(import_module("rag_evaluation_framework.base.stages"), "_QUICK", 0)
    again = ["Listing files", "Reading documents", "Hashing documents", "Chunking", "Weighing words", "Retrieving"]
    again += ["Scoring", "Keeping documents", "Checking sizes"]
    for first in (
        ["Indexing documents", "Locating quotes", "Counting words", "Merging words"],
        [],
    ):
        rag_eval("run", *FLAGS)
        assert set(said) == {*again, *first}
        assert (said[0], said[-1]) == ("Listing files", "Checking sizes")
        said.clear()


@pytest.fixture
def labelled(folder):
    """Write the same questions at each level, and return the folder."""
    corpus = Corpus.from_folder(folder / "docs")
    spans = {
        name: [(doc_id, corpus[doc_id].content.index(text), len(text))]
        for name, doc_id, text in (
            ("q1", "billing.md", "Invoices are sent on the first"),
            ("q2", "guides/start.md", "Install the agent first."),
        )
    }
    chunks = [chunk for document in corpus for chunk in build("chunker", CHUNKER).chunk_with_positions(document)]
    truths = {
        "token-level": lambda doc_id, start, size: {
            "relevant_spans": [{"doc_id": doc_id, "start": start, "end": start + size}]
        },
        "document-level": lambda doc_id, start, size: {"relevant_document_ids": [doc_id]},
        "chunk-level": lambda doc_id, start, size: {
            "relevant_chunk_ids": [
                chunk.id for chunk in chunks if (chunk.doc_id, chunk.start <= start < chunk.end) == (doc_id, True)
            ]
        },
    }
    for level, truth in truths.items():
        questions = [{"id": name, "query": text, **truth(*spans[name][0])} for name, text in QUESTIONS.items()]
        content = {"schema_version": 1, "evaluation_type": level, "questions": questions}
        (folder / f"{level}.json").write_text(json.dumps(content))
    return folder


FIRST = {"token-level": "span_recall@1", "document-level": "hit@1", "chunk-level": "chunk_recall@1"}
READ_AS = [(level, level) for level in FIRST] + [("token-level", "document-level"), ("token-level", "chunk-level")]


@pytest.mark.parametrize(("written", "level"), READ_AS)
def test_a_run_at_any_level_from_a_file_and_from_flags_gives_the_same(rag_eval, labelled, written, level):
    content = {
        "corpus": "docs",
        "dataset": f"{written}.json",
        "evaluation_type": level,
        "chunker": {"type": "recursive-character", "chunkSize": 34},
        "k": [1, 2],
        "budgets": ["50ch"],
        "experiment_name": "mine",
        "save_results_path": "kept",
    }
    (labelled / "run.yaml").write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in content.items()))
    (labelled / "run.json").write_text(json.dumps(content))
    flags = ["--corpus", "docs", "--dataset", f"{written}.json", "--evaluation-type", level, "--chunker", CHUNKER]
    flags += ["--k", "1", "--k", "2", "--budget", "50ch", "--set", "experiment_name=mine", "--root", "kept"]
    printed = [json.loads(rag_eval("run", *way, "--json").out) for way in (["run.yaml"], ["run.json"], flags)]
    results = [load_result(run["run"]) for run in printed]
    assert [result.evaluation_type for result in results] == [level] * 3
    assert next(iter(printed[0]["metrics"])) == FIRST[level]
    assert printed[0]["metrics"] == printed[1]["metrics"] == printed[2]["metrics"]
    assert results[0].config == results[1].config == results[2].config
    assert {run["name"] for run in printed} == {"mine"}
    assert len({run["run"] for run in printed}) == 3
    assert {result.folder.resolve().parent for result in results} == {labelled / "kept" / "runs"}
    assert not (labelled / ".rag-eval").exists()


def test_without_an_evaluation_type_a_run_is_of_the_level_of_its_dataset_also_if_a_function_names_documents(
    rag_eval, labelled
):
    for level in FIRST:
        run = rag_eval("run", "--corpus", "docs", "--dataset", f"{level}.json", "--chunker", CHUNKER, "--json")
        assert load_result(json.loads(run.out)["run"]).evaluation_type == level
    (labelled / "own.py").write_text("def search(query, k):\n    return [{'doc_id': 'billing.md'}]\n")
    flags = ["--dataset", "document-level.json", "--retriever", "own:search", "--k", "1"]
    printed = json.loads(rag_eval("run", "--corpus", "docs", *flags, "--json").out)
    assert printed["metrics"]["hit@1"] == 0.5
    assert [row["id"] for row in printed["worst"]] == ["q2", "q1"]


@pytest.mark.parametrize(("written", "level"), READ_AS)
def test_the_weakest_questions_of_every_level_fit_a_narrow_terminal(rag_eval, labelled, monkeypatch, written, level):
    for name, value in (("COLUMNS", "80"), ("FORCE_COLOR", "1"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    flags = ["--dataset", f"{written}.json", "--evaluation-type", level, "--chunker", CHUNKER, "--k", "1"]
    outcome = rag_eval("run", "--corpus", "docs", *flags)
    assert outcome.code == 0, outcome.err
    lines = re.sub("\x1b\\[[0-9;]*m", "", outcome.out).splitlines()
    assert lines[2] == "scored 2 of 2 answerable questions (0 skipped, 0 failed)"
    assert lines[3] == f"{written}, {level}"
    shown = lines[lines.index(f"Weakest questions by {FIRST[level]}") :]
    assert shown[1].split()[:3] == ["0.000", "Where", "is"]
    query = load_result(next((labelled / ".rag-eval/runs").iterdir())).queries[1]
    unit = "guides/start.md" if level != "chunk-level" else query.relevant[0]
    comma = "" if level == "token-level" else ","
    assert shown[2].split()[0] == f"{unit}{comma}"
    assert re.search(rf"{comma} (first found at rank \d|not in \d+ results?)", shown[2])
    assert all(len(line.rstrip()) <= 80 for line in lines if not line.startswith("Saved to"))
    assert "…" not in outcome.out


def test_a_span_that_no_chunk_holds_reads_as_one_sentence_among_the_weakest(rag_eval, labelled):
    (labelled / "own.py").write_text(
        "from rag_evaluation_framework import Chunker\n"
        "class Beginnings(Chunker):\n"
        "    def chunk(self, text): return [text[:9]]\n"
    )
    flags = ["--dataset", "token-level.json", "--evaluation-type", "chunk-level", "--chunker", "own:Beginnings"]
    outcome = rag_eval("run", "--corpus", "docs", *flags, "--k", "1")
    assert re.search(r"billing\.md\[11:41\], which no chunk holds, no results\s", outcome.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dataset", "document-level.json", "--evaluation-type", "token-level"], "token-level"),
        (["--dataset", "chunk-level.json", "--evaluation-type", "document-level"], "chunk-level"),
        (["--dataset", "token-level.json", "--evaluation-type", "document-level", "--metric", "span_iou"], "span_iou"),
        (["--dataset", "token-level.json", "--evaluation-type", "page-level"], "'chunk-level' or 'token-level'"),
        (["--dataset", "chunk-level.json", "--chunker", "recursive-character:chunk_size=20"], "one chunking"),
        (["--dataset", "token-level.json", "--evaluation-type", "chunk-level", "--retriever", "own:search"], "list"),
    ],
    ids=["documents as text", "chunks as documents", "metric", "no level", "other chunker", "no list of chunks"],
)
def test_levels_that_do_not_go_together_end_in_one_message_and_nothing_written(rag_eval, labelled, arguments, said):
    (labelled / "own.py").write_text("def search(query, k):\n    return ['Install the agent first.']\n")
    outcome = rag_eval("run", "--corpus", "docs", *arguments)
    assert outcome.code == 2
    told = re.sub("importing own:search .*\\n", "", outcome.err)
    assert told.startswith("error: ")
    assert said in told
    assert len(told.splitlines()) == 1
    assert outcome.out == ""
    assert not (labelled / ".rag-eval").exists()


@pytest.mark.parametrize("width", [60, 80, 100])
def test_means_at_many_cutoffs_fit_a_narrow_terminal_uncut(rag_eval, folder, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    sizes, budgets = ("1", "3", "5", "10", "20", "100", "1000"), ("4000ch", "4000ch_whole")
    cutoffs = [part for k in sizes for part in ("--k", k)] + [part for size in budgets for part in ("--budget", size)]
    metrics = ("span_recall", "span_precision_raw")
    outcome = rag_eval("run", *FLAGS, *cutoffs, *(part for name in metrics for part in ("--metric", name)))
    lines = [line.rstrip() for line in re.sub("\x1b\\[[0-9;]*m", "", outcome.out).splitlines()]
    last = max(number for number, line in enumerate(lines) if line.startswith(" span_precision_raw"))
    assert max(map(len, lines[: last + 1])) <= width
    scores = "\n".join(lines[lines.index("Scores") : lines.index("Scores") + 70])
    figures = {"mean": r"\d\.\d{3}", "interval": r"\.\d{3}–(\.\d{3}|1\.000)", "median": r"\d\.\d{3}"}
    for metric, cutoff in product(metrics, (*sizes, *budgets)):
        name = f"{metric}@{cutoff}"
        cells = " ".join(line.split(maxsplit=1)[1] for line in scores.splitlines() if line.split()[:1] == [name])
        assert re.match(" +".join(figures.values()), cells), name


@pytest.mark.parametrize(
    "arguments",
    [
        ("run.yaml",),
        *((*FLAGS, *own) for own in (("--retriever", "own:search"), ("--metric", "own:Score"), ("--sink", "own:send"))),
    ],
    ids=str,
)
def test_with_no_import_code_of_ones_own_is_refused_and_not_imported(rag_eval, folder, arguments):
    (folder / "own.py").write_text("open('mark', 'w')\ndef search(query, k):\n    return []\n")
    (folder / "run.yaml").write_text("corpus: docs\ndataset: questions.csv\nretriever: own:search\n")
    outcome = rag_eval("run", *arguments, "--no-import")
    assert outcome.code == 2
    assert "names your own code, and --no-import" in outcome.err
    assert not (folder / "mark").exists()
    assert not (folder / ".rag-eval").exists()


def test_on_error_raise_ends_the_run_at_the_first_question_that_fails(rag_eval, folder):
    (folder / "own.py").write_text(
        "def search(query, k):\n"
        "    with open('asked.txt', 'a') as file:\n        file.write('x')\n"
        "    raise OSError('gone')\n"
    )
    outcome = rag_eval("run", *FLAGS, "--retriever", "own:search", "--set", "on_error=raise", "--allow-failures", "9")
    assert outcome.code == 2
    assert re.search(r"error: question '.*' \('.*\?'\) failed: retrieve: OSError: gone", outcome.err)
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
    assert (folder / "asked.txt").read_text() == "x"
    assert not (folder / ".rag-eval/runs").exists()
    assert rag_eval("run", *FLAGS, "--set", "on_error=stop").code == 2


OWN = "import sys\nprint('RUNS', file=sys.stderr)\ndef search(query, k):\n    return ['Install the agent first.']\n"


def test_a_configuration_that_was_found_is_named_and_so_is_code_before_it_is_imported(rag_eval, folder):
    (folder / "own.py").write_text(OWN)
    (folder / ".rag-eval").mkdir()
    (folder / ".rag-eval/questions.yaml").write_text("corpus: docs\n")
    assert "a configuration file, such as .rag-eval/questions.yaml, or --dataset" in rag_eval("run").err
    (folder / ".rag-eval/config.yaml").write_text("corpus: ../docs\ndataset: ../questions.csv\nretriever: own:search\n")
    outcome = rag_eval("run")
    assert outcome.err.index("of .rag-eval/config.yaml is used: corpus, dataset, retriever; --no-config") < (
        outcome.err.index(f"importing own:search from {folder / 'own.py'}\n")
    )
    assert outcome.err.index("importing own:search") < outcome.err.index("RUNS")
    assert "importing" not in rag_eval("run", "--no-import").err


@pytest.mark.parametrize("inside", ["__init__", "deep"])
def test_of_a_package_the_folder_is_named_before_anything_in_it_is_run(rag_eval, folder, monkeypatch, inside):
    (folder / "own_package").mkdir()
    for name in ("__init__", "deep"):
        (folder / f"own_package/{name}.py").write_text(OWN)
    for name in ("own_package", "own_package.deep"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    named = "own_package" if inside == "__init__" else "own_package.deep"
    outcome = rag_eval("run", *FLAGS, "--retriever", f"{named}:search")
    told = f"importing {named}:search from {folder / 'own_package'}\n"
    assert 0 <= outcome.err.find(told) < outcome.err.index("RUNS")


REWRITING = """
from rag_evaluation_framework import Retriever
def search(query, k):
    return ['Invoices are mostly sent on the first day']
class Summaries(Retriever):
    rewrites_texts = True
    def index(self, corpus): pass
    def retrieve(self, query, k): return ['In short: money.']
"""


@pytest.mark.parametrize(
    ("retriever", "allowed", "code"),
    [
        ("search", (), 2),
        ("search", ("--allow-unlocated", "0.6"), 2),
        ("search", ("--allow-unlocated", "1"), 0),
        ("Summaries", (), 0),  # which says that it rewrites texts
    ],
)
def test_a_run_whose_results_have_no_place_is_kept_and_shown_and_ends_with_2(
    rag_eval, folder, retriever, allowed, code
):
    (folder / "own.py").write_text(REWRITING)
    outcome = rag_eval("run", *FLAGS, "--retriever", f"own:{retriever}", *allowed)
    assert outcome.code == code
    assert len(list((folder / ".rag-eval/runs").iterdir())) == 1
    assert "span_recall" in outcome.out
    if code:
        told = " ".join((outcome.out + outcome.err).split())
        assert "most results have no place in the corpus, such as 'Invoices are mostly sent on the first day'" in told
        assert "the nearest passage is billing.md:" in told
        assert "Invoices are sent on the first day" in told
        assert f", more than the {60 if allowed[1:] else 50}% allowed (allow_unlocated, --allow-unlocated)" in told


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("chunker: sentence", ["--retriever", "bm25:k1=2,chunker=recursive-character"]),
        (
            "chunker: sentence",
            ["--retriever", "bm25:k1=3", "--set", "retriever.k1=2", "--set", "retriever.chunker=recursive-character"],
        ),
        ("retriever: {type: bm25, k1: 2}\nchunker: sentence", ["--set", "retriever.chunker=recursive-character"]),
        ("retriever: {type: bm25, k1: 2, chunker: sentence}", ["--chunker", "recursive-character"]),
        ("retriever: bm25:k1=2,chunker=sentence", ["--chunker", "recursive-character"]),
        ("retriever: bm25:k1=2,chunker=sentence", ["--retriever", "bm25:k1=2", "--chunker", "recursive-character"]),
        ("embedder: lsa\nchunker: recursive-character", ["--retriever", "bm25:k1=2"]),
    ],
)
def test_parts_of_options_replace_those_of_the_file_wherever_they_stand(rag_eval, folder, written, options):
    (folder / "own.yaml").write_text(f"corpus: docs\ndataset: questions.csv\n{written}\n")
    outcome = rag_eval("run", "own.yaml", *options, "--allow-skipped", "2", "--json")
    retriever = load_result(json.loads(outcome.out)["run"]).config["retriever"]
    assert (retriever["chunker"]["type"], retriever["k1"]) == ("recursive-character", 2)


NOT_GATED = "a shard is not gated, nor compared with a baseline"


def test_the_parts_of_a_run_are_scored_together_as_the_whole(rag_eval, folder):
    flags = [*FLAGS, "--metric", "span_recall", "--json"]
    whole = json.loads(rag_eval("run", *flags).out)
    parts = [rag_eval("run", *flags, "--shard", f"{number}/2", "--gate", "span_recall@5 >= 1") for number in (1, 2)]
    assert all(NOT_GATED in part.err for part in parts)
    told = [json.loads(part.out) for part in parts]
    for count in ("questions", "skipped"):
        assert sum(part["counts"][count] for part in told) == whole["counts"][count] > 1
    assert all(part["run"].endswith(f"-{number}-of-2") for number, part in enumerate(told, 1))
    stored = [option for part in told for option in ("--rankings", part["run"])]
    together = json.loads(rag_eval("run", *flags, *stored).out)
    assert together["metrics"] == whole["metrics"]


@pytest.mark.parametrize(
    ("options", "is_told"), [((), False), (("--baseline", "last"), True), (("--threshold", "min.recallAtK=0.5"), True)]
)
def test_a_shard_is_said_not_to_be_gated_where_it_would_be(rag_eval, folder, options, is_told):
    outcome = rag_eval("run", *FLAGS, "--shard", "1/2", *options)
    assert outcome.code == 0, outcome.err
    assert (NOT_GATED in outcome.err) == is_told


def test_what_is_set_is_of_the_run_and_overrides_its_file(rag_eval, folder):
    (folder / "plain.yaml").write_text("corpus: docs\ndataset: questions.csv\nchunker: sentence\ntimeout: 9\nk: 1\n")
    given = ("--set", "timeout=30", "--set", "chunker.sentences=2", "--set", "reranker=none", "--allow-skipped", "9")
    more = ("--retriever", "bm25:language=german", "--k", "2")
    printed = json.loads(rag_eval("run", "plain.yaml", *given, *more, "--json").out)
    config = load_result(printed["run"]).config
    assert (config["timeout"], config["retriever"]["language"]) == (30, "german")
    assert (config["retriever"]["chunker"]["type"], config["retriever"]["chunker"]["sentences"]) == ("sentence", 2)
    assert (printed["name"], next(iter(printed["metrics"]))) == (
        "BM25 (language=german), sentence (sentences=2)",
        "span_recall@2",
    )


def test_a_run_that_is_saved_nowhere_keeps_no_answers(rag_eval, folder):
    (folder / "run.yaml").write_text("corpus: docs\ndataset: questions.csv\nsave_results_path: null\n")
    outcome = rag_eval("run", "run.yaml", "--allow-skipped", "2")
    assert outcome.code == 0, outcome.err
    assert "Saved to" not in outcome.out
    shown = json.loads(rag_eval("run", "run.yaml", "--allow-skipped", "2", "--json").out)
    assert (shown["run"], shown["not_saved"]) == (None, "save_results_path is null")
    assert not (folder / ".rag-eval").exists()
    assert rag_eval("run", "run.yaml", "--resume").code == 2
