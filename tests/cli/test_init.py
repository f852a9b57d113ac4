import re
import shlex
import shutil
import unicodedata
from importlib import import_module

import pytest

from rag_evaluation_framework import Corpus, load_dataset
from rag_evaluation_framework.base.files import temporary_folder
from rag_evaluation_framework.runs import load_config
from support.terminal import Terminal

INIT = ("init", "--corpus", "docs", "--questions", "questions.csv")


def test_init_says_what_was_located_and_skipped_and_the_command_it_prints_works(rag_eval, folder):
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "questions.csv")
    assert (outcome.code, outcome.err) == (0, "")
    assert "2 of 4 quotes located, 1 ambiguous, 1 missing; 1 question without an answer" in outcome.out
    assert "docs/billing.md:3:37 (behind “day.”), docs/guides/start.md:3:26 (behind “first.”)" in outcome.out
    assert "Install the agent first." in outcome.out  # the passage nearest to the missing quote
    assert "2 questions skipped: fix their quotes" in outcome.out
    assert "The run exits with 2 while questions are skipped; --allow-skipped 2 allows them." in outcome.out
    printed = next(line for line in outcome.out.splitlines() if line.startswith("  rag-eval run"))
    following = rag_eval(*shlex.split(printed)[1:], "--allow-skipped", "2")
    assert (following.code, "span_recall" in following.out) == (0, True)
    dataset = load_dataset(folder / ".rag-eval/datasets/questions.json", corpus=Corpus.from_folder(folder / "docs"))
    asked = [entry.query.text for entry in dataset]
    assert asked == ["When do invoices come?", "What comes first?", "Who is the chief?"]
    assert dataset.metadata == {}
    assert [(label.query.text, label.quote) for label in dataset.skipped] == [
        ("Who helps?", "Support helps."),
        ("How do I upgrade?", "Upgrade the agent first."),
    ]
    rows = "question,quote\nWhen?,Invoices are sent on the first day.\nWho?,\nWho?,\nWhere?,\n"
    (folder / "fixed.csv").write_text(rows)
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "fixed.csv")
    assert "1 of 1 quote located, 0 ambiguous, 0 missing; 2 questions without an answer\n" in outcome.out
    assert "--allow-skipped" not in outcome.out


@pytest.mark.parametrize("edited", [".rag-eval/questions.yaml", ".rag-eval/datasets/questions.json"])
def test_nothing_is_overwritten(rag_eval, folder, edited):
    (folder / edited).parent.mkdir(parents=True)
    (folder / edited).write_text("mine")
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "questions.csv")
    assert outcome.code == 2
    assert edited.rpartition("/")[2] in outcome.err
    assert (folder / edited).read_text() == "mine"
    assert [path.name for path in (folder / ".rag-eval").rglob("*") if path.is_file()] == [edited.rpartition("/")[2]]


def test_a_dataset_that_an_interrupted_init_left_is_in_the_way_only_of_other_questions(rag_eval, folder):
    rag_eval(*INIT)
    (folder / ".rag-eval/questions.yaml").unlink()
    shutil.rmtree(folder / ".rag-eval/datasets/questions.texts")
    with temporary_folder(folder / ".rag-eval/datasets") as killed:
        pass
    killed.mkdir()
    assert rag_eval(*INIT).code == 0
    found = {path.name for path in (folder / ".rag-eval/datasets").iterdir()}
    assert found == {"questions.json", "questions.texts"}
    assert rag_eval("run", ".rag-eval/questions.yaml", "--allow-skipped", "2").code == 0
    (folder / ".rag-eval/questions.yaml").unlink()
    other_skipped = (folder / "questions.csv").read_text() + "Who else?,Nobody else.\n"
    for table in (other_skipped, "question,quote\nWhat comes first?,Install the agent first.\n"):
        (folder / "questions.csv").write_text(table)
        refused = rag_eval(*INIT)
        assert refused.code == 2
        assert "questions.json already exists and is not overwritten" in refused.err


