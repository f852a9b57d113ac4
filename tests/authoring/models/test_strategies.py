"""Strategies: which questions are asked for, and that what they promise is checked."""

import re
from collections import Counter

import pytest

from rag_evaluation_framework import (
    ChunkLevelDataGenerator,
    Corpus,
    Document,
    DocumentId,
    RecursiveCharacterChunker,
    TokenLevelDataGenerator,
)
from rag_evaluation_framework.authoring.models import (
    CrossDocumentQuestions,
    DimensionQuestions,
    RealQuestions,
    SimpleQuestions,
)
from rag_evaluation_framework.authoring.models.strategies import Headings, sections_of
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.errors import ConfigError
from support.each import each
from support.scripted_llm import QUESTION, ScriptedModel, sentences

YAML = """\
personas:
  a new user: has never seen the product
  an administrator: ""
difficulty: [easy, hard]
query_types: [fact, procedure, comparison]
"""
LONG = Document(
    DocumentId("long.md"), "\n\n".join(f"Setting {number} is for {number * 7} cases." for number in range(400))
)

CORPUS = Corpus([LONG])


def generated(client, corpus, strategy, queries_per_doc=2, **options):
    generator = TokenLevelDataGenerator(client, corpus, strategies=[strategy], **{"embedder": None, **options})
    with collect_notes():
        return generator, generator.generate(queries_per_doc, upload_to_langsmith=False)


# --- dimensions -------------------------------------------------------------------------------------------------------


def test_dimensions_are_read_from_a_file_and_all_combinations_are_asked_for_equally_often(tmp_path):
    (tmp_path / "dimensions.yaml").write_text(YAML)
    strategy = DimensionQuestions.from_file(tmp_path / "dimensions.yaml")
    assert strategy == DimensionQuestions(
        {
            "persona": {"a new user": "has never seen the product", "an administrator": ""},
            "difficulty": ["easy", "hard"],
            "query_type": ["fact", "procedure", "comparison"],
        }
    )
    assert [*strategy.dimensions] == ["persona", "difficulty", "query_type"]
    sections = sections_of(CORPUS, 1000, Headings(CORPUS))
    plan = strategy.plan(sections, 24)
    counts = Counter()
    for request in plan:
        counts[tuple(request.metadata.values())] += request.questions
    assert (set(counts.values()), len(counts)) == ({2}, 12)
    assert plan == strategy.plan(sections, 24)
    assert "- persona: a new user (has never seen the product)\n- difficulty: " in "".join(each.wish for each in plan)


@pytest.mark.parametrize("questions", [2, 4])
def test_few_questions_have_different_values_of_each_dimension(questions):
    strategy = DimensionQuestions({"difficulty": ["easy", "hard"], "style": ["keywords", "a sentence"]})
    plan = strategy.plan(sections_of(CORPUS, 1000, Headings(CORPUS)), questions)
    assert {each.metadata["difficulty"] for each in plan} == {"easy", "hard"}
    assert {each.metadata["style"] for each in plan} == {"keywords", "a sentence"}


def test_questions_have_the_values_in_their_metadata(served, pages):
    _, client = served()
    strategy = DimensionQuestions({"personas": ["a new user"], "difficulty": ["easy", "hard"]})
    _, dataset = generated(client, pages, strategy, 1)
    told = [query.metadata for query in dataset.queries]
    assert [each["difficulty"] for each in told] == ["easy", "hard", "easy"]
    assert {each["persona"] for each in told} == {"a new user"}
    assert told[0]["prompt_versions"][0].startswith("dimensions@")
    assert dataset.metadata["generation"]["strategies"][0]["dimensions"]["persona"] == {"a new user": ""}


@each(
    ("given", "message"),
    [
        ({}, "expected the values of each"),
        (["persona"], "expected the values of each"),
        ({"persona": []}, "expected a list of texts"),
        ({"persona": "new"}, "expected a list of texts"),
        ({"persona": [1]}, "expected a list of texts"),
        ({"persona": {"new": 1}}, "expected a list of texts"),
        ({"persona": [" "]}, "expected a list of texts"),
        ({"source_docs": ["a"]}, "expected a name such as persona"),
        ({"query_source": ["a"]}, "expected a name such as persona"),
        ({"a b": ["a"]}, "expected a name such as persona"),
        ({name: [*"abcdefghij"] for name in "abcde"}, "100,000 combinations"),
    ],
)
def test_what_are_no_dimensions_is_refused(given, message):
    with pytest.raises(ConfigError, match=message):
        DimensionQuestions(given)


