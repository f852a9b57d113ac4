"""What a check of a dataset finds: of each kind, a dataset that has it, and one that nearly has it and does not."""

from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
    generate_chunk_id,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Answer, Chunk, Skipped
from rag_evaluation_framework.datasets.checks import lint_dataset
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.labels import relabel
from rag_evaluation_framework.text.terms import words

FIRST, SECOND = "Invoices are sent on the first day.", "Refunds take five working days in all countries."
SPLIT = SECOND.replace("five working", "five\nworking")
PAGE = f"# Billing\n\n{FIRST} {SECOND} Write to us.\n"


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def question(wording, *labels, query_id=None, metadata=None):
    """A question with labels: texts of PAGE, or spans."""
    query = Query.from_text(wording)
    query = Query(query_id or query.id, query.text, metadata or {})
    return TokenLevelGroundTruth(
        query, [label if isinstance(label, CharacterSpan) else span(label) for label in labels]
    )


def span(text, page=PAGE, name="a.md"):
    start = page.index(text)
    return CharacterSpan(DocumentId(name), start, start + len(text), text)


def lint(*questions, corpus=None, skipped=(), **options):
    return lint_dataset(Dataset(questions, TOKEN, skipped=skipped), corpus or corpus_of(a=PAGE), **options)


def found(report, kind):
    return [finding for finding in report.findings if finding.kind == kind]


def kinds(report):
    return list(report.counts)


@pytest.mark.parametrize(
    ("edited", "where", "what"),
    [
        (
            PAGE.replace("take five", "took five"),
            "a.md:3:37",
            "is “Refunds take five working days in all countries.” in the dataset, "
            "“Refunds took five working days in all countries.” in the document",
        ),
        (PAGE[:40], "a.md[47:95]", "ends at character 95, the document at 40"),
        (PAGE.replace("five working", "five\nworking"), None, None),
    ],
    ids=["another word", "beyond the end", "white space only"],
)
def test_a_label_whose_text_differs_is_told_with_the_first_word_that_does_and_its_place(edited, where, what):
    findings = lint(question("How long?", SECOND), corpus=corpus_of(a=edited)).findings
    told = [(finding.kind, finding.severity, finding.where, finding.what) for finding in findings]
    assert told == ([("text differs", "error", where, what)] if what else [])
    assert all("dataset update" in finding.advice for finding in findings)


def test_a_label_in_a_document_that_the_corpus_lacks_is_told_and_one_named_by_its_stem_is_not():
    stranger, stem = span(FIRST, name="b.md"), span(FIRST, name="a")
    report = lint(question("When?", stranger), question("At what time?", stem))
    (finding,) = report.findings
    assert (finding.kind, finding.query.text, finding.where) == ("document missing", "When?", "b.md[11:46]")
    assert "(glob)" in finding.advice


MARKS = "a  b\n\n---\n\n<br> &nbsp;\n\n**x** [y](z.md)\n"
STRUCK = "It lasts ~~thirty days~~ fourteen days.\n\n<p><del>thirty days</del> ten days</p>\n"
BLANK = ("blank label", "error", "holds no text, or nothing but white space")
ENDS = "“{}” has white space at its ends: {} and {} characters"
OVERLAP = "shares {} characters with the label at {}"
RAW = ".. raw:: html\n\n   <p>Search the list archives</p>\n"


PRICE, HIDDEN = "The price was 12 euros.", "One.\n\n<!-- The price was 12 euros. -->\n"


