import json
import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.labels.test_real_pages import KINDS, locator, once, places, rows

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.labels import check_quotes, quote_locator
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from rag_evaluation_framework.labels.suggestions import suggest
from support.each import each
from support.linear import assert_linear

GUIDE = """# Refunds

A refund takes **five** [working days](days.md) after we have received the parcel. It never takes more than 12 days.
Parcels above 30 kg cost $40 more, and those below -5 °C are not taken.

## Upgrades

Install the new agent first, and restart the server. Keep the data directory.
Then remove the old agent from every node of the cluster.

| size | price |
|------|-------|
| big  | 1.50  |
"""
OTHER = "The office opens at nine. Nobody answers the telephone before the first coffee of the day.\n"

PLANS = """# Plans

Run `cat x | grep y` first. Use left || right instead.

| Plan | Price | Users | Support |
|------|-------|-------|---|
| Solo | €9 | one user | mail |
| Team | €59 | ten users | chat |
| read | `cat x \\| grep y` | uniq | - |
"""
ROW = "<table><tr><td>Solo<td>€9<td>one user</tr><tr><td>Team</td><td>€59<td>ten users</tr></table>"
GRID = """+------+------+-----------+
| Plan | Cost | Users     |
+======+======+===========+
| Team | €59  | ten users |
+------+------+-----------+
"""

DATA = "Keep the data directory."
LONG = " ".join(f"number{number} follows" for number in range(30_000))
PRODUCT = "The product of 2 and 3 and 4 is written as 234 in this old and terse notation."
RELEASE = "So start the workflow run release.yml -f version=4.16.0 on the branch, and wait for it."
GROUPS = "The fee is 5 000 000 euros for the paper."
NOTED, NOTE, COPIED = "The fee is 10 euros.[^1]", "\n\n[^1]: Net.\n", "“euros.1” for “euros.”"

every_kind = pytest.mark.parametrize("kind", KINDS)


def corpus_of(**texts):
    return Corpus(Document(DocumentId(f"{name}.md"), text) for name, text in texts.items())


def suggested(quote, corpus=None, doc_id=None):
    return suggest(quote, QuoteLocator.of(corpus or corpus_of(guide=GUIDE, other=OTHER)), doc_id)


def checked(tmp_path, row, corpus=None, header="question,quote", **options):
    path = tmp_path / "q.csv"
    path.write_text(f"{header}\n{row}\n", "utf-8")
    return check_quotes(path, corpus or corpus_of(guide=GUIDE, other=OTHER), **options).rows[0]


