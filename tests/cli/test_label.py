"""`rag-eval label`, at a real terminal and through a pipe."""

import io
import json
import shlex
import sys

import pytest

pytest.importorskip("pty", reason="terminals of their own are made as Unix does")
from rag_evaluation_framework import Corpus, load_dataset
from support.terminal import Terminal

REFUND = "Refunds take five working days after they were approved."
FILE = ".rag-eval/datasets/docs.json"


@pytest.fixture
def docs(tmp_path):
    """A folder in which a sentence about refunds stands twice."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "billing.md").write_text(
        "# Billing\n\nInvoices are sent on the first day of the month.\n\n"
        f"## Refunds\n\n{REFUND} They are paid to the card.\n"
    )
    (tmp_path / "docs" / "faq.md").write_text(
        f"# Questions\n\nWhen do I get my money back?\n\n{REFUND.replace('days ', f'days{chr(10)}')}\n"
    )
    (tmp_path / "docs" / "agent.md").write_text("# Agent\n\nStop the agent, then remove its folder by hand.\n")
    return tmp_path / "docs"


@pytest.fixture
def piped(rag_eval, docs, monkeypatch):
    """Run `rag-eval label docs`, or of other documents, with these lines on standard input."""

    def run(*lines, options=(), data=None, corpus="docs"):
        given = "".join(f"{line}\n" for line in lines).encode() if data is None else data
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        return rag_eval("label", corpus, *options)

    return run


@pytest.fixture
def at_terminal(docs):
    """Run `rag-eval label docs` at a terminal; what is left of it when a test fails is ended."""
    opened = []

    def run(*options, **size):
        opened.append(Terminal("label", "docs", *options, folder=docs.parent, **size))
        return opened[-1]

    yield run
    for terminal in opened:
        if terminal.process.poll() is None:
            terminal.kill()


def read(docs):
    return load_dataset(docs.parent / FILE, corpus=Corpus.from_folder(docs))


def waiting(docs):
    return [label["query"]["query"] for label in json.loads((docs.parent / FILE).read_text()).get("skipped", [])]


def numbers_of(out, text):
    """Return the numbers of the shown passages that hold a text, in their order."""
    found, number = [], None
    for line in out.splitlines():
        if line[:2].strip().isdecimal() and line[2:4] == "  ":
            number = int(line[:2])
        elif number and text in line and line.startswith("    "):
            found.append(number)
    return found


def until_numbers(terminal):
    return terminal.until("? help")


# At a terminal


def test_a_typical_question_takes_at_most_six_keys_beyond_its_wording(at_terminal, docs):
    terminal = at_terminal()
    terminal.until("Question: ")
    terminal.type("How many working days does a refund take?")
    shown = until_numbers(terminal)
    number = numbers_of(shown, "paid to the card")[0]
    terminal.keys = 0
    terminal.type(number)
    terminal.until("Or type the words")
    terminal.type(2)
    terminal.until("is also in 1 other\nplace: docs/faq.md:5:1.")
    terminal.type("")
    terminal.until("Saved: 1 answer, at any of 2 places: “Refunds take")
    assert terminal.keys <= 6
    terminal.until("1 of 1 question labelled. Type the next question")
    assert terminal.press_until_ended("\x04") == 0
    assert f"1 of 1 question labelled in {FILE}. Next:" in terminal.text
    (entry,) = read(docs)
    (answer,) = entry.answers
    assert [place[0].text.split() for place in answer.places] == [REFUND.split()] * 2
    assert {place[0].doc_id for place in answer.places} == {"billing.md", "faq.md"}


def test_what_is_killed_at_any_moment_goes_on_and_ends_in_a_dataset_that_lint_and_run_take(rag_eval, at_terminal, docs):
    (docs.parent / "questions.csv").write_text(
        "question,team\nHow many working days does a refund take?,billing\nWhen are invoices sent?,billing\n"
        "How is the agent removed?,agent\n"
    )
    options = ("--questions", "questions.csv")
    terminal = at_terminal(*options)
    terminal.until("Every answer is saved at once.")
    terminal.until("3 questions added.")
    until_numbers(terminal)
    assert len(waiting(docs)) == 3
    terminal.type("0")
    terminal.until("Saved: nothing in the documents answers it.")
    until_numbers(terminal)
    terminal.type("1")
    terminal.until("Or type the words")
    terminal.kill()
    assert waiting(docs) == ["When are invoices sent?", "How is the agent removed?"]
    terminal = at_terminal(*options)
    terminal.until("Going on with")
    terminal.until("0 questions added; the dataset has the other 3 already.")
    for wording, text in (("When are invoices sent?", "Invoices are"), ("How is the agent removed?", "Stop the")):
        shown = until_numbers(terminal)
        assert f"labelled:\n{wording}\n" in shown
        terminal.type(numbers_of(shown, text)[0])
        terminal.until("Or type the words")
        terminal.type("2")
        terminal.until("Saved: 1 answer: “")
    terminal.until("3 of 3 questions labelled. Type the next question")
    terminal.type("b")
    until_numbers(terminal)
    terminal.type("b")
    until_numbers(terminal)
    terminal.type("b")  # to the first, which does have an answer
    shown = until_numbers(terminal)
    assert "Labelled: nothing in the documents answers it; s keeps that" in shown
    terminal.type(numbers_of(shown, "paid to the card")[0])
    terminal.until("Or type the words")
    terminal.type("2")
    terminal.until("x: no, only this place.")
    terminal.type("")
    terminal.until("Question: ")
    terminal.type("q")
    assert terminal.end() == 0
    printed = [line for line in terminal.text.splitlines() if line.startswith("  rag-eval ")]
    assert [shlex.split(line)[1] for line in printed] == ["label", "dataset", "run"]
    checked = rag_eval(*shlex.split(printed[1])[1:])
    assert (checked.code, checked.out.splitlines()[1:]) == (0, ["Nothing is wrong"])
    ran = rag_eval(*shlex.split(printed[2])[1:])
    assert ran.code == 0
    assert "span_recall" in ran.out


def test_ctrl_c_says_what_is_saved(at_terminal, docs):
    terminal = at_terminal()
    terminal.until("Question: ")
    terminal.type("When are invoices sent?")
    until_numbers(terminal)
    terminal.until("> ")
    assert terminal.press_until_ended("\x03") == 130
    assert f"interrupted: 0 of 1 question labelled in {FILE}; the same command goes on" in terminal.text
    assert waiting(docs) == ["When are invoices sent?"]


def test_words_that_are_pasted_with_line_breaks_are_one_line(at_terminal, docs):
    terminal = at_terminal()
    terminal.until("Question: ")
    terminal.type("When do I get my money back?")
    shown = until_numbers(terminal)
    terminal.type(numbers_of(shown, "money back")[0])
    terminal.until("Or type the words")
    terminal.send("\x1b[200~Refunds take five working days\nafter they\x1b[201~\r")
    terminal.until("x: no, only this place.")
    terminal.type("x")
    terminal.until("Saved: 1 answer: “")
    terminal.until("Question: ")
    terminal.type("q")
    assert terminal.end() == 0
    (entry,) = read(docs)
    assert entry.relevant[0].text == "Refunds take five working days\nafter they"


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_a_page_fits_the_terminal_and_more_shows_the_next(at_terminal, docs, columns, rows):
    for number in range(12):
        (docs / f"{number}.md").write_text(f"Refund number {number}. " + "It is paid in the end, as all of them. " * 9)
    terminal = at_terminal(columns=columns, rows=rows)
    terminal.until("Question: ")
    terminal.type("Which refund is paid?")
    terminal.until("0 labelled:")
    page = until_numbers(terminal)
    assert page.count("\n") + 2 <= rows
    assert max(map(len, page.splitlines())) <= columns
    first = [line for line in page.splitlines() if line[:2].strip().isdecimal()]
    assert len(first) == (5 if rows == 24 else 9)
    terminal.type("m")
    more = until_numbers(terminal)
    assert f"{len(first) + 1:<4}docs/" in more
    terminal.type("q")
    assert terminal.end() == 0


# Through a pipe


def test_lines_of_a_pipe_are_shown_and_its_end_stops_and_without_a_question_nothing_is_written(
    rag_eval, piped, docs, monkeypatch
):
    outcome = piped()
    assert outcome.code == 0
    assert "no question was asked, and nothing is written." in outcome.out
    with monkeypatch.context() as closed:
        closed.setattr(sys, "stdin", None)
        assert rag_eval("label", "docs").code == 0
    assert not (docs.parent / FILE).exists()
    outcome = piped("When are invoices sent?", "0", "Who is the chief?")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Question: When are invoices sent?\n" in outcome.out
    assert "> 0\n" in outcome.out
    assert f"1 of 2 questions labelled in {FILE}. Next:" in outcome.out
    assert f"rag-eval run --dataset {FILE} --corpus docs --allow-skipped 1" in outcome.out
    assert waiting(docs) == ["Who is the chief?"]


def test_two_numbers_are_two_answers_unless_they_overlap_and_a_slash_makes_one(piped, docs):
    shown = piped("Where is the agent, and when are invoices sent?").out
    agent, invoices = numbers_of(shown, "Stop the agent")[0], numbers_of(shown, "Invoices are")[0]
    both = piped(f"{agent} {invoices}", "2", "2")
    saved = " ".join(both.out.partition("Saved: ")[2].split())
    assert saved.startswith("2 answers: “Stop the agent, then remove its folder by hand.”, “Invoices are sent on")
    (entry,) = read(docs)
    assert [answer.reference[0].text[:4] for answer in entry.answers] == ["Stop", "Invo"]
    assert "; s keeps it" in piped("b", f"{agent}/{invoices}", "2", "2").out
    (entry,) = read(docs)
    ((one, other),) = [answer.places for answer in entry.answers]
    assert (one[0].text[:4], other[0].text[:4]) == ("Stop", "Invo")
    shown = piped("How is a refund paid, and when are invoices sent?").out
    refunds, invoices = numbers_of(shown, "paid to the card")[0], numbers_of(shown, "Invoices are")[0]
    assert "Choices that overlap are one answer." in piped(f"{refunds} {invoices}", "2-3", "approved. They are").out
    assert [span.text for span in read(docs).ground_truth[1].relevant] == [f"{REFUND} They are paid to the card."]


def test_the_copies_of_an_answer_can_be_declined_and_one_that_was_chosen_too_is_the_same_answer(piped, docs):
    shown = piped("How many working days does a refund take?").out
    first, second = numbers_of(shown, "paid to the card")[0], numbers_of(shown, "money back")[0]
    assert "Saved: 1 answer: “Refunds take" in piped(first, "2", "x").out
    (entry,) = read(docs)
    assert [span.doc_id for span in entry.labels] == ["billing.md"]
    joined = piped("b", first, "2", "y", "")
    assert "expected Enter, which takes all places, or x" in joined.out
    (entry,) = read(docs)
    assert [span.doc_id for span in entry.labels] == ["billing.md", "faq.md"]
    assert not entry.answers[1:]
    both = f"{first} {second}"
    assert "Saved: 1 answer, at any of 2 places: “" in piped("b", both, "2", "3", "").out
    assert "Saved: 2 answers: “" in piped("b", both, "2", "3", "x", "x").out


def test_the_keys_of_a_question_are_keys_where_a_passage_is_trimmed_and_copies_are_joined_too(piped, docs):
    shown = piped("How many working days does a refund take?").out
    number = numbers_of(shown, "paid to the card")[0]
    helped = piped(number, "?", "S").out
    assert "s later, b back, q stop, ? help" in " ".join(helped.split())
    assert "2-3      only sentences 2 and 3 are" in helped
    assert "0 of 1 question labelled. Type the next question" in helped
    assert waiting(docs) == ["How many working days does a refund take?"]
    refused = " ".join(piped(number, "a", "7", "Q", "0").out.split())
    assert "'a' is a single character; expected the number of a sentence, such as 2, or more words" in refused
    assert "Saved" not in refused
    assert "x        only the place that was chosen is" in piped(number, "2", "?", "s").out
    assert waiting(docs) == ["How many working days does a refund take?"]


def test_texts_of_documents_are_shown_shortened_and_harmless(piped, docs):
    (docs / "evil.md").write_text(
        f"# Evil\n\nThe \x1b[31mevil\x1b]0;x\x07 [bold]zebra[/bold]\n\u202e {'sleeps and ' * 40} wakes.\n"
    )
    shown = piped("Where is the zebra?").out
    assert "[bold]zebra[/bold]" in shown
    outcome = piped(numbers_of(shown, "zebra")[0], "")
    assert not {"\x1b", "\x07", "\u202e"} & {*shown, *outcome.out}
    saved = " ".join(outcome.out.partition("Saved: ")[2].partition("\n\n")[0].split())
    assert saved.startswith("1 answer: “The \N{REPLACEMENT CHARACTER}[31mevil\N{REPLACEMENT CHARACTER}")
    assert saved.endswith("…”.")
    assert len(saved) < 200


def test_messages_are_wrapped_at_words(at_terminal):
    terminal = at_terminal(columns=40)
    terminal.until("Question: ")
    terminal.type("x")
    told = terminal.until("before, q\nstops.")
    assert "That is no question. Type a question as\nsomebody would ask it; it is saved at\nonce." in told
    terminal.until("Question: ")
    terminal.type("q")
    assert terminal.end() == 0


def test_of_two_wordings_each_is_shown_with_its_own_copies(piped, docs):
    days, weeks = "Backups of all accounts are kept for thirty days.", "We keep what was backed up for about a month."
    for name, text in (("one", days), ("two", weeks), ("three", weeks)):
        (docs / f"{name}.md").write_text(f"# Backups, {name}\n\n{text}\n")
    shown = piped("How long are backups kept?").out
    numbers = "/".join(str(numbers_of(shown, text)[0]) for text in ("thirty days", "about a month"))
    kept = piped(numbers, days, weeks, "x").out
    assert f"“{weeks}” is also in 1 other place: docs/t" in kept
    assert f"“{days}” is also" not in kept
    (entry,) = read(docs)
    assert [len(answer.places) for answer in entry.answers] == [2]
    piped("b", numbers, days, weeks, "")
    (entry,) = read(docs)
    assert sorted(span.doc_id for span in entry.labels) == ["one.md", "three.md", "two.md"]


def test_copies_that_were_declined_are_not_asked_for_again(piped, docs):
    days = "Backups of all accounts are kept for thirty days."
    for name, before in (("one", "Short."), ("two", "Longer than that."), ("three", "As always.")):
        (docs / f"{name}.md").write_text(f"# Backups, {name}\n\n{before} {days} {name.capitalize()} again.\n")
    shown = piped("How long are backups kept?").out
    numbers = "/".join(map(str, numbers_of(shown, "thirty days")[:2]))
    told = piped(numbers, days, days, "x").out
    assert told.count("is also in") == 1
    (entry,) = read(docs)
    assert len(entry.labels) == 2


def test_wrong_input_says_what_is_wrong_and_is_asked_for_again(piped, docs):
    outcome = piped(
        "x", "", "?", "b", "When are invoices sent?", "f", "9", "one", "/", "b", "?", "1 1", "1", "7", "six", "b", "0"
    )
    told = [
        "That is no question.",
        "Nothing was typed.",
        "Type a question as somebody would ask it",
        "There is no question before this one.",
        "'' is not understood",
        "there is no passage 9: the last passage that was shown is",
        "'one' is not understood",
        "expected words behind the slash",
        "There is no question before this one.",
        "1/3      passage 1 does, and so does 3",
        "passage 1 is named twice",
        "7: there are sentences from 1 to",
        "'six' is not in",
        "Saved: nothing in the documents answers it.",
    ]
    at = 0
    for text in told:
        at = outcome.out.index(text, at) + 1
    assert outcome.code == 0


def test_other_words_find_other_passages_and_numbers_stay(piped, docs):
    shown = piped("Who?", "/agent folder", "m").out
    before, _, after = shown.partition("> /agent folder")
    assert numbers_of(after, "Stop the agent") == numbers_of(before, "Stop the agent")
    assert "There are no more passages for these words." in after


def test_a_question_that_is_left_for_later_comes_with_the_next_session(piped, docs):
    outcome = piped("When are invoices sent?", "s", "Who?", "0")
    assert "1 of 2 questions labelled. Type the next question" in outcome.out
    assert waiting(docs) == ["When are invoices sent?"]
    again = piped("0", "when are  invoices sent").out
    assert "Going on with" in again
    assert "2 of 2 questions labelled" in again
    assert "Question 2 of 2, 2 labelled:\nWhen are invoices sent?\nLabelled: nothing" in again


def test_a_mistyped_question_is_removed_at_once_unless_something_else_is_typed_also_the_only_one(piped, docs):
    outcome = piped("When are invoicess sent?", "d", "no", "D", "", "When are invoices sent?", "0")
    assert "Type a question, or q to stop." in outcome.out.partition("Removed")[2]
    stays, removed = outcome.out.index("The question stays."), outcome.out.index("Removed: this question.")
    assert outcome.out.index("Remove this question? Enter: yes. Anything else: no, it stays.") < stays < removed
    assert [entry.query.text for entry in read(docs)] == ["When are invoices sent?"]
    assert waiting(docs) == []
    labelled = piped("b", "d")
    assert "Remove this question and its label? Enter: yes." in labelled.out
    assert "1 of 1 question labelled in" in labelled.out
    outcome = piped("Who?", "s", "b", "b", "d", "", "q")
    assert "Removed: this question and its label." in outcome.out
    assert "0 of 1 question labelled in" in outcome.out
    assert waiting(docs) == ["Who?"]
    removed = piped("d", "")
    assert (removed.code, removed.out.splitlines()[-1]) == (0, f"{FILE} holds no question any more.")
    assert "labelled" not in piped("?").out


def test_documents_that_changed_are_told_or_refused(piped, docs):
    shown = piped("When are invoices sent?").out
    piped(numbers_of(shown, "Invoices are")[0], "2")
    text = (docs / "billing.md").read_text()
    (docs / "billing.md").write_text(f"New.\n\n{text}")
    assert "1 label: 0 unchanged, 1 moved." in piped("q").out
    (docs / "billing.md").write_text("# Nothing\n\nis as it was, neither here nor elsewhere.\n")
    refused = piped("q")
    assert refused.code == 2
    assert "rag-eval dataset update" in refused.err
    assert "Traceback" not in refused.err


def test_the_own_retriever_adds_passages_and_its_failure_is_told(piped, docs, monkeypatch):
    (docs.parent / "own.py").write_text(
        "def search(query, k):\n    print('noise')\n    return ['Stop the agent, then remove its folder by hand.']\n\n"
        "def broken(query, k):\n    raise RuntimeError('no \\x1b[31mindex')\n"
    )
    found = piped("Invoices?", "0", options=("--retriever", "own:search"))
    assert (found.code, found.err) == (0, f"importing own:search from {docs.parent / 'own.py'}\nnoise\n")
    assert "rag-eval label docs --retriever own:search" in found.out
    pool = read(docs).metadata["pools"][0]
    assert [retriever["type"] for retriever in pool["retrievers"]][:2] == ["bm25", "vector-rag"]
    assert "own:search" in json.dumps(pool["retrievers"][2])
    broken = piped("When?", "0", options=("--retriever", "own:broken"))
    assert broken.code == 0
    assert [len(pool["retrievers"]) for pool in read(docs).metadata["pools"]] == [3, 2]
    assert (
        "broken could not be asked, so its passages are missing: RuntimeError: no \N{REPLACEMENT CHARACTER}[31mindex"
        in (" ".join(broken.out.split()))
    )


def test_bytes_that_are_no_text_and_control_codes_are_asked_for_again(piped, docs):
    outcome = piped(data=b"Wh\xff?\n\x1b[DWhen?\nWhen?\n0\n")
    assert outcome.out.count("That holds control codes or bytes that are no UTF-8; type it again.") == 2
    assert [entry.query.text for entry in read(docs)] == ["When?"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--output", "set.csv"), "set.csv: expected a file name ending in .json or .jsonl"),
        (("--questions", "nowhere.csv"), "nowhere.csv"),
        (("--retriever", "nowhere:search"), "'nowhere' cannot be imported"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_asked(piped, docs, options, problem):
    outcome = piped("Why?", options=options)
    assert (outcome.code, outcome.out) == (2, "")
    assert problem in outcome.err
    assert not (docs.parent / ".rag-eval").exists()


@pytest.mark.parametrize(
    ("corpus", "options", "file", "commands"),
    [
        (
            "texts.yaml",
            (),
            ".rag-eval/datasets/texts.json",
            [
                "rag-eval label texts.yaml\n",
                "rag-eval dataset lint .rag-eval/datasets/texts.json --corpus texts.yaml\n",
                "rag-eval run texts.yaml --dataset .rag-eval/datasets/texts.json\n",
            ],
        ),
        (
            "docs",
            ("--output", "my set.jsonl"),
            "my set.jsonl",
            ["rag-eval label docs --output 'my set.jsonl'\n", "rag-eval dataset lint 'my set.jsonl' --corpus docs\n"],
        ),
    ],
    ids=["a configuration", "another output"],
)
def test_a_configuration_and_another_output_are_in_the_commands_that_follow(
    piped, docs, corpus, options, file, commands
):
    (docs / "a.txt").write_text("A text about invoices.")
    (docs.parent / "texts.yaml").write_text("corpus: docs\nglob: '*.txt'\n")
    outcome = piped("Invoices?", "1", "", corpus=corpus, options=options)
    assert all(command in outcome.out for command in commands)
    (entry,) = load_dataset(docs.parent / file)
    assert [span.doc_id for span in entry.relevant] == ["a.txt"]


def test_the_run_says_of_questions_that_are_not_labelled_how_to_go_on(rag_eval, piped, docs):
    shown = piped("When are invoices sent?", "s", "How is the agent removed?").out
    piped("s", numbers_of(shown.partition("agent removed?\n")[2], "Stop the agent")[0], "2")
    ran = rag_eval("run", "--dataset", FILE, "--corpus", "docs")
    assert ran.code == 2
    assert "some as nobody has labelled them yet: `rag-eval label` goes on with them" in ran.err
    linted = rag_eval("dataset", "lint", FILE, "--corpus", "docs")
    assert linted.code == 1
    assert "`rag-eval label` labels questions that are not labelled yet" in " ".join(linted.out.split())


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_a_passage_is_shown_in_full_on_one_page_and_enter_shows_the_list_again(at_terminal, docs, columns, rows):
    around = "".join(f"Line {number} says nothing.\n\n" for number in range(60))
    row = "| refund | " + "five working days and then some " * 9 + "|"
    (docs / "long.md").write_text(
        f"# Plans\n\n{around}## Table\n\n| what | how long |\n|---|---|\n{row}\n\n## End\n\n{around}"
    )
    terminal = at_terminal(columns=columns, rows=rows)
    terminal.until("Question: ")
    terminal.type("five working days and then some")
    terminal.until("0 labelled:")
    number = numbers_of(until_numbers(terminal), "and then some")[0]
    terminal.type(f"f {number}")
    page = until_numbers(terminal)
    assert f"\n{number:<4}docs/long.md:" in page
    assert page.count("\n") + 1 <= rows
    marked = "".join(line[4:] for line in page.splitlines() if line.startswith("  ┃ "))
    assert "| what | how long ||---|---|| refund |" in marked
    assert marked.replace(" ", "").endswith("andthensome|")
    assert "    Line 59 says nothing.\n" in page
    assert "    ## End\n" in page
    terminal.type("")
    assert number in numbers_of(until_numbers(terminal), "and then some")
    terminal.type("q")
    assert terminal.end() == 0


def test_what_update_lost_is_labelled_again_by_the_command_that_it_names(rag_eval, piped, docs, monkeypatch):
    piped(
        "How often?",
        "2",
        "invoices are sent on the first day",
        "How many working days does a refund take?",
        "1",
        REFUND,
        "x",
    )
    assert len(read(docs)) == 2
    billing = docs / "billing.md"
    billing.write_text(billing.read_text().replace("on the first day", "on the second day"))
    said = rag_eval("dataset", "update", FILE, "--corpus", "docs").out
    named = next(line for line in said.splitlines() if line.startswith("  rag-eval label "))
    assert shlex.split(named) == ["rag-eval", "label", "docs", "--output", FILE]
    lines = b"1\nInvoices are sent on the second day\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines), encoding="utf-8"))
    outcome = rag_eval(*shlex.split(named)[1:])
    asked = "Question 2 of 2, 1 labelled:\nHow often?\nIts label “Invoices are sent on the first day” was lost"
    assert asked in outcome.out
    assert numbers_of(outcome.out, "the second day") == [1]
    assert f"2 of 2 questions labelled in {FILE}. Next:" in outcome.out
    texts = {" ".join(entry.relevant[0].text.split()) for entry in read(docs)}
    assert texts == {"Invoices are sent on the second day", REFUND}
    assert read(docs).incomplete == ()
