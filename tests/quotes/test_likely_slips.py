"""Which suggestions `--accept` may take: those that differ from the quote in nothing but likely slips."""

import re

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.quotes.suggestions import suggest
from support.each import each

ENGLISH = ("The quarterly statement of the department mentions that ", " according to the handbook of the contractors.")
GERMAN = ("Der Bericht der Abteilung für Betrieb erwähnt auch, dass ", " gemäß dem Handbuch für alle Auftragnehmer.")
FRENCH = ("Le rapport trimestriel du service indique aussi que ", " conformément au manuel pour tous les employés.")
SPANISH = ("El informe trimestral del departamento indica que ", " de acuerdo con el manual de los contratistas.")


def refusal(given, there, around=ENGLISH, beside=""):
    """Why the sentence with `given` is not accepted for the one with `there`; "" if it is."""
    text = f"# Guide\n\nOther words stand here, about gardens. {beside}\n\n{there.join(around)}\n\nRivers follow.\n"
    found = suggest(given.join(around), QuoteLocator(Corpus([Document(DocumentId("guide.md"), text)])))
    assert found is not None
    assert found.similarity >= 0.9
    return found.refusal


@each(
    ("given", "there"),
    [
        ("the sevrer restarts", "the server restarts"),
        ("the serrver restarts", "the server restarts"),
        ("the admnistrator restarts", "the administrator restarts"),
        ("each directry, each databse", "each directory, each database"),
        ("the request is logged", "the requests is logged"),
        ("the server need a node", "the server needs a node"),
        ("the process of it", "the processes of it"),
        ("first, stop the node", "first stop the node"),
        ("first; stop the node", "first, stop the node"),
        ("the “main” node", "the main node"),
        ("the data base there", "the database there"),
        ("the e-mail of it", "the email of it"),
        ("the web-site of it", "the website of it"),
        ("nodes a, b and c", "nodes a, b, and c"),
        ("the read only mode", "the read-only mode"),
    ],
)
def test_likely_slips_are_accepted(given, there):
    assert refusal(given, there) == ""


@each(
    ("given", "there"),
    [
        ("sent on Monday", "sent on Sunday"),
        ("due on January 5", "due on June 5"),
        ("in January 2024", "in February 2024"),
        ("within 5 hours", "within 5 minutes"),
        ("by 5 percent", "by 5 permille"),
        ("for 5 dollars", "for 5 euros"),
        ("at 5 °C", "at 5 °F"),
        ("for USD 5", "for EUR 5"),
        ("at 10 a.m.", "at 10 p.m."),
        ("in Chapter IV", "in Chapter VI"),
        ("of Type A", "of Type B"),
        ("of Type A only", "of Type only"),
        ("5' wide", '5" wide'),
        ("the sixth unit", "the seventh unit"),
        ("a tenth of it", "a quarter of it"),
        ("eight units", "eighty units"),
        ("it is true", "it is false"),
        ("it is enabled", "it is disabled"),
        ("greater values", "smaller values"),
        ("up to the limit", "over the limit"),
        ("users must pay", "users may pay"),
        ("include files", "exclude files"),
        ("upload the data", "unload the data"),
        ("a and b", "a or b"),
        ("from A to B", "from B to A"),
        ("Alice pays Bob", "Bob pays Alice"),
        ("of the nitrite", "of the nitrate"),
        ("use https", "use http"),
        ("use --forced", "use --force"),
        ("call restart()", "call restarts()"),
        ("use NETWORKS", "use NETWORK"),
        ("use max_sizes", "use max_size"),
        ("in the list", "on the list"),
        ("it is kept", "it was kept"),
        ("in active use", "inactive use"),
        ("a typical use", "atypical use"),
        ("the of server list", "of the server list"),
        ("the old node", "the node"),
        ("a list a server", "a list of server"),
        ("the node", "the old node"),
        ("asynchronous calls", "synchronous calls"),
        ("useless tools", "useful tools"),
        ("is it kept?", "is it kept"),
        ("foo(x)", "foo[x]"),
        ("the list – of servers", "the list of – servers"),
        ("the list, of servers", "the list of, servers"),
        ("std::vectors", "std::vector"),
        ("x\u0430mples", "xamples"),  # a Cyrillic letter
        ("a ratio of 3 ; 5", "a ratio of 3 : 5"),
        ("a ratio of 3 5", "a ratio of 3 : 5"),
        ("a ratio of three five", "a ratio of three : five"),
        ("a ratio of three, five", "a ratio of three: five"),
        ("the parts a : b", "the parts a b"),
        ("an un-ionized gas", "an unionized gas"),
        ("an un-ionized gas", "an un ionized gas"),
        ("they re-sign it", "they resign it"),
        ("they re sign it", "they resign it"),
        ("the over-looked garden", "the overlooked garden"),
        ("the pro-verb of it", "the proverb of it"),
    ],
)
def test_whatever_else_differs_is_refused(given, there):
    assert refusal(given, there) != ""
    assert refusal(there, given) != ""