@pytest.mark.parametrize(
    ("name", "page", "label", "kind", "how"),
    [
        ("a.md", MARKS, "---", "not shown", "has no letter and no digit"),
        ("a.md", MARKS, "<br> &nbsp;", "not shown", "is hidden (tags)"),
        ("a.md", MARKS, "**x**", None, ""),
        ("a.md", MARKS, "[y](z.md)", None, ""),
        ("a.md", HIDDEN, PRICE, "not shown", "is hidden (comments)"),
        ("a.md", f"---\ntitle: {PRICE}\n---\n\nOne.\n", PRICE, "not shown", "is hidden (front matter)"),
        ("a.md", "One [page](https://price.org).\n", "https://price.org", "not shown", "is hidden (links)"),
        ("a.rst", f"One.\n\n.. {PRICE}\n", PRICE, "not shown", "is hidden (comments)"),
        ("a.rst", f"One.\n\n.. code::\n\n   {PRICE}\n", PRICE, None, ""),
        ("a.rst", RAW, "<p>Search the list archives</p>", None, ""),
        ("a.txt", HIDDEN, PRICE, None, ""),
        ("a.md", "The `price` was <!-- only --> 12 euros.\n", "price` was <!-- only --> 12", None, ""),
        ("a.md", STRUCK, "~~thirty days~~", "struck out", "is struck out"),
        ("a.md", STRUCK, "thirty days", "struck out", "is struck out"),
        ("a.md", STRUCK, "~~thirty days~~ fourteen days", "struck out", "is struck out in part"),
        ("a.md", STRUCK, "It lasts ~~thirty days", "struck out", "is struck out in part"),
        ("a.md", STRUCK, "fourteen days", None, ""),
        ("a.md", STRUCK, "<del>thirty days</del> ten days", "struck out", "is struck out in part"),
        ("a.txt", STRUCK, "~~thirty days~~", None, ""),
    ],
)
def test_a_label_that_readers_are_not_shown_or_see_struck_out_is_told_with_why(name, page, label, kind, how):
    report = lint(question("How much?", span(label, page, name)), corpus=Corpus([Document(DocumentId(name), page)]))
    told = [(finding.kind, finding.severity, finding.what) for finding in report.findings]
    assert told == ([(kind, "warning", f"“{label}” {how}")] if kind else [])


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([span("  ", MARKS, "marks.md"), CharacterSpan(DocumentId("marks.md"), 3, 3)], [BLANK, BLANK]),
        ([f" {SECOND}"], [("white space", "info", ENDS.format(SECOND, 1, 0))]),
        ([FIRST, FIRST], [("labelled twice", "warning", "is given 2 times")]),
        ([FIRST, "sent on the first day. Refunds"], [("labels overlap", "warning", OVERLAP.format(22, "a.md:3:1"))]),
        ([FIRST, SECOND], []),
        ([FIRST, " Refunds take five"], [("white space", "info", ENDS.format("Refunds take five", 1, 0))]),
        (
            [PAGE[11:90], PAGE[12:19], PAGE[60:69]],  # a third begins between two
            [("labels overlap", "warning", OVERLAP.format(size, "a.md:3:1")) for size in (7, 9)],
        ),
    ],
    ids=["blank", "white space", "twice", "overlap", "apart", "touch", "within"],
)
def test_labels_that_are_blank_repeated_overlapping_or_padded_are_told_and_labels_that_touch_are_not(labels, told):
    report = lint(question("When?", *labels), corpus=corpus_of(a=PAGE, marks=MARKS))
    assert [(finding.kind, finding.severity, finding.what) for finding in report.findings] == told
    assert report.problems == tuple(finding for finding in report.findings if finding.severity != "info")


@pytest.mark.parametrize(
    ("one", "other", "is_told"),
    [
        ("When do they come?", "when do they come?", True),
        ("When do they come?", "When do  they\ncome", True),
        ("When do they come?", "“When do they come”?", True),
        ("When do they come?", "WHEN do they come ?", True),
        ("What's sent?", "What’s sent?", True),
        ("What is C?", "What is C#?", False),
        ("Is it 5?", "Is it -5?", False),
        ("C++ 1.5", "C++ 15", False),
        ("What is .NET?", "What is NET?", False),
        ("Why __init__?", "Why init?", False),
        ("What is ()?", "What is []?", False),
    ],
)
def test_a_question_is_asked_twice_whatever_its_case_and_punctuation_but_for_symbols_of_a_word(one, other, is_told):
    findings = lint(question(one, FIRST), question(other, FIRST, query_id="again")).findings
    told = [(finding.kind, finding.severity, finding.query.id) for finding in findings]
    assert told == ([("asked twice", "warning", "again")] if is_told else [])
    assert all(Query.from_text(one).id in finding.what for finding in findings)


def test_the_same_wording_with_other_labels_or_gains_is_an_error_and_each_question_is_compared_with_all():
    entries = [
        question("When?", FIRST, SECOND, query_id="one"),
        question("When", SECOND, query_id="two"),
        question("when?", SECOND, FIRST, query_id="three"),
        question("when", SECOND, query_id="four"),
    ]
    assert [(found.severity, found.kind, found.query.id, found.what) for found in lint(*entries).findings] == [
        ("error", "other truth", "two", "is worded as one “When?”, which has other labels"),
        ("warning", "asked twice", "three", "is asked with the same truth as one"),
        ("warning", "asked twice", "four", "is asked with the same truth as two"),
    ]
    graded = [
        DocumentLevelGroundTruth(Query("one", "When?"), ["a.md"], gains={"a.md": 2.0}),
        DocumentLevelGroundTruth(Query("two", "When?"), ["a.md"]),
    ]
    assert kinds(lint_dataset(Dataset(graded, DOCUMENT))) == ["other truth"]


