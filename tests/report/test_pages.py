"""Every page in every notation: narrow terminals, Markdown and HTML, whatever the texts of others on it."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

import rag_evaluation_framework as rag
from rag_evaluation_framework import report
from rag_evaluation_framework.analysis.attribution import Attribution
from rag_evaluation_framework.authoring.models import Estimate, FailedRequests, Funnel, Rejection
from rag_evaluation_framework.components.providers import ModelUsage
from rag_evaluation_framework.data import Skipped
from rag_evaluation_framework.datasets.checks import dataset_quality, describe_dataset, lint_dataset, public_questions
from rag_evaluation_framework.labels import Additions, QuoteCheck, relabel
from rag_evaluation_framework.report.blocks import Bar, Page, Part, Table, drawn, excerpt
from rag_evaluation_framework.runs import GateVerdict
from support import browser
from support.each import each
from support.poison import HARMFUL, POISON

TEXT = f"Refunds take five working days in all countries. {POISON}\nInvoices come first. {POISON * 2}"


@pytest.fixture(scope="module")
def pages():
    corpus = rag.Corpus([rag.Document(rag.DocumentId(POISON), TEXT)], metadata={"source": POISON})
    edited = rag.Corpus(
        [rag.Document(rag.DocumentId(POISON), TEXT.replace("five", f"six {POISON}"))], metadata={"source": POISON}
    )
    spans = [rag.CharacterSpan(POISON, start, start + 48, TEXT[start : start + 48]) for start in (0, 0, len(TEXT) - 60)]
    entries = [
        rag.TokenLevelGroundTruth(rag.Query(f"{POISON}{n}", POISON, {POISON: POISON}), spans[n:]) for n in (0, 1)
    ]
    skipped = [Skipped(rag.Query("s", POISON), POISON, POISON)]
    dataset = rag.Dataset(entries, rag.TOKEN, name=POISON, metadata={POISON: POISON}, corpus=corpus, skipped=skipped)
    found = relabel(dataset, edited)
    added = Additions(dataset, dataset.queries, dataset.queries[:1], (), (), QuoteCheck(POISON, corpus, (), ()))
    name = POISON.replace("\ud800", "")  # with half of a pair none is one
    first, second = (
        rag.evaluate(rag.BM25Retriever(rag.RecursiveCharacterChunker(size)), dataset, experiment_name=f"{size} {name}")
        for size in (60, 200)
    )
    verdict = GateVerdict(POISON, POISON, "failed", POISON)
    funnel = Funnel(9, 7, 5, 3, {"parsed": {POISON: 2}}, {POISON: 1})
    usage = [ModelUsage(POISON, POISON, requests=3)]
    failed = [FailedRequests(POISON, POISON, 500, (POISON,))]
    rejected = [Rejection("parsed", POISON, f"{POISON}{n}", POISON, [POISON]) for n in range(3)]
    counts = dict.fromkeys(("questions", "no_answer", "repeated", "contradicted"), 1)
    counts |= dict.fromkeys(("queries_not_ranked", "queries_not_judged", "ties_or_duplicates"), 0)
    rankings = [(f"{POISON}{n}", first.scores, counts) for n in range(2)]
    judgements = {"judgements": 2, "repeated": 1}
    made = {
        "result": replace(first, gates=(verdict,)).summary(),
        "questions": report.questions_page(first, first.scores.query_ids, corpus),
        "whole": report.whole_page([first], 9),
        "comparison": first.compare(second).summary(),
        "leaderboard": rag.compare(first, second, second).summary(),
        "explanation": first.explain(first.scores.query_ids[0], corpus=corpus).summary(),
        "losses": Attribution.of(first, corpus=corpus).summary(),
        "demo": report.demo_page(corpus, 2, [first, second]),
        "dataset": report.dataset_page(describe_dataset(dataset, corpus)),
        "quality": report.quality_page(dataset_quality(dataset, corpus), public_questions()),
        "lint": lint_dataset(dataset, corpus).summary(),
        "lint without documents": lint_dataset(replace(dataset, corpus=None)).summary(),
        "update": report.update_page(found, edited, added, [POISON]),
        "generation": report.generation_page(funnel, rejected, failed, usage, 2, [POISON]),
        "estimate": report.estimate_page(Estimate(2, 9, 3000, 400, 0.5)),
        "rankings": report.rankings_page(POISON, judgements, rankings, per_query=True),
    }
    assert [*made] == [*NAMES]
    return made


NAMES = (
    *("result", "questions", "whole", "comparison", "leaderboard", "explanation", "losses", "demo", "dataset"),
    *("quality", "lint", "lint without documents", "update", "generation", "estimate", "rankings"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_shown_in_every_notation_and_nothing_of_it_acts(pages, name):
    page = pages[name]
    text, markdown, html = page.as_text(60), page.as_markdown(), report.whole_file(page)
    for shown in (text, markdown, html, page.as_html()):
        assert not HARMFUL.search(shown.replace("\t", " "))
        assert "poison" in shown or name == "estimate"
    assert max(map(cell_len, text.splitlines())) <= 60
    wide = " ".join(page.as_text(400).split())
    for markup in ("[bold]b[/bold]", ":smile:"):  # is shown as it is, but where a text is cut
        assert wide.count(markup) >= wide.count("poison") - (name == "dataset"), markup
    facts = [{*re.findall(r"\d+", shown)} for shown in (text, re.sub("<style>.*?</style>", "", html, flags=re.DOTALL))]
    assert facts[0] <= facts[1]
    marks = browser.Marks(html)
    assert marks.headings[0] == 1
    assert all(after <= before + 1 for before, after in zip(marks.headings, marks.headings[1:], strict=False))
    assert "<script" not in html
    assert markdown.startswith("# ")


@each(("share", "text"), [(0.5, "━━━━━    "), (1.0, "━━━━━━━━━"), (0.0, "         "), (0.01, "━        ")])
def test_a_share_is_a_bar_from_0_without_an_interval(share, text):
    assert drawn(Bar(share), (0.0, 1.0), 9) == text
    table = Table(("cause", "lost"), (("rank", f"{share:.3f}"),), "Lost", bars=(Bar(share),), scale=(0.0, 1.0))
    shown = Page("a", (table,)).as_html()
    assert f'aria-label="{share:.3f}"' in shown
    assert "interval" not in shown


def test_what_is_around_a_passage_ends_at_words_if_there_are_some():
    found = excerpt("one two three four five", 8, 13, 6, [Part("three")])
    assert [part.text for part in found] == ["… two ", "three", " four …"]
    found = excerpt("山" * 40, 10, 12, 5, [Part("x")])
    assert [part.text for part in found] == ["… 山山山山山", "x", "山山山山山 …"]