def test_after_a_corrected_flag_what_init_wrote_is_written_again_also_if_it_was_killed_meanwhile(rag_eval, folder):
    rag_eval(*INIT, "--glob", "guides/*.md")
    files = [folder / ".rag-eval/questions.yaml", folder / ".rag-eval/datasets/questions.json"]
    before = [file.read_text() for file in files]
    outcome = rag_eval(*INIT)
    assert outcome.code == 0, outcome.err
    assert "The dataset and the configuration are written again: nobody had changed them." in outcome.out
    after = [file.read_text() for file in files]
    assert all(text != earlier for text, earlier in zip(after, before, strict=True))
    load_config(files[0])
    assert rag_eval("run", str(files[0]), "--allow-skipped", "2").code == 0
    files[0].write_text(before[0])  # the dataset is written first
    for _ in range(2):
        assert rag_eval(*INIT).code == 0
        assert [file.read_text() for file in files] == after


@pytest.mark.parametrize(
    ("edited", "said"),
    [
        (".rag-eval/questions.yaml", "already exists and is not overwritten, as it is not as `rag-eval init` wrote it"),
        (".rag-eval/datasets/questions.json", "is not overwritten, as it was changed since .*dataset update"),
    ],
)
@pytest.mark.parametrize("change", [lambda text: f"# mine\n{text}", lambda text: f"{text} ", lambda text: text[:-1]])
def test_what_a_person_changed_is_never_written_again(rag_eval, folder, edited, said, change):
    rag_eval(*INIT)
    (folder / edited).write_text(change((folder / edited).read_text()))
    files = {path: path.read_bytes() for path in (folder / ".rag-eval").rglob("*") if path.is_file()}
    outcome = rag_eval(*INIT, "--glob", "guides/*.md")
    assert outcome.code == 2
    assert re.search(said, outcome.err)
    assert {path: path.read_bytes() for path in (folder / ".rag-eval").rglob("*") if path.is_file()} == files


def test_other_questions_of_the_same_name_do_not_take_the_place_of_a_dataset(rag_eval, folder):
    rag_eval(*INIT)
    (folder / "other").mkdir()
    (folder / "other/questions.csv").write_text("question,quote\nWhat comes first?,Install the agent first.\n")
    other = (*INIT[:3], "--questions", "other/questions.csv")
    refused = rag_eval(*other)
    assert (refused.code, "other questions of this name; choose a --name, or say --name q" in refused.err) == (2, True)
    assert rag_eval(*other, "--name", "again").code == 0
    assert len(load_dataset(folder / ".rag-eval/datasets/again.json")) == 1
    assert len(load_dataset(folder / ".rag-eval/datasets/questions.json")) == 3
    assert rag_eval(*other, "--name", "questions").code == 0
    assert len(load_dataset(folder / ".rag-eval/datasets/questions.json")) == 1


def test_columns_are_told_by_options(rag_eval, folder):
    (folder / "q.csv").write_text("Was;Stelle;Wo;Nr\nWhat comes first?;Install the agent first.;start;7\n", "cp1252")
    columns = [f"--column={given}" for given in ("question=was", "quote=Stelle", "document=Wo", "id=Nr")]
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "q.csv", *columns)
    assert outcome.code == 0, outcome.err
    (entry,) = load_dataset(folder / ".rag-eval/datasets/q.json")
    assert (entry.query.id, entry.query.text) == ("7", "What comes first?")
    refused = rag_eval("init", "--corpus", "docs", "--questions", "q.csv", "--column", "quote=Zitat")
    assert "no column 'Zitat' among 'Was', 'Stelle', 'Wo', 'Nr'" in refused.err
    for given in ("answer=Stelle", "quote"):
        refused = rag_eval("init", "--corpus", "docs", "--questions", "q.csv", "--column", given)
        assert f"--column {given}: expected one of question, quote, document, id, text, name" in refused.err


def test_names_with_spaces_and_other_scripts_and_a_root_are_part_of_the_printed_command(rag_eval, folder):
    (folder / "docs").rename(folder / "meine Bücher: 1")
    given = ("--corpus", "meine Bücher: 1", "--questions", "questions.csv", "--name", "my set", "--root", "eval")
    outcome = rag_eval("init", *given)
    assert outcome.code == 0, outcome.err
    printed = next(line for line in outcome.out.splitlines() if line.startswith("  rag-eval run"))
    assert printed == "  rag-eval run 'eval/my set.yaml' --root eval"
    assert rag_eval(*shlex.split(printed)[1:], "--allow-skipped", "2").code == 0