SHORT_WORDS = "a b c d e f g h internationalization, and a lot of other different words beside these."
UNSPACED = "請求書は毎月一日に送られます返金には五営業日かかりますのでお待ちください"
LONG = f"{UNSPACED}。{'それ以外' * 20}ほかの文字列あいうえおかきくけこさしすせそたちつてとなにぬねの"
EIGHT = "repeats 8 words in a row of its answer: "


@pytest.mark.parametrize(
    ("asked", "answer", "what"),
    [
        (
            "Do Refunds take five working days in all countries, really?",
            SECOND,
            f"{EIGHT}“refunds take five working days in all countries”",
        ),
        ("Do Refunds take five working days in all of the world, really?", f"{FIRST} {SECOND}", None),
        (
            "Is a b c d e f g h z, or b c d e f g h internationalization?",
            SHORT_WORDS,
            f"{EIGHT}“b c d e f g h internationalization”",
        ),
        (
            "In which countries do refunds take five days of working?",
            SECOND,
            "holds 6 of the 6 content words of its answer",
        ),
        ("In which countries do refunds take days of working?", SECOND, None),
        ("Which agent restarts servers?", "The agent restarts servers.", None),
        (f"{UNSPACED[:12]}か", LONG, None),
        (f"{UNSPACED[:22]}か", LONG, f"repeats 23 words in a row of its answer: “{' '.join(UNSPACED[:22])} か”"),
    ],
    ids=[
        *("eight words", "seven words", "a longer run within one of short words", "nine in ten content words"),
        *("fewer of them", "three by chance", "a script without spaces", "as long as eight words"),
    ],
)
def test_a_question_that_repeats_its_answer_copies_it(asked, answer, what):
    findings = lint(question(asked, span(answer, answer)), corpus=corpus_of(a=answer)).findings
    told = [(finding.kind, finding.severity, finding.what) for finding in findings]
    assert told == ([("copies its answer", "warning", what)] if what else [])


def test_other_places_of_an_answer_are_listed_up_to_white_space_and_markup():
    page = PAGE.replace("five working", "**five** [working](work.md)")
    quoted = f"Intro.\n\n> {SECOND.replace('days in', 'days' + chr(10) + '> in')}\n"
    corpus = Corpus(
        [
            *corpus_of(a=PAGE, b=page, c=quoted, d=f"One.\n\n<!-- {SECOND} -->\n"),
            Document(DocumentId("e.md"), f"<p>{SECOND.replace('five', '<b>five</b>')}"),
            Document(DocumentId("f.txt"), SECOND.replace("five", "**five**")),
            Document(DocumentId("g.md"), f"Intro.\n{SPLIT}\n"),
        ]
    )
    (finding,) = lint(question("How long?", SECOND), corpus=corpus).findings
    assert (finding.kind, finding.severity, finding.where) == ("answer elsewhere", "warning", "a.md:3:37")
    # readers are not shown that of d.md, retrievers are
    assert sorted(finding.places) == ["b.md:3:37", "c.md:3:3", "d.md:3:6", "e.md:1:4", "g.md:2:1"]
    marked = page[page.index("Refunds") : page.index(" Write")]
    (finding,) = lint(question("How long?", span(marked, page, "b.md")), corpus=corpus_of(a=PAGE, b=page)).findings
    assert (finding.kind, finding.places) == ("answer elsewhere", ("a.md:3:37",))
    assert finding.what.endswith("also stands in 1 other place: a.md:3:37")


