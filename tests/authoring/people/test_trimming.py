import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.authoring.people import sentences_of, trimmed
from rag_evaluation_framework.authoring.people.passages import moved_ends
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.labels import QuoteLocator
from support.each import each

TEXT = "# Refunds\n\nRefunds take 5 days.  They are paid\nto the card. It is 5 days.\n\nElsewhere: five days."
DOC = DocumentId("a.md")
CORPUS = Corpus([Document(DOC, TEXT)])
LOCATOR = QuoteLocator(CORPUS)


def passage(end="\n\nElsewhere"):
    stop = TEXT.index(end)
    return CharacterSpan(DOC, 0, stop, TEXT[:stop])


def test_the_sentences_of_a_passage_have_no_white_space_at_their_ends_and_are_those_of_the_document():
    sentences = sentences_of(passage(), CORPUS)
    texts = ["# Refunds", "Refunds take 5 days.", "They are paid\nto the card.", "It is 5 days."]
    assert [sentence.text for sentence in sentences] == texts
    assert [TEXT[sentence.start : sentence.end] for sentence in sentences] == texts


@each(
    ("typed", "text"),
    [
        ("", "# Refunds\n\nRefunds take 5 days.  They are paid\nto the card. It is 5 days."),
        ("2", "Refunds take 5 days."),
        ("2-3", "Refunds take 5 days.  They are paid\nto the card."),
        ("2 - 2", "Refunds take 5 days."),
        ("paid to the card", "paid\nto the card"),
        ("'5'", "5"),
        ("“paid to”", "paid\nto"),
        ("PAID to the Card", "paid\nto the card"),
        ("“Paid TO”", "paid\nto"),
        ("five days", "five days"),  # the words go on outside of the passage
    ],
)
def test_what_is_typed_is_a_place_in_the_document(typed, text):
    span = trimmed(typed, passage(), LOCATOR)
    assert span.text == text == TEXT[span.start : span.end]


def test_of_words_that_occur_twice_those_with_the_same_capitals_come_first_and_then_the_nearest():
    second = CharacterSpan(DOC, TEXT.index("It is"), TEXT.index("\n\nElse"))
    assert trimmed("5 days", second, LOCATOR).start == TEXT.index("It is") + len("It is ")
    assert trimmed("5 days", passage(), LOCATOR).start == TEXT.index("5 days")
    text = "Two Days. It takes two days."
    locator = QuoteLocator(Corpus([Document(DOC, text)]))
    assert trimmed("two days", CharacterSpan(DOC, 0, 9, text[:9]), locator).start == text.index("two days")


ONE = CharacterSpan(DOC, TEXT.index("It is"), TEXT.index("\n\nElse"))


@pytest.mark.parametrize(
    ("typed", "chosen", "problem"),
    [
        ("5", passage(), "5: there are sentences from 1 to 4; words that are a number are typed in quotation marks"),
        ("0", passage(), "there are sentences from 1 to 4"),
        ("3-2", passage(), "there are sentences from 1 to 4"),
        ("2", ONE, "2: there is only sentence 1; words that are a number are typed in quotation"),
        ("fund", passage(), "'fund' is not in 'a.md'; expected whole words"),
        ("FUND", passage(), "'FUND' is not in 'a.md'; expected whole words"),
        (
            "a",
            passage(),
            "'a' is a single character; expected the number of a sentence, such as 2, or more words; in",
        ),
        ("six days", passage(), "'six days' is not in 'a.md'; expected whole words as they are shown above"),
    ],
)
def test_what_is_no_part_of_the_passage_is_refused(typed, chosen, problem):
    with pytest.raises(InputError, match=problem):
        trimmed(typed, chosen, LOCATOR)


@each(
    ("typed", "text"),
    [
        ("w>", "take 5 days.  They"),
        ("w>>", "take 5 days.  They are"),
        ("w<", "take 5"),
        ("<w", "Refunds take 5 days."),
        (">w", "5 days."),
        ("<w>", "Refunds take 5 days.  They"),
        (">>w", "days."),
        ("s>", "take 5 days.  They are paid\nto the card."),
        ("<s", "Refunds take 5 days."),
        ("<<s", "# Refunds\n\nRefunds take 5 days."),
        ("<<<<<<s", "# Refunds\n\nRefunds take 5 days."),
        ("s>>>", "take 5 days.  They are paid\nto the card. It is 5 days.\n\nElsewhere: five days."),
    ],
)
def test_the_ends_of_an_answer_move_by_words_and_sentences(typed, text):
    start = TEXT.index("take")
    start, end = moved_ends(typed, TEXT, start, start + len("take 5 days."))
    assert TEXT[start:end] == text


def test_chinese_ends_move_by_characters():
    text = "退款需要五天。到卡上。"
    assert [moved_ends(typed, text, 2, 4) for typed in ("w>", "<w", "s>", "w<")] == [(2, 5), (1, 4), (2, 7), (2, 3)]


TAKE = TEXT.index("take 5 days.")


PLACES = {"take": (TAKE, TAKE + len("take 5 days.")), "all": (0, len(TEXT))}


@each(
    ("typed", "of", "problem"),
    [
        *((typed, "take", "is not understood") for typed in ("w", "s", "<>w", "x>", "w>s>", ">", "", "w2")),
        *((typed, "take", "Nothing would be left") for typed in ("s<<<<", ">s", ">>>w", "w<<<", ">>w<")),
        *((typed, "all", "has nothing more there") for typed in ("<w", "w>", "<s", "s>")),
    ],
)
def test_ends_that_are_nowhere_are_refused(typed, of, problem):
    with pytest.raises(InputError, match=problem):
        moved_ends(typed, TEXT, *PLACES[of])