class TestWhatIsSuggested:
    def test_the_row_of_a_missing_quote_and_no_other_has_the_passage_how_similar_it_is_and_what_differs(self, tmp_path):
        row = checked(tmp_path, "What first?,Install the new client first and restart the server.")
        assert row.status == "missing"
        assert row.suggestion.quote == "Install the new agent first, and restart the server."
        assert (row.suggestion.document, row.suggestion.place) == ("guide.md", "guide.md:8:1")
        assert row.suggestion.copies == ("guide.md:8:1",)
        assert 0.9 < row.suggestion.similarity < 1
        assert row.suggestion.difference == "“client” for “agent”, “,” left out"
        assert row.places == ()  # likeness is never enough
        row = checked(tmp_path, "What first?,Keep the data directory.")
        assert (row.status, row.suggestion) == ("located", None)

    @each(
        ("quote", "text", "passage", "difference"),
        [
            ("remove the agent from every node", GUIDE, "remove the old agent from every node", "“old” left out"),
            ("Keep the very data directory.", GUIDE, "Keep the data directory.", "“very” added"),
            ("one two three", "one two", "one two", "“three” added"),
            ("restart the sevrer", GUIDE, "restart the server", "“sevrer” for “server”"),
            ("from evry node", GUIDE, "from every node", "“evry” for “every”"),
            ("never takes more than 13 days", GUIDE, "never takes more than 12 days", "“13” for “12”"),
            ("big 1.60", GUIDE, "big  | 1.50", "“1.60” for “1.50”"),
            (
                "“a REFUND takes five working days after we had received the parcel.”",
                GUIDE,
                "A refund takes **five** [working days](days.md) after we have received the parcel.",
                "““” added, “had” for “have”, “”” added",
            ),
            (PRODUCT.replace("234", "2*3 *4"), PRODUCT, PRODUCT, "“2*3 *4” for “234”"),
            (
                "Keep the d\u0430ta directory.",
                GUIDE,
                "Keep the data directory.",
                "“d\u0430ta” for “data”: Cyrillic small letter a (U+0430) for Latin small letter a (U+0061)",
            ),
            (
                "Install the new agent first , and restart",
                GUIDE,
                "Install the new agent first, and restart",
                "white space beside a sign, or a border of cells",
            ),
            ("退款需要玉个工作日", "说明。退款需要五个工作日。请稍候。", "退款需要五个工作日", "“玉” for “五”"),
            # A number is suggested with its sign and its unit, and whole:
            ("15", "It costs 15 € a month, and more.", "15 €", "“€” left out"),
            ("15", "It costs €15 a month, and more.", "€15", "“€” left out"),
            ("15", "It costs **15 %** of it all.", "15 %", "“%” left out"),
            ("15", "Keep it at 15 °C at night.", "15 °C", "“°C” left out"),
            ("15", "It turns at 15/h at night.", "15/h", "“/h” left out"),
            ("those blow 5 °C", GUIDE, "those below -5 °C", "“blow” for “below -”"),
            ("run release.yml -f version=4", RELEASE, "run release.yml -f version=4.16.0", "“4” for “4.16.0”"),
            ("The fee is 5", GROUPS, "The fee is 5 000 000", "“000 000” left out"),
            ("000 euros for the paper", GROUPS, "5 000 000 euros for the paper", "“5 000” left out"),
            # Of a copied footnote number, no word behind it:
            ("The fee is 10 euros.1", f"{NOTED} It rises each year.{NOTE}", "The fee is 10 euros.", COPIED),
            (
                "The fee is 10 euros.1",
                f"{NOTED}\n\n| A | B |\n|---|---|\n| 1 | 2 |\n{NOTE}",
                "The fee is 10 euros.",
                COPIED,
            ),
            # Parts that were not found are suggested beside the others, and together if none was:
            (
                "Install the new agent … keep the date directory.",
                GUIDE,
                "Install the new agent … Keep the data directory.",
                "“keep the date directory.” was not found: “date” for “data”",
            ),
            (
                "Install the new clent first … Keep the date directory.",
                GUIDE,
                "Install the new agent first … Keep the data directory.",
                "“Install the new clent first” was not found: “clent” for “agent”; "
                "“Keep the date directory.” was not found: “date” for “data”",
            ),
        ],
    )
    def test_whole_words_and_numbers_are_suggested_and_what_differs_is_told(self, quote, text, passage, difference):
        found = suggested(quote, corpus_of(guide=text, other=OTHER))
        assert (found.quote, found.difference) == (passage, difference)

    @each(
        ("quote", "name", "text", "passage", "difference"),
        [
            ("Team | €49 | ten users | chat", "a.md", PLANS, "Team | €59 | ten users | chat", "“49” for “59”"),
            ("Team €49 ten users chat", "a.md", PLANS, "Team | €59 | ten users | chat", "“49” for “59”"),
            ("Team | €59 | ten users | mail", "a.md", PLANS, "Team | €59 | ten users | chat", "“mail” for “chat”"),
            ("Crew | €59 | ten users | chat", "a.md", PLANS, "Team | €59 | ten users | chat", "“Crew” for “Team”"),
            ("Team | €49 | ten users", "a.md", ROW, "Team</td><td>€59<td>ten users", "“49” for “59”"),
            ("Team | €49 | ten users", "a.rst", GRID, "Team | €59  | ten users", "“49” for “59”"),
            ("Team | €49 | ten users", "a.txt", "x\nTeam €59 ten users", "Team €59 ten users", "“49” for “59”"),
            ("512 MB of memory", "a.md", "# Needs\n\n- 768 MB of memory\n", "768 MB of memory", "“512” for “768”"),
            (
                "so 512 MB of memory",
                "a.md",
                "# Needs\n\n- 768 MB of memory\n",
                "768 MB of memory",
                "“so 512” for “768”",
            ),
        ],
    )
    def test_words_that_were_changed_at_the_ends_are_part_of_the_passage_and_borders_of_cells_are_no_difference(
        self, quote, name, text, passage, difference
    ):
        found = suggested(quote, Corpus([Document(DocumentId(name), text)]))
        assert (found.quote, found.difference) == (passage, difference)

    @pytest.mark.parametrize(
        "quote",
        [
            "Wombats dig tunnels.",
            "the of and",
            "It is the first of all of them and the last one of the others, too.",
            "ωψχ",
            "…",
            "?!",
            "1",
            "Completely different words that nobody has ever written in any guide before.",
            " … ".join(["Keep the date directory."] * 11),  # very many parts are not compared
            "Keep the data directory … Install the new agnet first",  # in the wrong order
        ],
    )
    def test_nothing_is_suggested_where_the_best_is_noise_nor_in_empty_documents(self, quote):
        assert suggested(quote) is None
        assert suggested("Keep the data directory.", corpus_of(a="", b=" \n")) is None

    @pytest.mark.parametrize("length", [600, 6_000])
    def test_a_long_quote_with_a_changed_word_is_suggested_whole(self, length):
        words = [f"w{random.Random(number).randrange(5_000)}x" for number in range(9_000)]
        text = " ".join(words)
        quote = text[3_000 : 3_000 + length].split(" ", 1)[1].rsplit(" ", 1)[0]
        given = quote.replace(quote.split()[40], "changed", 1)
        found = suggested(given, corpus_of(a=text, b=OTHER))
        assert found.quote == quote