def test_a_place_that_the_question_labels_or_that_says_something_else_or_hardly_anything_is_no_other_one():
    page = PAGE.replace("five working", "**five** [working](work.md)")
    marked = page[page.index("Refunds") : page.index(" Write")]
    entry = question("How long?", SECOND, span(marked[:-1], page, "b.md"))
    assert lint(entry, corpus=corpus_of(a=PAGE, b=page)).findings == ()
    both = question("How long?", SECOND, CharacterSpan(DocumentId("b.md"), 0, 7 + len(SPLIT)))
    assert lint(both, corpus=corpus_of(a=PAGE, b=f"Intro.\n{SPLIT}\n")).findings == ()
    for other in ("take fivefold **working**", "Take **five** working", "take ~~five~~ working"):
        changed = PAGE.replace("take five working", other)
        assert lint(question("How long?", SECOND), corpus=corpus_of(a=PAGE, b=changed)).findings == (), other
    short = question("What to do?", "Write to us.")
    assert lint(short, corpus=corpus_of(a=PAGE, b="Write to us.")).findings == ()


def test_of_a_text_in_many_places_the_first_twenty_are_found():
    corpus = corpus_of(a=PAGE, **{f"copy{number}": SECOND for number in range(40)})
    (finding,) = lint(question("How long?", SECOND), corpus=corpus).findings
    assert len(finding.places) == 19
    assert "in at least 19 other places: copy0.md:1:1, copy1.md:1:1, copy2.md:1:1 and 16 more" in finding.what


def test_what_is_not_checked_without_the_corpus_or_the_text_of_a_label_is_said_and_that_of_the_dataset_is_used():
    report = lint_dataset(Dataset([question("How long?", SECOND)], TOKEN))
    assert kinds(report) == []
    assert report.not_checked == (
        "whether labels match their documents, and where else their texts stand: needs the corpus",
    )
    silent = CharacterSpan(DocumentId("a.md"), 11, 46)
    report = lint_dataset(Dataset([question("When?", silent)], TOKEN), corpus_of(a=PAGE))
    assert report.not_checked == ("whether 1 label without a text are where they were: nobody knows what they quoted",)
    report = lint_dataset(Dataset([question("When?", silent)], TOKEN, corpus=corpus_of(a=PAGE, b=SECOND + FIRST)))
    assert (kinds(report), report.not_checked) == (["answer elsewhere"], ())


@pytest.mark.parametrize(
    ("answers", "budget", "what"),
    [
        ([span(FIRST), span(SECOND)], "82ch", "its answer has 83 characters: span_recall@82ch is at most 0.98"),
        ([span(FIRST), span(SECOND)], "83ch", None),
        ([span(FIRST), span(FIRST[:20])], "35ch", None),
        ([span(f"{FIRST} {SECOND}")], "50ch", "its answer has 84 characters: span_recall@50ch is at most 0.59"),
        ([Answer.any_of(span(f"{FIRST} {SECOND}"), span(FIRST))], "50ch", None),
    ],
    ids=["too long", "as long", "what overlaps counts once", "one that is too long", "the shortest place counts"],
)
def test_an_answer_longer_than_the_budget_has_a_bound_on_its_recall_that_is_rounded_down(answers, budget, what):
    report = lint(TokenLevelGroundTruth(Query.from_text("When?"), answers), budget=budget)
    assert [finding.what for finding in found(report, "too long")] == ([what] if what else [])


def test_questions_without_an_answer_are_counted_and_are_an_error_if_there_are_no_others():
    report = lint(question("When?", FIRST), question("Who?"))
    assert [(finding.kind, finding.severity, finding.what) for finding in report.findings] == [
        ("no answer", "info", "1 of 2 questions has no answer in the corpus")
    ]
    assert report.problems == ()
    (finding,) = lint(question("Who?")).findings
    assert (finding.kind, finding.severity) == ("no answers", "error")
    alike = question("When?", FIRST), question("Who?", query_id="one"), question("Who?", query_id="two")
    assert kinds(lint(*alike)) == ["asked twice", "no answer"]


def test_skipped_labels_are_told_one_by_one():
    label = Skipped(Query.from_text("Why?"), "Because of\nthat.", "missing: nothing similar")
    report = lint(question("When?", FIRST), skipped=[label])
    (finding,) = report.findings
    assert (finding.kind, finding.query.text, finding.what) == (
        "skipped",
        "Why?",
        "“Because of that.”: missing: nothing similar",
    )
    assert str(report).startswith("dataset: 1 question checked\n1 warning, in 1 skipped question\n")
    report = lint(question("When?", FIRST), question("when", FIRST, query_id="q"), skipped=[label])
    assert "\n2 warnings, in 1 question and 1 that is skipped\n" in str(report)


