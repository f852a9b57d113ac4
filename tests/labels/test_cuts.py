"""What stands at the ends of a quote or a label and belongs to its first or last word or number."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.labels.ends import are_cut
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from support.each import each

CUT = [
    ("The fee is -$5 per month.", "$5 per month"),
    ("A bias of -.5 volts is used.", ".5 volts is used"),
    ("A bias of −(5 volts) is used.", "(5 volts) is used"),
    ("A bias of = - 5 volts is used.", "5 volts is used"),
    ("A bias of +/- 5 volts is used.", "5 volts is used"),
    ("It costs US$5 per month.", "$5 per month"),
    ("It costs $ 5 per month.", "5 per month"),
    ("The value p < .05 is low.", ".05 is low"),
    ("It was ≤ €5 per item.", "€5 per item"),
    ("It was <= -5 s then.", "-5 s then"),
    ("It was < (5 s) then.", "(5 s) then"),
    ("It was ≤\n5 s then.", "5 s then"),
    ("It was <  5 s then.", "5 s then"),
    ("It was ≦ 5 s then.", "5 s then"),
    ("It was ≲ 5 s then.", "5 s then"),
    ("It was ⩽ 5 s then.", "5 s then"),
    ("It was ≪ 5 s then.", "5 s then"),
    ("It was ≯ 5 s then.", "5 s then"),
    ("It was ≠ 5 s then.", "5 s then"),
    ("It was =< 5 s then.", "5 s then"),
    ("At 1e-5 units it stops.", "5 units it stops"),
    ("At 2.5E+3 units it stops.", "3 units it stops"),
    ("At 2.5e-3 units it stops.", "At 2.5e"),
    ("It is about 10⁻⁶ units.", "It is about 10"),
    ("It is at pH 5…7 there.", "It is at pH 5"),
    ("It is at pH 5 ... 7 there.", "It is at pH 5"),
    ("It is at pH 5…7 there.", "7 there"),
    ("It takes 5\n% of it.", "It takes 5"),
    ("It takes 5\n€ of it.", "It takes 5"),
    ("It has 1\n000 users.", "000 users"),
    ("It has 1\n000 users.", "It has 1"),
    ("It has 5 ½ cups.", "It has 5"),
    ("It has 5 1/2 cups.", "1/2 cups"),
    ("It has 5 1/2 cups.", "It has 5"),
    ("It has 5 ½ cups.", "½ cups"),
    ("It has 5½ cups.", "It has 5"),
    ("It is 5′ long.", "It is 5"),
    ("It has 5+ users.", "It has 5"),
    ("It is 5 × 10 units.", "10 units"),
    ("It is 5 x 10 units.", "It is 5"),
    ("A speed of 5 m/s is safe.", "A speed of 5 m"),
    ("A rate of 10 MB/s is safe.", "A rate of 10 MB"),
    ("A rate of 5/day is safe.", "A rate of 5"),
    ("A price of 5 €/month is fair.", "A price of 5 €"),
    ("A price of 5€/kWh is fair.", "A price of 5€"),
    ("In the versions 7.* it is so.", "In the versions 7"),
    ("In version 5.2-rc1 it is so.", "In version 5.2"),
    ("In version 5.2+build it is so.", "In version 5.2"),
    ("An area of 5 m^2 is needed.", "An area of 5 m"),
    ("A rate of 5 m⁻¹ is safe.", "A rate of 5 m"),
    ("It is 5 °C warm.", "It is 5 °"),
    ("What the server can't do is here.", "What the server can"),
    ("What the server can’t do is here.", "What the server can"),
    ("Il n’est pas sûr.", "est pas sûr"),
    ("It is sugar-free gum.", "It is sugar"),
    ("Return !(a and b) here.", "(a and b) here"),
    ("Return ¬ (a and b) here.", "(a and b) here"),
    ("It is un-\nsafe to use.", "safe to use"),
    ("It is not-allowed here.", "allowed here"),
    ("十五日以内に返金します", "五日以内に返金します"),
    ("参加者は二十五人", "参加者は二十"),
    ("不可以退款", "可以退款"),
    ("العدد ٥٫٥ هنا", "٥ هنا"),
    ("The cost is now EUR 45.50 there.", "The cost is now EUR 45."),
    ("The cost is now EUR –55 there.", "The cost is now EUR –"),
    ("It takes 2.5 litres of it.", ".5 litres of it"),
]
MARKED_UP = [
    ("It takes **2**5 credits now.", "5 credits now", "a.md"),
    ("It takes **-**5 credits now.", "5 credits now", "a.md"),
    ("It is written in C**++** now.", "It is written in C", "a.md"),
    ("It was <=\n**5** s then.", "5 s then", "a.md"),
    ("It was < `5` s then.", "5 s then", "a.md"),
    ("<p>It is now EUR 45&nbsp;000</p>", "It is now EUR 45", "a.md"),
    ("<p>It is now EUR 45&#8239;000</p>", "It is now EUR 45", "a.md"),
    ("<p>It is now EUR 45<b>.50</b></p>", "It is now EUR 45", "a.md"),
    ("<p>It is now EUR 45<b>0</b></p>", "It is now EUR 45", "a.md"),
    ("<p>It is now 45&permil;</p>", "It is now 45", "a.md"),
    ("<p>It is now <b>1</b>45 euros</p>", "45 euros", "a.md"),
    ("<p>It is now &minus;45 euros</p>", "45 euros", "a.md"),
    ("<p>It is now &lt;45 euros</p>", "45 euros", "a.md"),
    ("<p>It is now &le;\n  <b>45</b> euros</p>", "45</b> euros", "a.md"),
    ("<p>It is now <b>un</b>safe to use</p>", "safe to use", "a.md"),
    ("<p>It is now un&shy;safe to use</p>", "safe to use", "a.md"),
]
LONG = "Users can't ever, under whatever condition, delete files at -$5 or 10⁻⁶ in other words for nothing."
BESIDE = ("Users can … delete files", "delete files … $5 or", "delete files … or 10 … for nothing")
LONGER = [*MARKED_UP, *((LONG, quote, "a.txt") for quote in BESIDE)]
WHOLE = [
    ("At 1,5 ½ of it", "½ of it"),
    ("At 10:30 ½ of it", "At 10:30"),
    ("On 3/4 1/2 of it", "On 3/4"),
    ("It is 5.5 to 7 days... 3 of it", "It is 5.5 to 7 days"),
    ("Free plan - 5 users", "5 users"),
    ("See the list (5 users) there", "(5 users) there"),
    ("Errors: 404\n500 is one more", "500 is one more"),
    ("Wow!(really) it is", "(really) it is"),
    ("A built-in-house thing", "house thing"),
    ("Pay 5 and/or leave", "Pay 5"),
    ("It’s theirs, not ours", "ours"),
    ("It runs\n$ 5to7 now", "It runs"),
    ("Listed are 5\n$ of it", "Listed are 5"),
    ("用五日以内", "日以内"),
    ("Version 12\n\n* 10 items", "10 items"),
    ("서버API 를", "API"),
    ("Pro\t20\t100\nTeam\t30\t200", "Pro\t20"),
    ("Pro\t20\t100\nTeam\t30\t200", "100"),
    ("Of 5.2 - rc1 came later", "Of 5.2"),
    ("We use C#, always.", "We use C#"),
    ("Pro   20   100\nTeam  30   200", "Pro   20"),
    ("Pro   20   100\nTeam  30   200", "200"),
    ("Chapter 5\n\n000 is the code.", "000 is the code."),
]
NO_UNITS = [("Pay 5 and/or leave", "Pay 5 and"), ("Wait 5 min/max there", "Wait 5 min")]


def located(text: str, quote: str, name: str) -> list[str]:
    found = QuoteLocator(Corpus([Document(DocumentId(name), text)])).locate(quote)
    return [" … ".join(span.text for span in place) for place in found.places]


@each(("text", "quote", "name"), [*((*pair, f"a.{kind}") for pair in CUT for kind in ("txt", "md", "rst")), *LONGER])
def test_a_sign_comparison_exponent_unit_or_negation_is_not_cut_off(text: str, quote: str, name: str) -> None:
    assert located(text, quote, name) == []
    assert located(f"It’s all: {text}", f"“{quote}”", name) == []
    if quote in text:  # so it is where a label begins or ends
        start = text.index(quote)
        assert any(are_cut(Document(DocumentId(name), text), start, start + len(quote)))


@each(("text", "quote"), [*WHOLE, *NO_UNITS])
@each("name", ["a.txt", "a.md"])
def test_what_is_whole_is_located(text: str, quote: str, name: str) -> None:
    assert located(text, quote, name) == [quote]
    start = text.index(quote)
    cut = are_cut(Document(DocumentId(name), text), start, start + len(quote))[1]
    assert not cut or (text, quote) in NO_UNITS


@pytest.mark.parametrize(
    ("text", "quote", "places"),
    [
        ("So it ends — there", "So it ends.", ["So it ends"]),
        ("So it ends”, he said", "So it ends.", ["So it ends"]),
        ("So it ends’ there", "So it ends.", ["So it ends"]),
        ("So it ends! (Or not.)", "So it ends.", ["So it ends"]),
        ("So it is 5? there", "So it is 5.", []),
        ("So it is 5! there", "So it is 5.", []),
        ("So it is 5!=6 there", "So it is 5.", []),
        ("Pay now. Pay now!", "Pay now;", ["Pay now", "Pay now"]),
        ("Pay now. Pay now!", "Pay now.", ["Pay now."]),
    ],
)
def test_final_punctuation_may_be_other_than_in_the_document_unless_it_changes_the_meaning(
    text: str, quote: str, places: list[str]
) -> None:
    assert located(text, quote, "a.txt") == places


@pytest.mark.parametrize(
    ("before", "text", "behind", "expected"),
    [
        ("a two-", "step thing", " is", (True, False)),
        ("a two", "-step thing", " is", (False, False)),
        ("the ", "manager.", "example.org", (False, True)),
        ("the ", "manager", ".example.org", (False, True)),
        ("the ", "manager.", " Then", (False, False)),
        ("a—", "word", "—is", (False, False)),
    ],
)
def test_a_word_of_a_label_goes_on_behind_a_hyphen_and_in_an_address(
    before: str, text: str, behind: str, expected: tuple[bool, bool]
) -> None:
    document = Document(DocumentId("a.txt"), f"{before}{text}{behind}")
    assert are_cut(document, len(before), len(before) + len(text)) == expected