class TestCopies:
    def test_all_copies_are_told_by_lines_that_end_with_line_feeds_and_columns_of_characters(self, tmp_path):
        row = checked(tmp_path, "Which?,Keep the data directry.", corpus_of(a=GUIDE, b=f"x\n{GUIDE}"))
        assert row.suggestion.copies == ("a.md:8:54", "b.md:9:54")
        assert "a.md:8:54, and 1 more such" in row.advice
        found = suggested("Keep the date directory.", corpus_of(a="𝔘𝔫𝔦\r\n\r\n😀😀 Keep the data directory.\r\n"))
        assert (found.place, found.copies) == ("a.md:3:4", ("a.md:3:4",))


class TestDocuments:
    @pytest.mark.parametrize(
        ("named", "difference", "advice"),
        [
            ("other", "in guide.md, not in other.md", "not in other.md: correct the document"),
            ("gide", "in guide.md, not in gide", "not in gide: the corpus has no document 'gide' (it has guide.md,"),
        ],
    )
    def test_a_quote_of_another_or_an_unknown_document_suggests_the_right_one(
        self, tmp_path, named, difference, advice
    ):
        row = checked(tmp_path, f"What?,Keep the data directory.,{named}", header="question,quote,document")
        assert (row.status, row.suggestion.document, row.suggestion.similarity) == ("missing", "guide.md", 1)
        assert (row.suggestion.quote, row.suggestion.difference) == ("Keep the data directory.", difference)
        assert row.advice.startswith(f"found in guide.md:8:54, {advice}")

    @pytest.mark.parametrize(
        ("quote", "texts", "named", "document"),
        [
            ("Keep the date directory.", [DATA, f"{DATA[:4]} all{DATA[4:]}"], None, "a.md"),
            ("Keep the date directory.", [DATA, f"{DATA[:4]} all{DATA[4:]}"], "b.md", "b.md"),
            ("Install the new agent … keep the date directory.", [GUIDE, GUIDE], "b.md", "b.md"),
            ("Refunds take six days", ["Refunds", "Refunds take five days."], None, "b.md"),
            ("Keep the date directory.", [f"{LONG} {DATA}", f"{LONG} {DATA[:4]} all{DATA[4:]} {LONG}"], "b.md", "b.md"),
        ],
        ids=[
            *("the nearest", "the one that is named", "parts in the one that is named", "not a word of its own"),
            "a large one that is named",
        ],
    )
    def test_the_document_that_is_named_comes_first(self, quote, texts, named, document):
        assert suggested(quote, corpus_of(**dict(zip("ab", texts, strict=True))), named).document == document

    def test_the_others_are_searched_if_it_has_nothing_similar(self):
        found = suggested("Keep the date directory.", None, "other.md")
        assert found.document == "guide.md"
        assert found.difference == "“date” for “data”; in guide.md, not in other.md"


