"""Metrics over sets of tokens (R119-R124), against plain arithmetic of sets."""

import copy
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
import tiktoken
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    CharacterSpan,
    DocumentId,
    FixedTokenChunker,
    SpanRecall,
    TokenLevelMetric,
    TokenSetF1,
    TokenSetIoU,
    TokenSetPrecision,
    TokenSetRecall,
)
from rag_evaluation_framework.contracts.registry.building import build, describe
from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.errors import ConfigError, TokenizerError
from rag_evaluation_framework.scoring.metrics import token_set
from rag_evaluation_framework.text import tokenizers as tokenizers_module
from rag_evaluation_framework.text import tokenizers as vocabularies
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support.each import each

CLASSES = [TokenSetRecall, TokenSetPrecision, TokenSetIoU, TokenSetF1]
CL100K = resolve_tokenizer("cl100k_base").encoding
every_class = pytest.mark.parametrize("metric", CLASSES)


@pytest.fixture(autouse=True)
def remember_nothing():
    token_set._cached_encoder.cache_clear()
    yield
    token_set._cached_encoder.cache_clear()


def passages(*texts, doc_id="d"):
    """Spans of one document in which the texts stand one behind the other."""
    found, start = [], 0
    for text in texts:
        found.append(CharacterSpan(DocumentId(doc_id), start, start + len(text), text))
        start += len(text)
    return found


def scores(retrieved, truth, tokenizer="cl100k_base"):
    return [metric(tokenizer).calculate(retrieved, truth) for metric in CLASSES]


def formulas(retrieved, truth, encode):
    """The formulas of the report, term by term; nothing here comes from the package."""
    t_e = {token for span in truth for token in encode(span.text)}
    t_r = {token for span in retrieved for token in encode(span.text)}
    shared = len(t_e & t_r)
    recall = shared / len(t_e) if t_e else 0.0
    precision = shared / len(t_r) if t_r else 0.0
    union = len(t_e) + len(t_r) - shared
    iou = shared / union if union else float(not retrieved and not truth)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return [recall, precision, iou, f1]


# retrieved, truth, (recall, precision, iou, f1), tokens being words
WORKED = {
    "half of the words": (["a b x"], ["a b c d"], (2 / 4, 2 / 3, 2 / 5, 4 / 7)),
    "the same text": (["a b"], ["a b"], (1, 1, 1, 1)),
    "no word in common": (["x y"], ["a b"], (0, 0, 0, 0)),
    "how often plays no part": (["a a a b", "b b"], ["a c c c"], (1 / 2, 1 / 2, 1 / 3, 1 / 2)),
    "order plays no part": (["b a"], ["a b"], (1, 1, 1, 1)),
    "several texts are one set": (["a x", "b"], ["b c", "a"], (2 / 3, 2 / 3, 2 / 4, 2 / 3)),
    "the same result twice": (["a x", "a x"], ["a b"], (1 / 2, 1 / 2, 1 / 3, 1 / 2)),
    "the same truth twice": (["a x"], ["a b", "a b"], (1 / 2, 1 / 2, 1 / 3, 1 / 2)),
    "nothing retrieved": ([], ["a"], (0, 0, 0, 0)),
    "nothing relevant": (["a"], [], (0, 0, 0, 0)),
    "nothing retrieved, nothing relevant": ([], [], (0, 0, 1, 0)),
    "an empty span adds nothing": (["a", ""], ["", "a"], (1, 1, 1, 1)),
    "spans that cover nothing": ([""], [""], (0, 0, 0, 0)),
    "texts without a token": (["  "], [" "], (0, 0, 0, 0)),
}


@each(("retrieved", "truth", "expected"), WORKED.values())
def test_scores_are_those_worked_out_by_hand(retrieved, truth, expected):
    assert scores(passages(*retrieved), passages(*truth), str.split) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("retrieved", "truth"),
    [
        (["Restart the server once.", " Then wait."], ["the server once"]),
        (["before <|endoftext|> after"], ["<|endoftext|>"]),
        (["Größe 🙂👩‍👩‍👧 漢字"], ["🙂 größe", "漢"]),
        (["a\ud800b"], ["a\udfffc"]),
        (["\x00\r\n\t"], ["\r\n"]),
    ],
)
def test_the_tokens_are_those_of_cl100k_base_unless_another_tokenizer_is_given(retrieved, truth):
    def encode(text):
        return CL100K.encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), disallowed_special=())

    retrieved, truth = passages(*retrieved), passages(*truth)
    assert scores(retrieved, truth) == pytest.approx(formulas(retrieved, truth, encode), abs=1e-15)


