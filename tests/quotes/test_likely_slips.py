"""Which suggestions `--accept` may take: those that differ from the quote in nothing but likely slips."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from rag_evaluation_framework.quotes.suggestions import suggest

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


@pytest.mark.parametrize(
    ("given", "there"),
    [
        ("the sevrer restarts", "the server restarts"),
        ("the serverr restarts", "the server restarts"),
        ("the admnistrator restarts", "the administrator restarts"),
        ("each directry, each databse", "each directory, each database"),
        ("server restarts", "the server restarts"),
        ("a server restarts", "the server restarts"),
        ("the server restarts it", "the server that restarts it"),
        ("the requests which server sends", "the requests which the server sends"),
        ("the request is logged", "the requests is logged"),
        ("the server need a node", "the server needs a node"),
        ("it restarted the node", "it restart the node"),
        ("first, stop the node", "first stop the node"),
        ("first; stop the node", "first, stop the node"),
        ("the “main” node", "the main node"),
        ("the data base there", "the database there"),
        ("the re-start of it", "the restart of it"),
        ("the read only mode", "the read-only mode"),
    ],
)
def test_likely_slips_are_accepted(given, there):
    assert refusal(given, there) == ""


@pytest.mark.parametrize(
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
    ],
)
def test_whatever_else_differs_is_refused(given, there):
    assert refusal(given, there) != ""
    assert refusal(there, given) != ""


def test_little_words_may_be_left_out_not_added():
    assert refusal("restart of server", "restart of the server") == ""
    assert refusal("restart of the server", "restart of server") == "a word differs: “the” added"


@pytest.mark.parametrize(
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


def test_another_word_of_the_corpus_is_no_slip():
    assert refusal("the county pays", "the country pays") == ""
    assert refusal("the county pays", "the country pays", beside="A county is small.") != ""