def test_why_a_question_is_skipped_is_told_for_the_documents_as_they_are_now():
    asked = question("When?", FIRST), question("Both?", FIRST, SECOND)
    dataset = Dataset(asked, TOKEN, corpus=corpus_of(a=PAGE))
    lost = relabel(dataset, corpus_of(b="Nothing of it.")).dataset
    quoted = Skipped(Query.from_text("Why?"), "Because.", "missing: nothing similar")
    lost = replace(lost, skipped=[quoted, *lost.skipped])
    again = "is there again; `rag-eval dataset update` takes the question back"
    assert [finding.what for finding in found(lint_dataset(lost, corpus_of(a=PAGE)), "skipped")] == [
        "“Because.”: missing: nothing similar",
        f"“{FIRST}” {again}",
        f"“{FIRST}” {again}",
        f"“{SECOND}” {again}",
    ]
    edited = corpus_of(a=PAGE.replace(SECOND, "Gone."))
    assert [finding.what for finding in found(lint_dataset(lost, edited), "skipped")] == [
        "“Because.”: missing: nothing similar",
        f"“{SECOND}”: changed in a.md",
        f"“{FIRST}” {again}",
    ]
    assert all(": gone from a.md" in finding.what for finding in found(lint_dataset(lost), "skipped")[1:])


def test_in_the_documents_in_which_a_question_was_lost_it_is_told_why_as_then():
    edited = corpus_of(a=PAGE.replace(SECOND, "Gone."))
    updated = relabel(Dataset([question("How long?", SECOND)], TOKEN, corpus=corpus_of(a=PAGE)), edited).dataset
    told = [replace(label, reason="as was told then") for label in updated.skipped]
    asked = replace(updated, ground_truth=[question("When?", FIRST)], skipped=told, corpus=None)
    for known, expected in ((edited.content_hash, "as was told then"), (None, "changed in a.md")):
        lost = replace(asked, corpus_hash=known)
        (finding,) = found(lint_dataset(lost, edited), "skipped")
        assert finding.what == f"“{SECOND}”: {expected}"


def test_documents_and_prefixes_that_the_corpus_lacks_and_blank_documents_are_told():
    entries = [
        DocumentLevelGroundTruth(Query.from_text("When?"), ["a.md", "a", "b.md", "a"], ["c/"]),
        DocumentLevelGroundTruth(Query.from_text("Who?"), ["blank.md"], ["a"]),
    ]
    report = lint_dataset(Dataset(entries, DOCUMENT), corpus_of(a=PAGE, blank=" \n"))
    assert [finding.what for finding in found(report, "document missing")] == [
        "the corpus has no document 'b.md'",
        "the corpus has no document whose id begins with 'c/'",
    ]
    assert [finding.what for finding in found(report, "labelled twice")] == ["'a' is given 2 times"]
    assert [finding.what for finding in found(report, "blank label")] == ["the document 'blank.md' is blank"]
    assert len(report.findings) == 4
    report = lint_dataset(Dataset(entries, DOCUMENT))
    assert kinds(report) == ["labelled twice"]
    assert report.not_checked[0] == "whether there are such documents: needs the corpus"


def test_chunks_are_compared_with_those_that_were_labelled_and_their_texts_are_read():
    chunks = [Chunk(generate_chunk_id(text), text, DocumentId("a.md")) for text in (FIRST, SECOND, " \n")]
    copied = "Do refunds take five working days in all countries?"
    entries = [
        ChunkLevelGroundTruth(Query.from_text("When?"), [chunks[0].id]),
        ChunkLevelGroundTruth(Query.from_text(copied), [chunks[1].id]),
        ChunkLevelGroundTruth(Query.from_text("Why?"), [chunks[2].id, "chunk_000000000000"]),
    ]
    dataset = Dataset(entries, CHUNK)
    report = lint_dataset(dataset, registry=ChunkRegistry(chunks), k=1)
    assert [(finding.kind, finding.query.text) for finding in report.findings] == [
        ("chunk missing", "Why?"),
        ("blank label", "Why?"),
        ("copies its answer", copied),
        ("too long", "Why?"),
    ]
    assert found(report, "too long")[0].what == "it has 2 relevant units: recall@1 is at most 0.50"
    report = lint_dataset(dataset)
    assert (report.findings, len(report.not_checked)) == ((), 1)