@each(
    ("given", "there"),
    [
        ("server restarts", "the server restarts"),
        ("a server restarts", "the server restarts"),
        ("users deleted", "users were deleted"),
        ("files removed", "files to be removed"),
        ("may given", "may be given"),
        ("cause failure", "cause of failure"),
        ("instead it", "instead of it"),
        ("few users", "a few users"),
        ("little memory", "a little memory"),
        ("most users", "the most users"),
        ("the user pays", "the user that pays"),
        ("out of question", "out of the question"),
        ("users select", "users selected"),
        ("the allow users", "the allowed users"),
        ("broke locks", "broken locks"),
        ("human rules", "humane rules"),
        ("moral support", "morale support"),
        ("sever load", "severe load"),
    ],
)
def test_no_word_and_no_ending_may_be_left_out_or_added(given, there):
    assert refusal(given, there) != ""
    assert refusal(there, given) != ""


def test_an_article_may_not_be_another_one():
    around = ("Nach dem Bericht der Abteilung für Betrieb sieht auch die Frau ", " heute Abend im Garten des Museums.")
    assert refusal("der Mann", "den Mann", around) != ""


OPPOSITES = [
    *(
        "before/after",
        "above/below",
        "internal/external",
        "minimum/maximum",
        "ascending/descending",
        "always/sometimes",
    ),
    *("accepted/rejected", "increased/decreased", "opened/closed", "sync/async", "read-only/write-only"),
    *("required/optional", "public/private", "imported/exported", "encoded/decoded", "client/server"),
    *("installed/uninstalled", "preinstalled/reinstalled", "interstate/intrastate", "hypertension/hypotension"),
    *("advised/advises", "affects/effects", "principal/principle", "prescribed/proscribed", "loose/lose"),
    *("personal/personnel", "formally/formerly", "elicit/illicit", "complementary/complimentary", "insured/ensured"),
    *("stationary/stationery", "lessor/lessee", "debit/credit", "inhaled/exhaled", "uphill/downhill"),
]
NUMBERS = [
    *(
        "thirteen/thirty",
        "a dozen/a score",
        "twice/once",
        "biweekly/weekly",
        "5 MB/5 GB",
        "5 Mbit/5 MByte",
        "5 ms/5 µs",
    ),
    *("3 pm/3 am", "half/most", "one/two", "first/last", "singular/plural", "double/single", "millions/billions"),
    *("5 miles/5 metres", "5 litres/5 gallons", "Q1/Q2", "v2/v3", "IPv4/IPv6", "HTTP/1.1/HTTP/2", "5th/6th"),
    *("May 5/March 5", "2023/2024", "½/¼", "10²/10³", "≥5/≤5", "5+/5-", "1:1/1:2", "quatorze/quarante"),
    *(
        "vierzehn/vierzig",
        "hourly/daily",
        "annual/monthly",
        "seconds/second",
        "thousandth/thousand",
        "Type IIb/Type IIa",
    ),
]


@each("pair", [*OPPOSITES, *NUMBERS])
def test_opposites_and_numbers_are_refused_both_ways(pair):
    one, other = pair.split("/") if pair.count("/") == 1 else ("HTTP/1.1", "HTTP/2")
    assert refusal(f"it is {one} there", f"it is {other} there") != ""
    assert refusal(f"it is {other} there", f"it is {one} there") != ""


RIVALS = [
    *("Linux Windows", "Paris London", "backup replica", "north south", "red blue", "January March", "cash card"),
    *("reader writer", "child adult", "input output", "gas water", "lunch dinner", "summer winter", "buyer seller"),
    *("staging production", "primary secondary", "Firefox Chrome", "morning evening", "left right", "wired wireless"),
    *("export upload", "driver passenger", "premium basic", "cold hot", "guest member", "sender receiver"),
    *("laptop tablet", "invoice receipt", "tenant landlord", "teacher pupil"),
]


@each("pair", RIVALS)
def test_one_of_two_passages_that_differ_in_a_word_is_not_taken_for_a_quote_without_it_or_with_a_third(pair):
    one, other = pair.split()
    sentence = "The {}settings are stored in one file and are sent to the administrator every night."
    text = f"# Guide\n\n{sentence.format(one + ' ')}\n\nRivers follow.\n\n{sentence.format(other + ' ')}\n"
    for word in ("", "other ", f"{other} or {one} "):
        found = suggest(sentence.format(word), QuoteLocator(Corpus([Document(DocumentId("guide.md"), text)])))
        assert found is None or found.refusal != ""


