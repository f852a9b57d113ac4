from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.authoring.people import absorbed, copies_of, merged
from rag_evaluation_framework.text import TextLocator

LONG = "Refunds take five working days after approval."
A, B, C = DocumentId("a.md"), DocumentId("b.md"), DocumentId("c.md")
CORPUS = Corpus(
    [
        Document(A, f"{LONG} Support helps."),
        Document(B, f"Support helps. {LONG.replace('five ', f'five{chr(10)}')}"),
        Document(C, f"Un{LONG}"),
    ]
)
LOCATOR = TextLocator(CORPUS)


def span(doc_id, start, end):
    return CharacterSpan(doc_id, start, end, CORPUS[doc_id].content[start:end])


WHOLE = span(A, 0, len(LONG))


def test_a_text_of_more_than_a_few_words_has_copies_up_to_white_space_and_not_inside_of_a_word():
    (part,) = copies_of(span(A, 1, len(LONG)), LOCATOR)[:1]
    assert part.doc_id == B
    (copy,) = copies_of(WHOLE, LOCATOR)
    assert (copy.doc_id, copy.text) == (B, LONG.replace("five ", "five\n"))
    assert copies_of(copy, LOCATOR) == (WHOLE,)
    short = span(A, len(LONG) + 1, len(CORPUS[A].content))
    assert short.text == "Support helps."
    assert copies_of(short, LOCATOR) == ()


def test_answers_that_overlap_in_one_document_are_one_unless_they_are_alternatives():
    first, second, other = span(A, 5, 20), span(A, 0, 10), span(B, 0, 7)
    assert merged([(other,), (first,), (second,)], CORPUS) == [(other,), (span(A, 0, 20),)]
    assert merged([(first, second, first), (second,)], CORPUS) == [(first, second), (second,)]


def test_an_answer_whose_only_place_is_a_copy_of_another_is_part_of_it():
    (copy,) = copies_of(WHOLE, LOCATOR)
    other = (span(A, 0, 7),)
    assert absorbed([(copy,), other, (copy, WHOLE)], (WHOLE, copy)) == [other, (copy, WHOLE)]