NAMES = ["two\nlines", "tab\there", "red\x1b[31m", "next\x85line", "right\u202eleft", "line\u2028end", "not\udce9utf"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, "expected a name without folders, line breaks and control codes") for name in NAMES),
        ("../up", "name without folders"),
        ("h\udcc3\udca4user", "give an ASCII one, or set LC_ALL=C.UTF-8: here its bytes are no text"),
    ],
)
def test_a_name_that_would_break_a_line_or_act_on_a_terminal_is_refused(rag_eval, folder, name, said):
    outcome = rag_eval(*INIT, "--name", name)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert said in outcome.err
    assert not (folder / ".rag-eval").exists()


@pytest.mark.parametrize(
    "name", ["a: b", "a # b", 'it\'s "quoted"', "- a", "%a", "two  blanks ", "no\u00a0break", "😀", "{a}"]
)
def test_whatever_else_a_name_is_the_configuration_says_it(rag_eval, folder, name):
    assert rag_eval("init", "--corpus", "docs", "--questions", "questions.csv", "--name", name).code == 0
    config = load_config(folder / f".rag-eval/{name}.yaml")
    assert config.dataset == f"datasets/{name}.json"
    assert load_dataset(folder / ".rag-eval" / config.dataset).name == name


@pytest.mark.parametrize("called", [*NAMES, "a # b: c", "del\x7f", "zero\ufeffwidth"])
def test_folders_and_patterns_are_read_back_as_they_are(rag_eval, folder, called):
    (folder / "docs").rename(folder / called)
    (folder / called / f"{called}.md").write_text("Install the agent first.")
    pattern = f"*{called}*"
    outcome = rag_eval(
        "init", "--corpus", called, "--questions", "questions.csv", "--glob", pattern, "--root", f"r{called}"
    )
    assert outcome.code == 0, outcome.err
    config = load_config(folder / f"r{called}/questions.yaml")
    assert (config.corpus, config.glob) == (f"../{called}", pattern)
    assert len(config.experiment(folder / f"r{called}").corpus) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--corpus", "nowhere", "--questions", "questions.csv"], "does not exist"),
        (["--corpus", "docs", "--questions", "nowhere.csv"], "cannot be read"),
        (["--corpus", "docs", "--questions", "questions.csv", "--glob", "*.txt"], "no file matches"),
        (["--corpus", "docs", "--questions", "bad.csv"], "not valid UTF-8"),
        (["--corpus", "docs", "--questions", "lost.csv"], "lost.csv: no quote was located in docs"),
        (["--corpus", "docs", "--questions", "partly.csv"], "partly.csv: no quote was located in docs"),
        (["--corpus", "docs", "--questions", "unanswered.csv"], "no quote was located"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(rag_eval, folder, arguments, said):
    (folder / "bad.csv").write_bytes(b"question,quote\nWhy?,\0\xff\n")
    (folder / "lost.csv").write_text("question,quote\nWhy?,This stands nowhere.\n")
    (folder / "partly.csv").write_text("question,quote\nWhy?,This stands nowhere.\nWho is the chief?,\n")
    (folder / "unanswered.csv").write_text("question,quote\nWho is the chief?,\n")
    outcome = rag_eval("init", *arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert not (folder / ".rag-eval").exists()


@pytest.fixture
def copied(folder):
    """Questions of which some quotes are not letter by letter in the documents."""
    (folder / "docs" / "fees.md").write_text(
        "# Fees\n\nThe **late** fee is 2.5 % of the amount. Accounts that are never paid are closed in the end.\n"
    )
    (folder / "copied.csv").write_text(
        "question,quote,document,topic\n"
        "What comes first?,Install the agent first.,,setup\n"
        "How high is the fee?,The late fee is 2.6 % of the amount.,,money\n"
        "What is closed?,Acounts that are never paid are closed in the end.,,money\n"
        "Who helps?,Support helps.,,help\n"
        "What else?,Wombats dig long tunnels at night.,,\n"
        "When do invoices come?,Invoices are sent on the first day.,fees,money\n"
        "Who is the chief?,,,\n"
    )
    return folder


def say_yes(table, quote):
    """Take the suggestion for a quote, as somebody who looked through the table does."""
    lines = table.read_text("utf-8").splitlines(keepends=True)
    taken = [f'{line[:-4]},"yes"\n' if quote in line and line.endswith(',""\n') else line for line in lines]
    assert sum(line.endswith('"yes"\n') for line in taken) == 1
    table.write_text("".join(taken), "utf-8")


def test_init_shows_what_a_quote_may_mean_and_how_to_go_on(rag_eval, copied):
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "copied.csv")
    assert outcome.code == 0
    shown = [" ".join(line.split()) for line in outcome.out.splitlines()]
    start = shown.index("line 4, missing: “Acounts that are never paid are closed in the end.”")
    assert shown[start + 1 : start + 3] == [
        "nearest, 99 % similar: “Accounts that are never paid are closed in the end.” docs/fees.md:3:42",
        "differs: “Acounts” for “Accounts”",
    ]
    assert "differs: in billing.md, not in fees.md" in shown
    assert "nothing similar in the corpus" in shown
    assert "3 suggestions beside the quotes: copied.suggested.csv. Write yes in the column accept" in outcome.out
    command = next(line for line in outcome.out.splitlines() if line.startswith("  rag-eval dataset update"))
    assert "0 questions added" in rag_eval(*shlex.split(command)[1:]).out  # nothing is taken without a yes
    say_yes(copied / "copied.suggested.csv", "Acounts")
    following = rag_eval(*shlex.split(command)[1:])
    assert (following.code, following.err) == (0, "")
    assert "1 question added" in following.out


def test_suggestions_are_written_also_if_no_quote_was_located(rag_eval, copied):
    (copied / "all.csv").write_text("question,quote\nWhat is closed?,Acounts that are never paid are closed.\n")
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "all.csv", "--root", "r", "--glob", "*.md")
    assert (outcome.code, outcome.err.startswith("error: all.csv: no quote was located in docs")) == (2, True)
    assert not (copied / "r").exists()
    command = next(line for line in outcome.out.splitlines() if line.startswith("  rag-eval init"))
    assert command == "  rag-eval init --root r --name all --corpus docs --glob '*.md' --questions all.suggested.csv"
    say_yes(copied / "all.suggested.csv", "Acounts")
    assert rag_eval(*shlex.split(command)[1:]).code == 0
    assert (copied / "r/all.yaml").is_file()