def test_texts_matter_as_far_as_they_are_left():
    # Text that looks like a special token is ordinary text:
    special = CL100K.encode("<|endoftext|>", allowed_special="all")
    assert len(special) == 1
    truth = passages("<|endoftext|>")
    assert scores(truth, truth) == [1, 1, 1, 1]
    # Ordinary text shares its pieces with other text; a special token would share nothing.
    assert TokenSetRecall().calculate(passages("<|end"), truth) > 0

    # Texts matter and offsets do not:
    # T09: an unrelated passage that says "the" earns something here, and nothing by its place.
    truth, unrelated = passages("Restart the server"), passages("Now pay the invoice.", doc_id="other")
    assert SpanRecall().calculate(unrelated, truth) == 0.0
    assert 0.0 < TokenSetRecall().calculate(unrelated, truth) < 0.5

    # A result that a budget cut counts with the text that is left:
    whole = CharacterSpan(DocumentId("d"), 10, 28, "Restart the server")
    cut = CharacterSpan(DocumentId("d"), 10, 17, whole.text[:7])
    assert scores([cut], [whole], str.split) == pytest.approx([1 / 3, 1, 1 / 3, 1 / 2])

    # The spans of chunks carry the text that is needed:
    # R124: no second look-up
    document = Document(DocumentId("d"), "Install the agent. Restart the server once.")
    chunks = [chunk.to_span() for chunk in FixedTokenChunker(tokens=4).chunk_with_positions(document)]
    everything = [CharacterSpan(document.id, 0, len(document.content), document.content)]
    encode = CL100K.encode_ordinary
    assert scores(chunks, everything) == pytest.approx(formulas(chunks, everything, encode), abs=1e-15)
    assert TokenSetRecall().calculate(chunks, everything) == 1.0


@given(
    retrieved=st.lists(st.text("ab c\n🙂é<|>"), max_size=5),
    truth=st.lists(st.text("ab d\n🙂é<|>"), max_size=4),
    tokenizer=st.sampled_from(["cl100k_base", "o200k_base", str.split, list]),
)
def test_scores_equal_plain_set_arithmetic(retrieved, truth, tokenizer):
    encode = tokenizer if callable(tokenizer) else tiktoken_of(tokenizer)
    retrieved, truth = passages(*retrieved), passages(*truth)
    found = scores(retrieved, truth, tokenizer)
    assert found == pytest.approx(formulas(retrieved, truth, encode), abs=1e-12)
    assert all(0 <= score <= 1 for score in found)
    recall, precision, iou, f1 = found
    assert iou <= f1 <= max(recall, precision) + 1e-12 or not (retrieved or truth)
    turned_recall, turned_precision, turned_iou, turned_f1 = scores(truth, retrieved, tokenizer)
    assert (turned_iou, turned_f1) == (iou, f1)
    assert (turned_recall, turned_precision) == (precision, recall)


def tiktoken_of(name):
    return resolve_tokenizer(name).encoding.encode_ordinary


@dataclass
class Unhashable:
    """A tokenizer that cannot be looked up."""

    calls: int = 0

    def __call__(self, text):
        self.calls += 1
        return text.split()


def word_level():
    vocabulary = {"a": 0, "b": 1, "c": 2, "x": 3, "y": 4, "?": 5}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return tokenizer


@pytest.mark.parametrize(
    "tokenizer",
    [
        str.split,
        Unhashable(),
        word_level(),
        resolve_tokenizer(str.split),
        lambda text: tuple(map(hash, text.split())),
        lambda text: np.array([ord(word) for word in text.split()]),
    ],
    ids=["function", "unhashable object", "tokenizers", "Tokenizer", "numbers", "array"],
)
def test_anything_that_is_a_tokenizer_can_be_given(tokenizer):
    assert scores(passages("a b x"), passages("a b c y"), tokenizer)[2] == pytest.approx(2 / 5)


def test_a_tokenizer_can_be_an_encoding_or_a_file(tmp_path):
    # A tiktoken encoding can be given:
    encoding = tiktoken.Encoding(
        "letters", pat_str=r"[a-z]", mergeable_ranks={b"a": 0, b"b": 1, b"c": 2}, special_tokens={"<|s|>": 3}
    )
    assert scores(passages("ab"), passages("abc"), encoding) == pytest.approx([2 / 3, 1, 2 / 3, 4 / 5])

    # A tokenizer file can be given:
    path = tmp_path / "tokenizer.json"
    word_level().save(str(path))
    for given_as in (path, str(path)):
        assert TokenSetRecall(tokenizer=given_as).calculate(passages("a x"), passages("a b")) == 0.5