class TestQuotesThatLeaveSomethingOut:
    @pytest.mark.parametrize(
        ("quote", "advice"),
        [
            ("Install the new agent … wombats dig.", "nothing similar in the corpus; “wombats dig.” was not found"),
            (
                "Keep the data directory … Install the new agent first",
                "its parts were found, but not in this order near each other, with words in between",
            ),
            ("word " * 5_000, "nothing similar in the corpus; quote less than 20,000 characters"),
        ],
        ids=["a part", "another order", "too long"],
    )
    def test_without_a_suggestion_it_is_told_why(self, tmp_path, quote, advice):
        assert checked(tmp_path, f'"What?","{quote}"').advice.endswith(advice)


class TestWhatMakesAPlaceUnique:
    @pytest.mark.parametrize(
        ("quote", "texts", "advice"),
        [
            (
                "Press OK.",
                ["Press OK. Then wait. Press OK. Then go.", "First press OK."],
                "a.md:1:1 (before “Then wait.”), a.md:1:22 (behind “wait.”): quote more; or, if each",
            ),
            (
                "Press OK.",
                ["> **Wait**\n\n- Press OK.\n- [Go](on.md)\n", "<b>Press OK.</b> &amp; <i>then</i> stop.\n"],
                "a.md:3:3 (behind “Wait”), b.md:1:4 (before “&”): name the document, or quote more; or, if each",
            ),
            (DATA, [GUIDE, GUIDE], "a.md:8:54, b.md:8:54: name the document, or quote more; or, if each"),
        ],
        ids=["which only one has", "as readers see them", "copies share all of them"],
    )
    def test_the_words_beside_an_ambiguous_quote_are_told_that_only_one_place_has(self, tmp_path, quote, texts, advice):
        row = checked(tmp_path, f"What?,{quote}", corpus_of(**dict(zip("ab", texts, strict=True))))
        assert row.status == "ambiguous"
        assert row.advice.startswith(advice)


class TestOtherForms:
    def test_a_quote_that_is_only_located_ignoring_markup_is_suggested_to_who_ignores_nothing(self, tmp_path):
        row = checked(tmp_path, "What?,A refund takes five working days", verbatim_only=True)
        assert row.suggestion.quote == "A refund takes **five** [working days"
        assert (row.suggestion.similarity, row.suggestion.difference) == (
            1,
            "it stands there only ignoring: emphasis, links",
        )


def overlap(spans, place):
    """Whether spans hold more than half of the characters of a place."""
    shared = sum(
        max(min(span.end, end) - max(span.start, start), 0)
        for span in spans
        for document, start, end in place
        if span.doc_id == document
    )
    return shared > sum(end - start for _, start, end in place) / 2


@pytest.mark.no_cover
@every_kind
def test_near_misses_of_real_pages_are_suggested_at_their_place(kind):
    missed = []
    near_misses = [row for row in rows(kind)["near_misses"] if row["change"] != "row"]  # of two rows: it has two places
    for row in near_misses:
        found = suggest(row["quote"], locator(kind))
        if found is None or not any(overlap(found.spans, place) for place in places(kind, row["from"])):
            missed.append((row["change"], row["quote"], found and found.quote))
    assert len(missed) <= 0.1 * len(near_misses), "\n".join(map(repr, missed))


@pytest.mark.no_cover
@every_kind
def test_quotes_of_other_kinds_of_pages_get_hardly_any_suggestion(kind):
    others = [row["quote"] for other in KINDS if other != kind and other[:4] == kind[:4] for row in once(other)[::7]]
    found = [(quote, given.quote) for quote in others if (given := suggest(quote, locator(kind)))]
    assert len(found) <= 0.05 * len(others), "\n".join(map(repr, found))


@given(
    st.sampled_from([row["quote"] for kind in ("regression/markdown", "regression/man") for row in once(kind)]),
    st.data(),
)
def test_a_suggestion_is_located_by_its_own_text(quote, data):
    is_markdown = any(quote == row["quote"] for row in once("regression/markdown"))
    kind = "regression/markdown" if is_markdown else "regression/man"
    words = quote.split()
    place = data.draw(st.integers(0, len(words) - 1))
    changed = " ".join(
        [*words[:place], data.draw(st.sampled_from(["", "zebra", words[place][::-1]])), *words[place + 1 :]]
    )
    found = suggest(changed, locator(kind))
    if found is not None:
        located = locator(kind).locate(found.quote, found.document).places
        assert found.spans in located
        assert 0 <= found.similarity <= 1
        assert json.dumps(found.difference)