@pytest.mark.parametrize("text", ["- a\n", "persona: [\n", "persona: 3\n", ""])
def test_a_file_without_dimensions_is_refused_by_its_name(tmp_path, text):
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        DimensionQuestions.from_file(tmp_path / "bad.yaml")
    with pytest.raises(ConfigError, match=r"none\.yaml"):
        DimensionQuestions.from_file(tmp_path / "none.yaml")


# --- questions of users -----------------------------------------------------------------------------------------------


def test_the_questions_nearest_to_what_is_shown_are_examples(served, pages, tmp_path):
    (tmp_path / "log.txt").write_text("how to export my data\n\n  when do refunds come \nrestart server??\nexport\n")
    providers, client = served()
    strategy = RealQuestions.from_file(tmp_path / "log.txt")
    assert strategy.questions == ("how to export my data", "when do refunds come", "restart server??", "export")
    generated(client, pages, strategy, 3)
    asked = [
        exchange.request.json["messages"]
        for exchange in providers.exchanges
        if "have asked" in str(exchange.request.json)
    ]
    shown = {
        messages[1]["content"].split('"')[1]: re.search("<user-question>\n(.*)\n</", messages[1]["content"])[1]
        for messages in asked
    }
    assert shown == {
        "billing.md": "when do refunds come",
        "guides/start.md": "restart server??",
        "guides/stop.md": "how to export my data",
    }
    assert "refunds come" not in repr(strategy)


class Answering(ScriptedModel):
    """Quotes the first sentence of the first passage for a user's question, and judges it by a word of it."""

    def __call__(self, request):
        text = request.messages[-1][1]
        question = QUESTION.search(text)
        if question is None or question[1].startswith("What about"):
            return super().__call__(request)
        if "<excerpt" in text:
            return {"answer": "no" if "export" in question[1] else "yes"}
        chunks = re.findall(r"\[(chunk_\w+)\]", text)
        return {"chunk_ids": chunks[:1]} if chunks else {"quotes": [sentences(text)[0]]}


ASKED = ("refunds", "restart server??", "how to export my data", "who is Ada Lovelace", "invoices first day month")


@pytest.mark.parametrize("kind", [TokenLevelDataGenerator, ChunkLevelDataGenerator])
def test_users_questions_are_asked_as_they_are_before_others_are_written(served, pages, kind):
    _, client = served(Answering())
    chunking = {"chunker": RecursiveCharacterChunker(chunk_size=60)} if kind is ChunkLevelDataGenerator else {}
    generator = kind(client, pages, strategies=[RealQuestions(ASKED)], **chunking)
    with collect_notes() as notes:
        plan = generator.plan(2)
    assert notes == ["1 of 5 questions of users are not asked: BM25 finds none of their words in a document"]
    assert [request.given for _, request in plan if request.given] == [
        (ASKED[0],),
        (ASKED[4],),
        (ASKED[1],),
        (ASKED[2],),
    ]
    assert sum(request.questions for _, request in plan) == 6
    with collect_notes():
        dataset = generator.generate(2, upload_to_langsmith=False)
    of_users = [query for query in dataset.queries if query.metadata.get("query_source") == "user"]
    assert [query.text for query in of_users] == [ASKED[0], ASKED[4], ASKED[1]]  # a filter would have taken the second
    assert [version.split("@")[0] for version in of_users[0].metadata["prompt_versions"]] == (
        ["chunks", "answerable"] if chunking else ["quotes", "answerable"]
    )
    assert of_users[0].metadata["source_docs"] == ["billing.md"]
    assert {query.metadata["generation_type"] for query in of_users} == {"manual"}
    assert generator.funnel.rejected["kept"]["not answered"] == 1
    assert generator.funnel.asked == 6


def test_of_users_questions_in_the_same_words_the_first_is_asked_and_those_beyond_the_number_are_told(pages):
    asked = RealQuestions(("Refunds?", "refunds", "!", "?", "REFUNDS!", "days"))
    assert asked.questions == ("Refunds?", "!", "?", "days")
    strategy = RealQuestions(("refunds", "invoices", "refunds of invoices", "agent"))
    with collect_notes() as notes:
        plan = strategy.plan(sections_of(pages, 1000, Headings(pages)), 1)
    assert [request.given for request in plan] == [("refunds",), ("agent",), ()]
    assert notes == ["2 of 4 questions of users are not asked, as queries_per_doc=1; raise it to ask more"]