@each(
    ("given", "there", "around"),
    [
        ("fünfzehn Tage", "sechzehn Tage", GERMAN),
        ("einundzwanzig Tage", "zweiundzwanzig Tage", GERMAN),
        ("dreihundert Tage", "vierhundert Tage", GERMAN),
        ("am zweiten Tag", "am dritten Tag", GERMAN),
        ("keinerlei Gründe", "allerlei Gründe", GERMAN),
        ("sixième jour", "dixième jour", FRENCH),
        ("vingt-cinq jours", "vingt-six jours", FRENCH),
        ("il est plus là", "il est là", FRENCH),
        ("dieciséis días", "diecisiete días", SPANISH),
        ("veinticinco días", "veintiséis días", SPANISH),
        ("el cuarto día", "el quinto día", SPANISH),
        ("sesenta días", "setenta días", SPANISH),
    ],
)
def test_numbers_in_words_are_refused_in_any_language(given, there, around):
    assert refusal(given, there, around) != ""
    assert refusal(there, given, around) != ""


@pytest.mark.parametrize(
    ("given", "there"),
    [
        ("data is stored, it is not only sent", "data is not stored, it is only sent"),
        ("data is sent, not stored", "data is not sent, stored"),
        ("the null value", "the non-null value"),
        ("it isnt allowed", "it is allowed"),
        ("users dont pay", "users pay"),
        ("it wont start", "it will start"),
        ("abnormal values", "normal values"),
        ("no, it is kept", "no it is kept"),
    ],
)
def test_negations_that_move_come_or_go_are_refused(given, there):
    assert refusal(given, there) != ""
    assert refusal(there, given) != ""


def test_the_word_is_told():
    assert refusal("the macOS client", "the Windows client") == "a word differs: “macOS” for “Windows”"
    assert refusal("the client", "the Windows client") == "a word differs: “Windows” left out"
    assert refusal("the very new client", "the new client") == "a word differs: “very” added"


OTHER_WORDS = """
casual/causal united/untied martial/marital immortal/immoral angle/angel trial/trail quiet/quite
silver/sliver complaint/compliant discreet/discrete contract/contact started/stated phrase/phase
exist/exits realty/reality country/county through/though dairy/diary barely/barley sacred/scared
threat/treat hoping/hopping
"""


@each("pair", OTHER_WORDS.split())
def test_another_word_is_no_slip_though_the_corpus_does_not_have_it(pair):
    one, other = pair.split("/")
    assert refusal(f"the {one} thing", f"the {other} thing") != ""
    assert refusal(f"the {other} thing", f"the {one} thing") != ""


def test_another_word_of_the_corpus_is_no_slip():
    assert refusal("the contral pays", "the contrail pays") == ""
    assert refusal("the contral pays", "the contrail pays", beside="A contral is small.") != ""


BEFORE = ["≤ €", "> $", "< -", "≦ ", "≲ ", "=< ", "≪ ", "≮ ", "-.", "not "]


@each("before", BEFORE)
def test_a_comparison_or_a_sign_before_the_passage_is_not_left_out_of_it(before):
    sentence = "5 per month whatever the plan that {} choose."
    text = f"Each subscriber pays {before}{sentence.format('subscribers')}\n\nOther rules.\n"
    locator = QuoteLocator(Corpus([Document(DocumentId("a.txt"), text)]))
    for begin in {"", before.split()[-1].strip("not. ")}:
        found = suggest(begin + sentence.format("subscriber"), locator)
        assert found is not None
        assert found.refusal != ""


@pytest.mark.parametrize(
    ("there", "looks"),
    [
        ("for 10<sup>2</sup> days", "part of it is raised"),
        ("for H<sub>2</sub> days", "part of it is lowered"),
        ("for ~~all~~ days", "part of it is struck out"),
        ("for <del>all</del> 10<sup>2</sup> days", "part of it is raised and struck out"),
    ],
)
def test_what_is_struck_out_raised_or_lowered_is_told_and_refused(there, looks):
    shown = re.sub("<.*?>|~~", "", there)
    text = f"# Guide\n\nKeep the originals in the office of the department {there}.\n\nRivers follow.\n"
    locator = QuoteLocator(Corpus([Document(DocumentId("guide.md"), text)]))
    found = suggest(f"Keep the orginals in the office of the department {shown}.", locator)
    assert found is not None
    assert found.difference == f"“orginals” for “originals”, {looks}"
    assert found.refusal == looks