SYLLABLES = [f"{start}{vowel}" for start in ("b", "dr", "gl", "k", "m", "st") for vowel in "aeiou"]
WORDS = ["".join(syllables) for syllables in product(SYLLABLES, repeat=3)]


def prose(length, seed=0):
    draw = random.Random(seed)
    return " ".join(draw.choices(WORDS, k=length // 5))[:length]


@pytest.fixture
def compared(monkeypatch):
    """The lengths of what RapidFuzz compares; its time grows with their product."""
    lengths = []
    original = quote_locator.fuzz.partial_ratio_alignment

    def counted(text, content, **options):
        lengths.append((len(text), len(content)))
        return original(text, content, **options)

    monkeypatch.setattr(quote_locator.fuzz, "partial_ratio_alignment", counted)
    return lengths


class TestWhatIsCompared:
    @pytest.mark.parametrize("length", [4_000, 16_000])
    def test_of_a_long_quote_the_beginning_and_the_end_say_where_it_is(self, compared, length):
        content = prose(100_000)
        end = content.index(" ", length)
        (span,) = suggested(
            f"{content[: length // 2]}, which nobody wrote, {content[length // 2 : end]}", corpus_of(a=content)
        ).spans
        assert (span.start, span.end) == (0, end)
        assert sum(text * other for text, other in compared) <= 2 * 500 * 100_500

    def test_a_long_quote_that_leaves_out_much_ends_where_its_last_letters_are(self):
        content = prose(100_000)
        begin, end = content.index(" ", 3_500), content.index(" ", 6_000)
        (span,) = suggested(f"{content[:2_000]} {content[begin:end]}", corpus_of(a=content)).spans
        assert (span.start, span.end) == (0, end)

    def test_of_what_repeats_itself_a_long_quote_does_not_end_at_an_earlier_copy(self):
        sentence = f"{prose(150)}. "
        words = (sentence * 20).split()
        (span,) = suggested(" ".join([*words[:-3], "otherwise", *words[-2:]]), corpus_of(a=sentence * 40)).spans
        assert (span.start, span.end) == (0, 20 * len(sentence) - 1)

    def test_a_long_corpus_is_compared_where_it_shares_the_most(self, compared):
        content = prose(3_000_000)
        quote = f"{content[2_000_000:2_000_150]}X{content[2_000_150:2_000_300]}"
        (span,) = suggested(quote, corpus_of(a=prose(1_000_000, seed=1), b=content)).spans
        assert (span.doc_id, span.start <= 2_000_010, span.end >= 2_000_290) == ("b.md", True, True)
        assert sum(other for _, other in compared) < 1_300_000

    @pytest.mark.parametrize(("quote", "right"), [("kabe xobu", "kabe zobu"), ("退款需要玉个工", "退款需要五个工")])
    def test_a_short_quote_that_shares_nothing_long_is_compared_with_everything(self, quote, right):
        found = suggested(quote, corpus_of(a="0123456789 " * 40_000, b=f"{'_' * 50_000} {right}"))
        assert (found.document, right in found.quote) == ("b.md", True)

    def test_the_same_passage_is_chosen_every_time(self):
        corpus = corpus_of(**dict.fromkeys("cab", "one two three"))
        assert {suggested("one two four", corpus).document for _ in range(3)} == {"c.md"}

    @pytest.mark.parametrize("sign", ["`", "!", "a", "日", "a ", "` "])
    def test_a_quote_of_signs_takes_no_longer_than_one_of_words(self, sign):
        text = "One `code` and *other* words.\n" * 200
        locator = QuoteLocator(corpus_of(a=text))

        def look(size):
            return lambda: [locator.locate(quote := sign * (size // len(sign))), suggest(quote, locator)]

        assert_linear(look, 4_000)


@given(
    st.integers(0, 9_000),
    st.integers(80, 900),
    st.lists(st.tuples(st.integers(0, 900), st.sampled_from("xq ")), min_size=1, max_size=3),
)
def test_a_passage_with_a_few_changes_is_the_nearest(start, length, changes):
    content = prose(10_000)
    quote = content[start : start + length]
    for place, character in changes:
        quote = quote[: place % len(quote)] + character + quote[place % len(quote) + 1 :]
    (span,) = suggested(quote, corpus_of(other=prose(10_000, seed=1), this=content)).spans
    assert span.doc_id == "this.md"
    assert abs(span.start - start) < 30
    assert abs(span.end - span.start - len(quote)) < 30