def test_the_report_says_that_nothing_is_wrong_or_shows_ten_findings_of_a_kind_and_its_record_has_all():
    report = lint(question("When do bills come?", FIRST), question("How long?", SECOND))
    assert (report.findings, report.not_checked) == ((), ())
    assert str(report) == "dataset: 2 questions checked\nNothing is wrong"
    report = lint(
        *(question("When?", span(SECOND[:10])), *(question("When?", FIRST, query_id=f"q{n}") for n in range(30)))
    )
    text = str(report)
    assert text.splitlines()[:4] == [
        "dataset: 31 questions checked",
        "1 error and 29 warnings, in 30 questions",
        "",
        "error: other truth (1)",
    ]
    assert text.endswith("\n  … and 19 more; --json lists all of them")
    record = report.record()
    assert len(record["findings"]) == 30
    assert record["counts"] == {"other truth": 1, "asked twice": 29}
    assert repr(report) == "LintReport('dataset', questions=31, findings=30)"


@pytest.mark.parametrize(
    "options", [{"budget": "100tok"}, {"budget": "5"}, {"k": "10ch"}, {"budget": "many"}, {"k": 0}]
)
def test_what_is_no_budget_in_characters_and_no_number_of_results_is_refused(options):
    with pytest.raises(ConfigError):
        lint(question("When?", FIRST), **options)


def longest_common_run(one, other):
    """The most words in a row that two texts share: brute force."""
    one, other = words(one, None), words(other, None)
    lengths = [0] * (len(other) + 1)
    longest = 0
    for word in one:
        lengths = [0, *(before + 1 if word == there else 0 for before, there in zip(lengths, other, strict=False))]
        longest = max(longest, *lengths)
    return longest


@pytest.fixture(scope="module")
def public(shared):
    folder = shared / "data" / "chunking_questions"
    corpus = Corpus.from_folder(folder / "corpora")
    return load_dataset(folder / "questions_df.csv", corpus=corpus)


def test_of_public_questions_those_that_repeat_eight_words_are_found_and_one_answer_that_stands_twice(public):
    report = lint_dataset(public)
    assert report.counts == {"copies its answer": 8, "answer elsewhere": 1, "white space": 208}
    copied = {finding.query.id for finding in report.problems if finding.kind == "copies its answer"}
    for entry in public:
        runs = [longest_common_run(entry.query.text, label.text) for label in entry.relevant]
        assert (max(runs) >= 8) == (entry.query.id in copied), entry.query.text
    (elsewhere,) = found(report, "answer elsewhere")
    document = public.corpus["chatlogs.md"].content
    assert document.count(document[elsewhere.span.start : elsewhere.span.end]) == 2


def test_public_questions_that_are_asked_in_capitals_too_are_asked_twice(public):
    shouted = [
        TokenLevelGroundTruth(Query(f"{entry.query.id}!", f"{entry.query.text.upper()}!"), entry.relevant)
        for entry in public
    ]
    report = lint_dataset(Dataset([*public, *shouted], TOKEN, corpus=public.corpus))
    assert report.counts["asked twice"] == 276
    others = [TokenLevelGroundTruth(entry.query, entry.relevant[:-1]) for entry in shouted]
    report = lint_dataset(Dataset([*public, *others], TOKEN, corpus=public.corpus))
    assert report.counts["other truth"] == 276


def test_labels_of_public_questions_in_documents_with_a_new_line_all_differ(public, tmp_path):
    edited = Corpus(Document(document.id, f"New.\n{document.content}") for document in public.corpus)
    dataset = load_dataset(save_dataset(public, tmp_path / "public.json"))
    labels = sum(len(entry.relevant) for entry in public)
    assert lint_dataset(dataset, edited).counts["text differs"] == labels


COPY = f"# Terms\n\n{SECOND} Other terms apply to gifts.\n"


def test_places_of_an_answer_may_be_those_of_another_one_and_overlap():
    copy, longer = span(SECOND, COPY, "b.md"), span(f"{SECOND} Other terms apply to gifts.", COPY, "b.md")
    answers = Answer.any_of(span(SECOND), copy), Answer.any_of(span(FIRST), longer), Answer.any_of(span(FIRST), copy)
    entry = TokenLevelGroundTruth(Query.from_text("How long, and when?"), answers)
    report = lint(entry, corpus=corpus_of(a=PAGE, b=COPY))
    assert not {"labelled twice", "labels overlap"} & {*report.counts}
    assert found(report, "answer elsewhere") == []