@every_class
def test_constructing_a_metric_loads_nothing(metric, monkeypatch):
    def refuse(*_):
        raise AssertionError("loaded")

    monkeypatch.setattr(vocabularies, "_carried", refuse)
    monkeypatch.setattr(tokenizers_module, "load_encoding", refuse)
    monkeypatch.setattr(token_set, "resolve_tokenizer", refuse)
    made = metric(tokenizer="no-such-tokenizer")
    assert (made.name, describe(made)["tokenizer"], hash(made)) == (metric().name, "no-such-tokenizer", hash(made))


@every_class
@pytest.mark.parametrize(
    ("given_as", "message"),
    [
        *((given_as, None) for given_as in ("no-such-tokenizer", "missing.json", 7, None)),
        (lambda text: [[1], [2]], r"tokens cannot be compared.*list.*expected ids or strings"),
    ],
)
def test_a_tokenizer_that_cannot_be_used_fails_when_a_score_is_asked_for(metric, given_as, message):
    with pytest.raises(TokenizerError, match=message):
        metric(given_as).calculate(passages("a"), passages("a"))


@every_class
@pytest.mark.parametrize(
    ("retrieved", "truth", "what"),
    [
        ([CharacterSpan(DocumentId("guide.md"), 3, 9)], passages("a"), "retrieved span [3:9] of 'guide.md'"),
        (passages("a"), [CharacterSpan(DocumentId("guide.md"), 3, 9)], "relevant span [3:9] of 'guide.md'"),
        ([CharacterSpan(DocumentId("guide.md"), 3, 9)], [], "retrieved span [3:9] of 'guide.md'"),
        ([], [*passages("a"), CharacterSpan(DocumentId("guide.md"), 3, 9)], "relevant span [3:9] of 'guide.md'"),
    ],
)
def test_a_span_without_its_text_is_an_error_that_says_what_to_give(metric, retrieved, truth, what):
    with pytest.raises(ConfigError) as caught:
        metric(str.split).calculate(retrieved, truth)
    assert what in str(caught.value)
    assert metric().name in str(caught.value)
    assert "CharacterSpan(doc_id, start, end, text)" in str(caught.value)


def test_a_text_is_encoded_once_in_a_bounded_cache_of_its_tokenizer():
    # A text is encoded once for all metrics of a tokenizer:
    seen = []

    def encode(text):
        seen.append(text)
        return text.split()

    truth = passages("a b")
    for _ in range(3):
        scores(passages("a x", "b", "a x"), truth, encode)
    assert sorted(seen) == ["a b", "a x", "b"]

    # Tokenizers do not share a cache:
    retrieved, truth = passages("ab c"), passages("a bc")
    assert TokenSetRecall(str.split).calculate(retrieved, truth) == 0.0
    assert TokenSetRecall(list).calculate(retrieved, truth) == 1.0
    assert TokenSetRecall(str.split).calculate(retrieved, truth) == 0.0

    # The cache of texts is bounded:
    remembered = token_set._token_sets(str.split)
    assert remembered.cache_info().maxsize == token_set._TEXTS
    assert token_set._cached_encoder.cache_info().maxsize == token_set._TOKENIZERS


def test_a_used_metric_can_be_copied_and_pickled():
    metric = TokenSetRecall()
    assert metric.calculate(passages("a"), passages("a b")) == 0.5
    for twin in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), replace(metric)):
        assert twin == metric
        assert twin.calculate(passages("a"), passages("a b")) == 0.5


@every_class
def test_scores_are_plain_floats_and_metrics_values_with_a_tokenizer(metric):
    # Inputs are not changed and scores are plain floats:
    retrieved, truth = passages("a", "b a"), passages("b")
    given_lists = list(retrieved), list(truth)
    score = metric(str.split).calculate(*given_lists)
    assert type(score) is float
    assert given_lists == (retrieved, truth)
    assert metric(str.split).calculate(tuple(retrieved), tuple(truth)) == score

    # Token set metrics are values that score the token level only:
    assert metric() == metric("cl100k_base") != metric("o200k_base")
    assert hash(metric()) == hash(metric("cl100k_base"))
    assert isinstance(metric(), TokenLevelMetric)
    assert metric().evaluation_types == {"token-level"}

    # A metric can be named with its tokenizer:
    name = metric().name
    assert build("metric", f"{name}:tokenizer=o200k_base") == metric("o200k_base")
    assert describe(metric("o200k_base")) == {"type": name, "tokenizer": "o200k_base"}