def test_where_nothing_is_suggested_no_file_is_written_and_one_that_cannot_be_does_not_stop_init(rag_eval, copied):
    (copied / "half.csv").write_text("question,quote\nWhat?,Install the agent first.\nWhat?,Wombats dig tunnels.\n")
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "half.csv")
    assert "half.csv: no question has all of its quotes located in docs" in outcome.err
    assert (outcome.code, "There is nothing to suggest." in outcome.out) == (2, True)
    (copied / "q.csv").write_text("question,quote\nWhat?,Install the agent first.\nWhy?,Wombats dig tunnels.\n")
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "q.csv")
    assert (outcome.code, "suggest" in outcome.out) == (0, False)
    rows = '{"question": "What?", "quote": "Install the agent first.", "a": 1, "A": 2}\n'
    rows += '{"question": "Which?", "quote": "Acounts that are never paid are closed."}\n'
    (copied / "odd.jsonl").write_text(rows)
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "odd.jsonl")
    assert outcome.code == 0
    told = "The suggestions could not be written beside the questions: odd.jsonl: line 1: two columns share"
    assert told in outcome.out
    assert not list(copied.glob("*.suggested*"))


def test_every_kind_of_text_is_read_and_what_is_not_is_told(rag_eval, folder):
    for name in ("a.rst", "guides/b.rst", "c.txt", ".hidden.txt", "d.png", unicodedata.normalize("NFD", "größe.md")):
        (folder / "docs" / name).write_text("The very end.")
    (folder / "ends.csv").write_text("question,quote,document\nWhere?,The very end.,b.rst\n")
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "ends.csv")
    assert "1 of 1 quote located" in outcome.out
    assert "docs: not read: 1 .png, as they have no reader" in outcome.err
    both = ("--glob", "**/*.{md,rst}", "--name", "both")
    assert "not read" not in rag_eval("init", "--corpus", "docs", "--questions", "ends.csv", *both).err