def test_questions_come_in_the_order_of_the_plan_whoever_asked_them(served, pages):
    _, client = served(Answering())
    strategies = [SimpleQuestions(), RealQuestions(ASKED)]
    generator = TokenLevelDataGenerator(client, pages, strategies=strategies, embedder=None)
    with collect_notes():
        dataset = generator.generate(1, upload_to_langsmith=False)
    told = [query.metadata["strategy"] for query in dataset.queries]
    assert told == sorted(told, reverse=True)
    assert len(set(told)) == 2


def test_a_users_question_is_answered_in_the_three_sections_that_are_nearest():
    sections = sections_of(CORPUS, 200, Headings(CORPUS))
    (request,) = RealQuestions(("Which setting is for 777 cases?",)).plan(sections, 1)
    assert len(request.sections) == 3
    assert "for 777 cases" in request.sections[0].text


def test_no_question_of_a_user_is_lost_to_one_that_was_written(served, pages):
    class Copying(Answering):
        def __call__(self, request):
            if "Number of questions" not in request.prompt:
                return super().__call__(request)
            return {"questions": [{"question": "When do refunds come?"}] if "# Billing" in request.prompt else []}

    _, client = served(Copying())
    strategies = [SimpleQuestions(), RealQuestions(("when do refunds come",))]
    generator = TokenLevelDataGenerator(client, pages, strategies=strategies, embedder=None)
    with collect_notes():
        dataset = generator.generate(1, upload_to_langsmith=False)
    assert [query.metadata.get("query_source") for query in dataset.queries] == ["user"]
    assert generator.funnel.rejected["kept"] == {"same question again": 1}


def test_a_failed_request_for_a_users_question_is_a_reason(served, pages):
    class Odd(Answering):
        def __call__(self, request):
            told = request.messages[-1][1].endswith("Question: refunds") and "<excerpt" not in request.prompt
            return "no JSON" if told else super().__call__(request)

    _, client = served(Odd())
    options = {"strategies": [RealQuestions(("refunds", "restart"))], "embedder": None}
    tokens = TokenLevelDataGenerator(client, pages, **options)
    chunks = ChunkLevelDataGenerator(client, pages, RecursiveCharacterChunker(chunk_size=60), **options)
    for generator, reason in ((tokens, "request for quotes failed"), (chunks, "request for chunks failed")):
        with collect_notes():
            generator.generate(1, upload_to_langsmith=False)
        assert generator.funnel.rejected["verified"][reason] == 1


def test_what_are_no_questions_is_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("\n \n")
    for given in ((), "how", [1], [" "]):
        with pytest.raises(ConfigError, match="expected a list of questions"):
            RealQuestions(given)
    with pytest.raises(ConfigError, match=r"empty\.txt: holds no questions"):
        RealQuestions.from_file(tmp_path / "empty.txt")
    with pytest.raises(ConfigError, match=r"nowhere\.txt: cannot be read"):
        RealQuestions.from_file(tmp_path / "nowhere.txt")


# --- several documents ------------------------------------------------------------------------------------------------


class Comparing(ScriptedModel):
    """Quotes both ends of what it is shown, and finds that one document alone does not answer."""

    def __init__(self, alone="no", **changed):
        super().__init__(both_ends, **changed)
        self.alone = alone

    def __call__(self, request):
        shown = re.findall('<excerpt.*? document="(.*?)"', request.messages[-1][1])
        return {"answer": self.alone} if len(set(shown)) == 1 else super().__call__(request)


def both_ends(sentence, request):
    shown = sentences(request.messages[-1][1])
    return {"quotes": [shown[0], shown[-1]]}


def first_two(sentence, request):
    return {"quotes": sentences(request.messages[-1][1])[:2]}


