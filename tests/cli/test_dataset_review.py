"""`rag-eval dataset review`, at a real terminal."""

import json
import shlex

import pytest

pytest.importorskip("pty", reason="terminals of their own are made as Unix does")
from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.components.chunkers import RecursiveCharacterChunker
from rag_evaluation_framework.data import Answer
from support.terminal import Terminal

REFUND = "Refunds take five working days after they were approved."
KEYS = "? help\n> "  # what is typed before a prompt reads may be lost


@pytest.fixture
def docs(tmp_path):
    """A folder in which a sentence about refunds stands twice."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "billing.md").write_text(
        f"# Billing\n\nInvoices are sent on the first day.\n\n## Refunds\n\n{REFUND} They are paid to the card.\n"
    )
    (tmp_path / "docs" / "faq.md").write_text(f"# Questions\n\nWhen do I get my money back?\n\n{REFUND}\n")
    return tmp_path / "docs"


@pytest.fixture
def file(docs):
    """A synthetic dataset of three questions, of which one has two answers and one none."""
    corpus = Corpus.from_folder(docs)

    def span(document, text):
        start = corpus[DocumentId(document)].content.index(text)
        return CharacterSpan(DocumentId(document), start, start + len(text), text)

    def query(text, **metadata):
        return Query(Query.from_text(text).id, text, {"generation_type": "synthetic", **metadata})

    refund = Answer.any_of(span("billing.md", REFUND), span("faq.md", REFUND))
    entries = [
        TokenLevelGroundTruth(
            query("How long?", strategy="dimensions", persona="new customer", prompt_versions=["simple@1-0123"]),
            (refund,),
        ),
        TokenLevelGroundTruth(
            query(f"Is it true that {REFUND}"), (span("billing.md", REFUND), span("billing.md", "Invoices are sent"))
        ),
        TokenLevelGroundTruth(query("Who is \x1b[31mthe [bold]chief[/bold]?"), ()),
    ]
    return save_dataset(Dataset(entries, TOKEN, name="set", corpus=corpus), docs.parent / "set.json")


@pytest.fixture
def at_terminal(docs):
    """Run `rag-eval dataset review` at a terminal; what is left of it when a test fails is ended."""
    opened = []

    def run(*options, **size):
        opened.append(Terminal("dataset", "review", *options, folder=docs.parent, **size))
        return opened[-1]

    yield run
    for terminal in opened:
        if terminal.process.poll() is None:
            terminal.kill()


def verdicts(file):
    return [query["metadata"].get("review", {}).get("verdict") for query in json.loads(file.read_text())["questions"]]


def joined(text):
    return " ".join(text.split())


def test_questions_are_accepted_edited_and_dropped_and_what_stays_is_written_to_a_new_file(rag_eval, at_terminal, file):
    original = json.loads(file.read_text())
    terminal = at_terminal("set.json", "--corpus", "docs")
    begin = terminal.until("Question 1 of 3 (0 accepted, 0 edited, 0 dropped, 3 open):")
    told = "Reviewing set.json: 0 accepted, 0 edited, 0 dropped, 3 open. Every decision is saved at once."
    assert told in joined(begin)
    page = terminal.until(KEYS)
    assert "\nHow long?\n  id: query_" in page
    assert "strategy: dimensions, persona: new customer, generation_type: synthetic" in joined(page)
    assert "simple@1" not in page
    above = "    # Billing\n    Invoices are sent on the first day.\n    ## Refunds\n"
    assert f"Answer\n    docs/billing.md:7:1\n{above}  ┃ {REFUND} They" in page
    assert "or  docs/faq.md:5:1" in page
    assert f"\x1b[1;32m{REFUND}\x1b[0m" in terminal.raw
    terminal.type("a")
    page = terminal.until(KEYS)
    assert "Accepted.\n\nQuestion 2 of 3 (1 accepted, 0 edited, 0 dropped, 2 open):" in page
    assert "warning: copies its answer: repeats 9 words in a row" in joined(page)
    assert "Answer 2 of 2\n    docs/billing.md:3:1" in page
    terminal.type("d 1")
    terminal.until("Answer 1 is dropped; d 1 takes it back.")
    terminal.until(KEYS)
    terminal.type("e When are invoices sent?")
    page = terminal.until(KEYS)
    assert f"When are invoices sent? reworded; it was: Is it true that {REFUND}" in joined(page)
    assert "warning" not in page
    terminal.type("a")
    assert "Who is \N{REPLACEMENT CHARACTER}[31mthe [bold]chief[/bold]?" in terminal.until(KEYS)
    terminal.type("d")
    assert terminal.end() == 0
    assert "set.json: 1 accepted, 1 edited, 1 dropped, 0 open. Next:" in terminal.text
    commands = [line for line in terminal.text.splitlines() if line.startswith("  rag-eval ")]
    assert commands == ["  rag-eval dataset review set.json --output set-reviewed.json"]
    for question, before in zip(json.loads(file.read_text())["questions"], original["questions"], strict=True):
        del question["metadata"]["review"]
        assert question == before
    written = rag_eval(*shlex.split(commands[0])[1:])
    assert (written.code, written.err) == (0, "")
    assert written.out == (
        "set.json: 1 accepted, 1 edited, 1 dropped, 0 open.\n"
        "Wrote set-reviewed.json with 2 questions; set.json is as it was\n"
    )
    reviewed = load_dataset(file.with_name("set-reviewed.json"), corpus=Corpus.from_folder(file.parent / "docs"))
    assert [entry.query.text for entry in reviewed] == ["How long?", "When are invoices sent?"]
    assert [entry.query.id for entry in reviewed] == [query["id"] for query in original["questions"][:2]]
    assert [unit.text for unit in reviewed.ground_truth[1].relevant] == ["Invoices are sent"]
    assert rag_eval("dataset", "lint", "set-reviewed.json", "--corpus", "docs").code == 0


def test_what_is_killed_goes_on_with_what_is_open(at_terminal, file):
    terminal = at_terminal("set.json", "--corpus", "docs")
    terminal.until(KEYS)
    terminal.type("a")
    terminal.until("Question 2 of 3")
    terminal.until(KEYS)
    terminal.type("e Which day?")
    terminal.until("reworded")
    terminal.kill()
    assert verdicts(file) == ["accepted", None, None]
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []
    terminal = at_terminal("set.json", "--corpus", "docs")
    page = terminal.until(KEYS)
    assert "Question 2 of 3 (1 accepted, 0 edited, 0 dropped, 2 open):\nWhich day?\n" in page
    terminal.type("b")
    assert "How long?\n  accepted; s keeps that" in terminal.until(KEYS)
    terminal.type("s")
    assert "Left for later.\n\nQuestion 2 of 3" in terminal.until(KEYS)
    terminal.type("s")
    terminal.until(KEYS)
    terminal.type("q")
    assert terminal.end() == 0
    assert "1 accepted, 0 edited, 0 dropped, 2 open. Next:\n\n  rag-eval dataset review set.json --corpus docs\n" in (
        terminal.text
    )
    assert verdicts(file) == ["accepted", None, None]


def test_ctrl_c_says_what_is_saved(at_terminal, file):
    terminal = at_terminal("set.json", "--corpus", "docs")
    terminal.until(KEYS)
    terminal.type("d")
    terminal.until("Question 2 of 3")
    terminal.until("\n> ")  # not that of "w> longer"
    assert terminal.press_until_ended("\x03") == 130
    told = "interrupted: set.json: 0 accepted, 0 edited, 1 dropped, 2 open; the same command goes on"
    assert told in joined(terminal.text)
    assert verdicts(file) == ["dropped", None, None]


def test_the_wording_is_there_to_be_edited(at_terminal, file):
    terminal = at_terminal("set.json", "--corpus", "docs")
    terminal.until(KEYS)
    terminal.type("e")
    terminal.until("Question: How long?")
    terminal.type("\x7f exactly?")
    assert "How long exactly?\n  reworded; it was: How long?" in terminal.until(KEYS)
    terminal.type("e")
    terminal.until("Question: How long exactly?")
    terminal.type("")
    terminal.until("The wording stays as it is.")
    terminal.until(KEYS)
    terminal.type("e x")
    terminal.until("That is no question; the wording stays as it is.")
    terminal.until(KEYS)
    terminal.type("u")
    terminal.until("The question is open, and as the file has it.")
    assert "reworded" not in terminal.until(KEYS)
    terminal.type("s")
    terminal.until(KEYS)
    terminal.type("s")
    terminal.until(KEYS)
    terminal.type("e")  # it holds a control code, which is shown as what cannot be shown
    terminal.until("Question: Who is \N{REPLACEMENT CHARACTER}[31mthe")
    terminal.type("")
    terminal.until("The wording stays as it is.")
    assert terminal.press_until_ended("\x04") == 0
    assert verdicts(file) == [None, None, None]
    assert "review" not in file.read_text()


def test_wrong_keys_say_what_is_expected(at_terminal, file):
    terminal = at_terminal("set.json", "--corpus", "docs")
    for typed, told in (
        ("b", "There is no question before this one."),
        ("", "expected a letter, such as a, or d 2 for answer 2; ? explains all of them"),
        ("accept", "expected a letter"),
        ("a 2", "expected a letter"),
        ("d x", "expected the number of an answer behind d, such as d 2, got 'x'"),
        ("d 7", "there is no answer 7: the question has 1"),
        ("d 1", "answer 1 is the only one that is left; d drops the question"),
        ("?", "d 2      drop answer 2, one of several; d 2 again takes it back"),
        ("?", "u        undo all that was decided about the question that is shown; to undo"),
        ("m", "    ## Refunds"),
    ):
        terminal.until(KEYS)
        terminal.type(typed)
        terminal.until(told)
    terminal.until(KEYS)
    terminal.type("q")
    assert terminal.end() == 0
    assert verdicts(file) == [None, None, None]


def test_all_asks_about_what_was_decided_too(at_terminal, file):
    terminal = at_terminal("set.json")
    assert "Without --corpus, answers are shown as far as the dataset quotes them." in joined(terminal.until(KEYS))
    terminal.type("a")
    terminal.until(KEYS)
    terminal.type("q")
    assert terminal.end() == 0
    terminal = at_terminal("set.json", "--all")
    assert "Question 1 of 3" in terminal.until(KEYS)
    for number in (2, 3):
        terminal.type("d")
        assert f"Question {number} of 3" in terminal.until(KEYS)
    terminal.type("d")
    assert terminal.end() == 0
    assert verdicts(file) == ["dropped"] * 3
    terminal = at_terminal("set.json")
    assert terminal.end() == 0
    assert "0 accepted, 0 edited, 3 dropped, 0 open. Next:\n\n  rag-eval dataset review set.json --all" in terminal.text


def test_a_page_fits_a_small_terminal(at_terminal, file):
    terminal = at_terminal("set.json", "--corpus", "docs", columns=40, rows=24)
    terminal.until("Question 1 of 3")
    page = terminal.until(KEYS)
    assert max(map(len, page.splitlines())) <= 40
    assert page.count("\n") + 3 <= 24


def test_datasets_of_chunks_and_documents_are_reviewed(rag_eval, at_terminal, docs):
    corpus = Corpus.from_folder(docs)
    chunks = [chunk for document in corpus for chunk in RecursiveCharacterChunker(60).chunk_with_positions(document)]
    registry = ChunkRegistry()
    for chunk in chunks:
        registry.register(chunk)
    registry.save(docs.parent / "chunks.json")
    query = Query.from_text("Where?")
    ids = tuple(chunk.id for chunk in chunks[:2])
    save_dataset(Dataset([ChunkLevelGroundTruth(query, ids)], CHUNK), docs.parent / "chunks-set.json")
    terminal = at_terminal("chunks-set.json", "--corpus", "docs", "--chunks", "chunks.json")
    page = terminal.until(KEYS)
    assert "Answer 1 of 2\n    chunk_" in page
    assert "  ┃ # Billing" in page
    terminal.type("d 2")
    terminal.until(KEYS)
    terminal.type("q")
    assert terminal.end() == 0
    assert "--corpus docs --chunks chunks.json" in joined(terminal.text)
    documents = DocumentLevelGroundTruth(query, ("billing.md", "faq.md"))
    save_dataset(Dataset([documents], DOCUMENT), docs.parent / "documents.jsonl")
    terminal = at_terminal("documents.jsonl", "--corpus", "docs")
    assert "Answer 2 of 2\n    docs/faq.md\n  ┃ # Questions" in terminal.until(KEYS)
    terminal.type("d 1")
    terminal.until(KEYS)
    terminal.type("a")
    assert terminal.end() == 0
    assert rag_eval("dataset", "review", "documents.jsonl", "--output", "new.jsonl").code == 0
    (entry,) = load_dataset(docs.parent / "new.jsonl", DOCUMENT)
    assert entry.relevant == ("faq.md",)


def test_documents_that_changed_and_skipped_questions_are_told(at_terminal, file, docs):
    content = json.loads(file.read_text())
    content["skipped"] = [{"query": {"id": "s", "query": "Lost?"}, "quote": "lost", "reason": "not there"}]
    file.write_text(json.dumps(content))
    (docs / "billing.md").write_text("# Billing\n\nAll of it is new.\n")
    terminal = at_terminal("set.json", "--corpus", "docs")
    page = joined(terminal.until(KEYS))
    assert "Questions that the dataset skips are not reviewed: 1." in page
    assert "Labels that are not in the documents as they are now: 3. Is it the right folder?" in page
    assert "error: text differs: billing.md[60:116] ends at character 116, the document at 29" in page
    assert "┃ Refunds take five working days" in page
    terminal.type("q")
    assert terminal.end() == 0
    assert json.loads(file.read_text())["skipped"][0]["quote"] == "lost"


def test_what_cannot_be_used_is_refused_and_without_a_terminal_nothing_is_asked(at_terminal, rag_eval, file):
    (file.parent / "questions.csv").write_text("question,quote\nWhen?,Invoices are sent\n")
    terminal = at_terminal("questions.csv", "--corpus", "docs")
    assert terminal.end() == 2
    assert "decisions are kept in the dataset, which has to be a native .json or .jsonl file" in joined(terminal.text)
    (file.parent / "empty.json").write_text("")
    for name, output, problem in (
        ("set.json", "set.json", "--output set.json already exists and is not overwritten"),
        ("set.json", "new.csv", "new.csv: expected a file name ending in .json or .jsonl"),
        ("empty.json", "new.json", "empty.json: not valid JSON"),
        ("nowhere.json", "new.json", "nowhere.json: cannot be read"),
    ):
        refused = rag_eval("dataset", "review", name, "--output", output)
        assert (refused.code, refused.out) == (2, "")
        assert problem in refused.err
    refused = rag_eval("dataset", "review", "set.json", "--corpus", "docs")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "error: dataset review asks about questions, so it needs a terminal; --output NEW.json asks nothing\n"
    )


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_an_answer_is_trimmed_and_lengthened_in_sight_and_nothing_is_lost(at_terminal, file, docs, columns, rows):
    lines = "".join(f"Line {number} says nothing.\n\n" for number in range(60))
    billing = docs / "billing.md"
    billing.write_text(billing.read_text() + lines)
    terminal = at_terminal("set.json", "--corpus", "docs", columns=columns, rows=rows)
    terminal.until(KEYS)
    terminal.type("w>>")
    page = terminal.until(KEYS)
    assert "Answer, edited\n    docs/billing.md:7:1\n" in page
    assert page.count("\n") + 1 <= rows
    assert f"\x1b[1;32m{REFUND} They are\x1b[0m" in terminal.raw
    terminal.type("<s")
    terminal.until(KEYS)
    terminal.type("m")
    page = terminal.until(KEYS)
    assert page.count("\n") + 1 <= rows
    assert f"\n  ┃ ## Refunds\n  ┃\n  ┃ {REFUND} They" in page
    assert "\n    Line 4 says nothing.\n" in page
    terminal.type("m 2")
    terminal.until("there is no answer 2: the question has 1")
    terminal.until(KEYS)
    terminal.type("s<<<<<<")
    terminal.until("Nothing would be left of the answer")
    terminal.until(KEYS)
    assert terminal.press_until_ended("\x03") == 130
    (moved,) = json.loads(file.read_text())["questions"][0]["metadata"]["review"]["moved_ends"]
    assert moved["text"] == f"## Refunds\n\n{REFUND} They are"
    terminal = at_terminal("set.json", "--corpus", "docs")
    assert "Answer, edited\n    docs/billing.md:5:1\n" in terminal.until(KEYS)
    terminal.type("e How many days?")
    page = terminal.until(KEYS)
    assert "How many days?\n  reworded; it was: How long?" in page
    assert "  ┃ ## Refunds\n" in page
    terminal.type("u")
    assert "Answer\n    docs/billing.md:7:1\n" in terminal.until(KEYS)
    assert "review" not in json.loads(file.read_text())["questions"][0]["metadata"]
    terminal.type("q")
    assert terminal.end() == 0
