"""A report as a file of HTML: it loads nothing, runs nothing, and shows the texts that the documents have."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.base.outside import harmless
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.report import Page, Table, whole_file, whole_page
from support import browser

ADDRESS = "http://127.0.0.1:9/taken"
NASTY = f"<script>document.title = 'taken'; fetch('{ADDRESS}')</script><img src='{ADDRESS}' onerror='x()'>"
HOSTILE = {
    "script.md": f"Before. {NASTY} Refunds take five days. </pre></main><style>body{{display:none}}</style> After.",
    "order.md": "Support \u202e helps\u2066 at once \x00 and \x1b[31m always.",
    "line.md": f"{'word ' * 40_000}Invoices come first. {'x' * 100_000}",
    "ids&<b>.md": "Parcels leave at noon & arrive later.",
}
TRUTH = {
    "refunds <script>alert(1)</script>?": ("script.md", f"{NASTY} Refunds take five days."),
    "support \u202e?": ("order.md", "helps\u2066 at once \x00 and"),
    "invoices": ("line.md", "Invoices come first."),
    "parcels": ("ids&<b>.md", "Parcels leave at noon"),
}


def hostile():
    corpus = rag.Corpus([rag.Document(rag.DocumentId(name), text) for name, text in HOSTILE.items()])
    entries = []
    for number, (question, (name, quote)) in enumerate(TRUTH.items()):
        start = HOSTILE[name].index(quote)
        span = rag.CharacterSpan(rag.DocumentId(name), start, start + len(quote), quote)
        entries.append(rag.TokenLevelGroundTruth(rag.Query(f"<i>{number}", question), [span]))
    dataset = rag.Dataset(entries, rag.TOKEN, name="<b>hostile</b>", corpus=corpus)

    def search(query, k):
        name, _ = TRUTH[query]
        return [{"doc_id": name, "start": 0, "end": min(len(HOSTILE[name]), 300)}][:k] if query != "parcels" else []

    return rag.evaluate(search, dataset, k=2, budgets=[], experiment_name=NASTY), corpus


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    dataset = load_handbook()
    made = [rag.evaluate(rag.BM25Retriever(rag.RecursiveCharacterChunker(size)), dataset, k=5) for size in (250, 800)]
    return [rag.load_result(run.save(folder / str(number))) for number, run in enumerate(made)]


@pytest.fixture(scope="module")
def pages(runs):
    from rag_evaluation_framework.report.pages.explanation import questions_page  # noqa: PLC0415

    result, corpus = hostile()
    shown = questions_page(result, result.scores.query_ids, corpus)
    return {
        "run": whole_page(runs[:1], 78),
        "comparison": whole_page(runs, 10),
        "hostile": Page(result.name, (*whole_page([result], 10).blocks, shown)),
    }


@pytest.mark.parametrize("name", ["run", "comparison", "hostile"])
def test_headings_are_in_order_links_lead_somewhere_and_the_policy_allows_the_style_by_its_hash(pages, name):
    text = whole_file(pages[name])
    marks = browser.Marks(text)
    assert marks.headings[0] == 1
    assert all(after <= before + 1 for before, after in zip(marks.headings, marks.headings[1:], strict=False))
    assert {link.removeprefix("#") for link in marks.links} <= marks.anchors
    assert marks.links or name == "hostile"

    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert "<script" not in text
    assert " style=" not in text
    assert '<html lang="en">' in text
    assert text.count("screen and (prefers-color-scheme: dark)") == text.count("prefers-color-scheme") == 2


def test_long_names_can_be_broken_where_their_parts_end_and_short_ones_are_kept_whole():
    named = Page("span_recall@5 of VectorRAGRetriever(chunk_size=2000)", (Table(("span_recall@5",), (("a/b&c",),)),))
    text = whole_file(named)
    assert ">span_recall@5 of VectorRAGRetriever(<wbr>chunk_<wbr>size=<wbr>2000)</h1>" in text
    assert ">span_<wbr>recall<wbr>@5</th>" in text
    assert ">a/<wbr>b&amp;c</th>" in text


def test_marked_text_is_that_of_the_dataset(runs):
    dataset = load_handbook()
    page = whole_page(runs[:1], 78)
    questions = next(block for block in page.blocks if isinstance(block, Page))
    shown = [block for block in questions.blocks if isinstance(block, Page)]
    assert len(shown) == len(dataset) == 78
    by_title = {block.title: block for block in shown}
    for entry in dataset.ground_truth:
        answers = next(
            block for block in by_title[" ".join(entry.query.text.split())].blocks if block.title == "Answers"
        )
        texts = [
            "".join(part.text for part in one.parts if part.role in ("found", "missed"))
            for one in getattr(answers, "passages", ())
        ]
        spans = [span for answer in entry.answers for place in answer.places for span in place]
        assert texts == [dataset.corpus[span.doc_id].content[span.start : span.end] for span in spans]


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium: apt-get install chromium")
@pytest.mark.parametrize("name", ["run", "comparison", "hostile"])
def test_in_a_browser_nothing_is_asked_for_and_no_script_runs(pages, name, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(whole_file(pages[name]), encoding="utf-8", errors="backslashreplace")
    found = browser.opened(file, tmp_path)
    assert found.asked == []
    assert found.complaints == []
    title = harmless(" ".join(pages[name].title.split()))
    assert re.search("<title>(.*?)</title>", found.dom)[1].startswith(
        title[:20].replace("<", "&lt;").replace(">", "&gt;")
    )
    marks = browser.Marks(found.dom).marks
    if name == "hostile":
        texts = "\n".join(text for _, text in marks)
        for _, quote in TRUTH.values():
            assert harmless(quote) in texts
    assert marks or name == "comparison"


@pytest.mark.slow
@pytest.mark.skipif(browser.CHROMIUM is None, reason="no Chromium: apt-get install chromium")
def test_what_a_page_asks_for_and_runs_is_seen(tmp_path):
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><title>mine</title>{NASTY}")
    found = browser.opened(file, tmp_path)
    assert ADDRESS in found.asked
    assert "<title>taken</title>" in found.dom


def test_a_page_says_which_questions_it_shows_and_what_it_cannot_show(runs, tmp_path):
    def told(some, most):
        return whole_page(some, most).blocks[-1].blocks[0].lines

    assert told(runs[:1], 78) == ()
    assert [line.text for line in told(runs[:1], 5)] == ["5 of 78 questions, the weakest first; --worst shows more"]
    assert [line.text for line in told(runs, 78)] == ["Those that got worse, in the second run"]
    assert re.fullmatch(r"1 of \d+ questions that got worse; --worst shows more", told(runs, 1)[0].text)
    assert (
        "marked where it was read or missed at the first cutoff, 5"
        in whole_page(runs, 1).blocks[-1].blocks[1].lines[0].text
    )

    alone = tmp_path / "report.json"
    alone.write_bytes((runs[0].folder / "report.json").read_bytes())
    text = whole_file(whole_page([rag.load_result(alone)], 10))
    assert "What was retrieved is not known: this is a report alone." in text
    result, _ = hostile()
    text = whole_file(whole_page([rag.load_result(result.save(tmp_path / "run"))], 10))
    assert "The documents are not shown: " in text
    assert "not read from a folder" in text


ROLES = ("found", "missed")


def test_of_a_budget_what_was_read_is_marked_and_what_is_behind_it_was_missed(tmp_path):
    texts = {"a.md": "x" * 90 + " Refunds take five days. ", "b.md": "y" * 60}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    corpus = rag.Corpus.from_folder(tmp_path)
    span = rag.CharacterSpan(rag.DocumentId("a.md"), 91, 114)
    dataset = rag.Dataset([rag.TokenLevelGroundTruth(rag.Query.from_text("When?"), [span])], rag.TOKEN, corpus=corpus)
    for budget, found, missed in (("100ch", "Refunds t", "ake five days."), ("60ch", "", "Refunds take five days.")):
        config = rag.EvaluationConfig(budgets=[budget])
        result = rag.run_experiment(
            rag.ExperimentConfig(lambda query, k: [texts["a.md"], texts["b.md"]], dataset, k=[], config=config)
        )
        page = whole_page([result], 1)
        (questions,) = [block for block in page.blocks if isinstance(block, Page)]
        (question,) = [block for block in questions.blocks if isinstance(block, Page)]
        answers, results = question.blocks[1:]
        parts = {role: "".join(part.text for part in answers.passages[0].parts if part.role == role) for role in ROLES}
        assert (parts["found"], parts["missed"]) == (found, missed)
        assert [one.note for one in results.passages] == ["cut by the budget"]  # the second result is behind the budget