@pytest.mark.parametrize("is_placed", [True, False])
def test_a_chunk_of_both_documents_makes_no_question_about_two(served, is_placed):
    shared = "All letters of customers are answered within two working days."
    texts = {
        "a.md": f"{shared}\n\nRefunds take five days at the bank.",
        "b.md": f"{shared}\n\nGold plans cost ten euros at the bank.",
    }
    corpus = Corpus(Document(DocumentId(name), text) for name, text in texts.items())

    def cite(answer, request):
        ids = dict(re.findall(r"\[(chunk_\w+)\]: '\W*(\w+)", request.messages[-1][1]))
        named = [key for key, word in ids.items() if word in ("All", "Gold")]
        return {"questions": [{"question": "What about gold letters, all told?", "chunk_ids": named}]}

    _, client = served(ScriptedModel(questions=cite))
    chunker = (
        RecursiveCharacterChunker(chunk_size=64)
        if is_placed
        else lambda text: [f"* {each}" for each in text.split("\n\n")]
    )
    with collect_notes():
        generator = ChunkLevelDataGenerator(
            client, corpus, chunker, strategies=[CrossDocumentQuestions()], embedder=None
        )
    with collect_notes():
        dataset = generator.generate(1, upload_to_langsmith=False)
    assert len(dataset) == 0
    assert generator.funnel.rejected["verified"] == {
        "answered in fewer documents than asked for": generator.funnel.parsed
    }
    assert generator.funnel.parsed > 0


def test_the_pair_of_documents_that_is_nearest_is_asked_about_first_and_none_with_nothing_in_common(served):
    texts = [f"{'zinc ' * 3} ore{a} ore{b} rare{a}{b} rare{b}{a}" for a, b in ((0, 1), (0, 1), (5, 6), (7, 8))]
    corpus = Corpus(Document(DocumentId(f"{number}.md"), text) for number, text in enumerate(texts))
    plan = CrossDocumentQuestions(pairs=2).plan(sections_of(corpus, 1000, Headings(corpus)), 1)
    assert plan[0].doc_ids == ("0.md", "1.md")
    corpus = Corpus([Document(DocumentId("a"), "Apples grow here."), Document(DocumentId("b"), "Boats sail there.")])
    _, client = served()
    generator, dataset = generated(client, corpus, CrossDocumentQuestions(), 1)
    assert (len(dataset), generator.funnel.asked, generator.path) == (0, 0, None)


def test_questions_about_two_documents_have_answers_in_both(served, pages):
    _, client = served(Comparing())
    generator, dataset = generated(client, pages, CrossDocumentQuestions(), 1)
    assert generator.funnel.kept > 0
    pairs = [request.doc_ids for _, request in generator.plan(1)]
    assert len(set(map(frozenset, pairs))) == len(pairs) >= 2
    assert all(len(pair) == 2 for pair in pairs)
    assert any({"guides/start.md", "guides/stop.md"} == set(pair) for pair in pairs)
    for entry in dataset:
        assert len(entry.query.metadata["source_docs"]) == 2
        assert len({span.doc_id for span in entry.relevant}) == 2


@pytest.mark.parametrize(
    ("model", "stage", "reason"),
    [
        (lambda: ScriptedModel(first_two), "verified", "answered in fewer documents than asked for"),
        (lambda: Comparing("yes"), "kept", "answered by one part alone"),
        (lambda: Comparing("perhaps"), "kept", "could not be checked"),
    ],
    ids=["quotes of one", "one answers", "not judged"],
)
def test_a_question_that_one_document_answers_is_rejected(served, pages, model, stage, reason):
    _, client = served(model())
    generator, dataset = generated(client, pages, CrossDocumentQuestions(pairs=1), 1)
    assert len(dataset) == 0
    assert generator.funnel.rejected[stage].keys() == {reason}
    assert getattr(generator.funnel, stage) == 0 < generator.funnel.parsed


def test_chunks_of_two_documents_are_cited(served, pages):
    def cite(answer, request):
        ids = [each["chunk_ids"][0] for each in answer["questions"]]
        return {"questions": [{**answer["questions"][0], "chunk_ids": [ids[0], ids[-1]]}]}

    model = Comparing(questions=lambda answer, request: cite(model._asked(request.messages[-1][1], 99), request))
    _, client = served(model)
    generator = ChunkLevelDataGenerator(
        client,
        pages,
        RecursiveCharacterChunker(chunk_size=60),
        strategies=[CrossDocumentQuestions(pairs=1)],
        embedder=None,
    )
    with collect_notes():
        dataset = generator.generate(1, upload_to_langsmith=False)
    assert len(dataset) > 0
    assert all(len(entry.query.metadata["source_docs"]) == 2 for entry in dataset)