def test_a_page_shows_every_quote_marked_in_its_passage_also_if_none_was_located(rag_eval, folder):
    outcome = rag_eval(*INIT, "--html", "check.html")
    page = (folder / "check.html").read_text()
    assert f"Wrote check.html: {len(page.encode()):,} bytes" in outcome.out
    assert '<mark class="found">Invoices' in page
    assert '<mark class="missed">Install the agent first.</mark>' in page
    (folder / "lost.csv").write_text("question,quote\nHow?,Upgrade the agent first.\n")
    outcome = rag_eval("init", "--corpus", "docs", "--questions", "lost.csv", "--html", "lost.html")
    assert outcome.code == 2
    assert '<mark class="missed">Install the agent first.</mark>' in (folder / "lost.html").read_text()


@pytest.mark.parametrize(
    ("name", "problem"), [("page.txt", "a file name ending in .html or .htm"), ("page.html", "already exists")]
)
@pytest.mark.parametrize("command", ["init", "update"])
def test_a_page_that_cannot_be_written_is_refused_before_any_work(rag_eval, folder, command, name, problem):
    (folder / "page.html").touch()
    rag_eval("init", "--corpus", "docs", "--questions", "questions.csv", "--name", "first")
    begin = {"init": ["init"], "update": ["dataset", "update", ".rag-eval/datasets/first.json"]}[command]
    before = sorted(folder.rglob("*"))
    outcome = rag_eval(*begin, "--corpus", "docs", "--questions", "questions.csv", "--html", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"--html {name}" in outcome.err
    assert problem in outcome.err
    assert sorted(folder.rglob("*")) == before


def test_what_takes_long_is_said(rag_eval, folder, monkeypatch):
    said = []

    def recorded(items=None, **options):
        said.append(options["desc"])
        assert options["delay"] < 1  # it is seen in the first second
        return items

    module = import_module("rag_evaluation_framework.base.progress")
    recorded.set_lock = module.tqdm.set_lock
    monkeypatch.setattr(module, "tqdm", recorded)
    rag_eval("init", "--corpus", "docs", "--questions", "questions.csv")
    assert {"Reading documents", "Indexing documents", "Locating quotes"} <= set(said)
    said.clear()
    (folder / "docs/billing.md").write_text("# New\n\nInvoices are sent on the first day.\n")
    rag_eval("dataset", "update", ".rag-eval/datasets/questions.json", "--corpus", "docs")
    assert said[:2] == ["Listing files", "Reading documents"]
    assert {"Following labels", "Aligning documents"} <= set(said)


def test_in_a_terminal_lines_end_between_words_and_commands_stay_whole(folder):
    terminal = Terminal("init", "--corpus", "docs", "--questions", "questions.csv", folder=folder, columns=60)
    assert terminal.end() == 0
    said = terminal.text
    prose = [line for line in said.splitlines() if not line.startswith("  rag-eval")]
    assert max(map(len, prose)) <= 60
    assert any(line.startswith("  rag-eval") and len(line) > 60 for line in said.splitlines())


def test_a_folder_of_beir_needs_no_init_and_is_run(rag_eval, folder):
    (folder / "beir/qrels").mkdir(parents=True)
    (folder / "beir/queries.jsonl").write_text('{"_id": "q1", "text": "When do invoices come?"}\n')
    (folder / "beir/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tbilling.md\t1\n")
    for questions in ("beir", "beir/queries.jsonl"):
        refused = rag_eval("init", "--corpus", "docs", "--questions", questions)
        assert refused.code == 2
        command = refused.err.partition("need no init: ")[2].strip()
        assert command == f"rag-eval run --no-config --corpus docs --dataset {questions}"
        assert "recall@5" in rag_eval(*shlex.split(command)[1:]).out
