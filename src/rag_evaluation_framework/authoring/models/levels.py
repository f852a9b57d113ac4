"""`TokenLevelDataGenerator` and `ChunkLevelDataGenerator`: questions with the spans, or chunks, that answer them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Unpack

from ...adapt.adapt import OwnChunker
from ...components.llms.language_model import LanguageModel
from ...components.retrievers.indexing import chunk_corpus
from ...contracts import Chunker, LLMClient, PositionAwareChunker, Section
from ...contracts.registry.building import as_component
from ...data import Answer, AnyChunk, CharacterSpan, ChunkRegistry, Corpus, PositionAwareChunk, Query
from ...data.documents import DocumentResolver
from ...data.ground_truth import ChunkLevelGroundTruth, TokenLevelGroundTruth
from ...data.ids import ChunkId, canonical_chunk_id
from ...data.levels import CHUNK, TOKEN, Level
from ...errors import ProviderError
from ...labels.quote_locator import QuoteLocator
from ...labels.quote_table import MOST_OCCURRENCES, locate_quote
from ...text.markups.markup import struck_out
from ...text.text_locator import is_long
from ..people.passages import copies_of, merged
from .asking import AskedQuestions, Asker, CitedChunks, CitedQuestions, Quotes, marked, read_cited_questions
from .filters import Candidate, Evidence, Reason, Rejection, flaw_of_quotes, rejected, sifted, without_question
from .generator import GeneratorOptions, SyntheticDataGenerator, passages
from .strategies import sections_of, sections_of_chunks

# Token level: the quotes that answer a question, found in the documents.


_Place = tuple[CharacterSpan, ...]
_Quoted = Candidate[CharacterSpan]


class TokenLevelDataGenerator(SyntheticDataGenerator[CharacterSpan]):
    """Generator of questions with the spans that answer them, independent of any chunker.

    One call writes questions, one more for each question copies out what answers it, verbatim. Code finds these quotes
    in what was shown, as it finds people's: up to white space, typography and markup. What is not found, such as a
    paraphrase, is left out, and so is a short text that stands there several times; a question without any quote is
    rejected.

    The parameters are those of `SyntheticDataGenerator`; its `chunk_registry` has the quotes as position-aware chunks.
    """

    level: ClassVar[Level[Any]] = TOKEN
    prompts = "questions", "quotes"
    form = AskedQuestions
    shown = staticmethod(passages)

    @cached_property
    def _locator(self) -> QuoteLocator:
        return QuoteLocator.of(self.corpus)

    def sections(self) -> list[Section]:
        """Return all documents in parts of whole paragraphs."""
        return sections_of(self.corpus, self.section_size, self.headings)

    def verified(self, candidates: Sequence[_Quoted], asker: Asker, rejections: list[Rejection]) -> list[_Quoted]:
        """Return the questions with the places of their quotes; those of which no quote is found are rejected."""
        asked = [messages for each in candidates for _, messages in self.verifying(each.request, each.question)]
        found: list[_Quoted] = []
        for candidate, answer in zip(candidates, asker.ask(Quotes, asked, "Asking for quotes"), strict=True):
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", "request for quotes failed", str(answer)))
                continue
            quotes = dict.fromkeys(filter(str.strip, answer.quotes))
            placed = [self._located(quote, candidate.request.sections) for quote in quotes]
            answers = distinct((each for each in placed if isinstance(each, Answer)), self.corpus)
            failed = [each for each in placed if not isinstance(each, Answer)]
            if not answers:
                rejections.append(rejected(candidate, "verified", *(failed[0] if failed else ("no quote", ""))))
                continue
            rejections += [rejected(candidate, "verified", *reason, questions=0) for reason in failed]
            evidence = tuple(map(self._evidence, answers))
            found.append(without_question(replace(candidate, answers=tuple(answers), evidence=evidence), rejections))
        return sifted(found, "verified", map(flaw_of_quotes, found), rejections)

    def truth(self, query: Query, candidate: _Quoted) -> TokenLevelGroundTruth:
        """Return the ground truth of a question, and keep its spans in the registry."""
        truth = TokenLevelGroundTruth(query, candidate.answers)
        for span in truth.labels:
            self.chunk_registry.register_pa_chunk(PositionAwareChunk.of(self.corpus[span.doc_id], span.start, span.end))
        return truth

    def _located(self, quote: str, sections: Sequence[Section]) -> Answer[CharacterSpan] | Reason:
        """Return where a quote stands in the sections, as ground truth takes it; or why it is not taken.

        If it stands there several times, or elsewhere too, and is long enough to be the same wherever it stands, each
        place answers: they are alternatives.
        """
        locator = self._locator
        docs = tuple(dict.fromkeys(section.doc_id for section in sections))
        found = [place for doc_id in docs for place in locator.locate(quote, doc_id, MOST_OCCURRENCES + 1).places]
        inside = [place for place in found if _is_shown(place, sections)]
        if not inside:
            if found or locator.locate(quote, None, 1).places:
                return "quote not in what was shown", quote
            advice = locate_quote(quote, docs[0], locator, DocumentResolver(self.corpus)).advice
            return "quote not in the documents", f"{quote}; {advice}" if advice else quote
        valid = [place for place in inside if not self._flaw(place)]
        if not valid:
            return self._flaw(inside[-1]), quote
        if len(valid) > 1 and not (is_long(quote) and len({self._text_shown(place) for place in valid}) == 1):
            return "ambiguous quote", f"{len(valid)} places in what was shown: {quote}"
        if any(len(place) > 1 for place in valid):  # "A … B": of the two together nothing is a copy
            return Answer(tuple(valid))
        spans = [place[0] for place in valid]
        copies = [
            copy
            for copy in copies_of(spans[0], locator.verbatim)
            if not (any(map(copy.overlaps, spans)) or self._flaw((copy,)))
        ]
        return Answer.any_of(*spans, *copies)

    def _flaw(self, place: _Place) -> str:
        """Return why a place answers nothing: a part of it is not shown, or is struck out; "" if it is all right."""
        markups = [(self._locator.markup(span), span.start, span.end) for span in place]
        if not all(markup.shows(start, end) for markup, start, end in markups):
            return "quote of text that readers do not see"
        return "quote of text that is struck out" if any(struck_out(*each) == "all" for each in markups) else ""

    def _text_shown(self, place: _Place) -> str:
        """Return the text of a place as readers see it, up to white space."""
        parts = [self._locator.markup(span).shown(span.start, span.end) for span in place]
        return " ".join(" ".join(parts).split())

    def _evidence(self, answer: Answer[CharacterSpan]) -> Evidence:
        """Return the text of the first place of an answer, and all of its places."""
        first, documents = answer.reference[0], frozenset(span.doc_id for span in answer.units)
        text = " … ".join(span.text for span in answer.reference)
        return Evidence(text, first.doc_id, documents, self.headings.at(first.doc_id, first.start), answer.units)


def _is_shown(place: _Place, sections: Iterable[Section]) -> bool:
    """Return whether all of a place is in one of the sections."""
    chunks = (chunk for section in sections for chunk in section.chunks)
    return any(isinstance(chunk, PositionAwareChunk) and _covers((chunk,), place) for chunk in chunks)


def distinct(answers: Iterable[Answer[CharacterSpan]], corpus: Corpus) -> list[Answer[CharacterSpan]]:
    """Return answers of which none is a part of another; spans that overlap or touch are one.

    Args:
        answers: The answers to a question, in their order.
        corpus: The documents.
    """
    listed = list(answers)
    whole = merged([each.units for each in listed if len(each.units) == 1], corpus)
    kept = dict.fromkeys(
        each if len(each.units) > 1 else Answer((next(place for place in whole if _covers(place, each.units)),))
        for each in listed
    )
    return [
        each for each in kept if not any(other != each and _covers(other.reference, each.reference) for other in kept)
    ]


def _covers(outer: Sequence[CharacterSpan | PositionAwareChunk], inner: _Place) -> bool:
    return all(
        any(one.doc_id == span.doc_id and one.start <= span.start and span.end <= one.end for one in outer)
        for span in inner
    )


# Chunk level: the chunks that answer a question, as the model names them.


_Cited = Candidate[ChunkId]
_BACKSLASH = r"\\["
_LIKE_AN_ID = re.compile(r"\[(?=\s*(?:pa_)?chunk_)", re.IGNORECASE)


class ChunkLevelDataGenerator(SyntheticDataGenerator[ChunkId]):
    """Generator of questions with the chunks that answer them, bound to one chunker.

    One call writes questions and names the chunks that answer each. An id that does not exist, or was not shown, is
    left out; a question without any chunk is rejected.

    Args:
        llm_client: As of `SyntheticDataGenerator`, whose other parameters it has, too.
        corpus: The documents.
        chunker: The chunker that the evaluation uses.

    Attributes:
        chunk_registry: All chunks of the documents.
    """

    level: ClassVar[Level[Any]] = CHUNK
    prompts = "chunk_questions", "chunks"
    form = CitedQuestions
    read = staticmethod(read_cited_questions)

    def __init__(
        self,
        llm_client: LLMClient | LanguageModel,
        corpus: Corpus,
        chunker: Chunker | PositionAwareChunker | OwnChunker,
        **options: Unpack[GeneratorOptions],
    ) -> None:
        super().__init__(llm_client, corpus, **options)
        self.chunker = as_component(Chunker, chunker, "ChunkLevelDataGenerator")
        self._chunks = [chunk for chunk in chunk_corpus(corpus, self.chunker) if chunk.content.strip()]
        self.chunk_registry = ChunkRegistry(self._chunks)
        self.chunking = self.chunk_registry.fingerprint

    def sections(self) -> list[Section]:
        """Return chunks put together to sections, in their order."""
        return sections_of_chunks(self._chunks, self.section_size, self.headings)

    @staticmethod
    def shown(sections: Sequence[Section], beside: str) -> str:
        """Return chunks as prompts show them, each behind its id; a backslash marks what only looks like one."""
        texts = [
            "\n\n".join(
                f"[{key}]: '{_LIKE_AN_ID.sub(_BACKSLASH, chunk.content)}'" for key, chunk in _by_id([section]).items()
            )
            for section in sections
        ]
        told = [{"document": each.doc_id, "heading": each.heading} for each in sections]
        return marked("chunks", texts, beside, told)

    def verified(self, candidates: Sequence[_Cited], asker: Asker, rejections: list[Rejection]) -> list[_Cited]:
        """Return the questions with the chunks that were shown; those that name none are rejected."""
        asked = [messages for each in candidates for _, messages in self.verifying(each.request, each.question)]
        answers = iter(asker.ask(CitedChunks, asked, "Asking for chunks"))
        found: list[_Cited] = []
        for candidate in candidates:
            answer = next(answers) if candidate.request.given else None
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", "request for chunks failed", str(answer)))
            else:
                cited = candidate.cited if answer is None else tuple(answer.chunk_ids)
                found += self._checked(candidate, cited, rejections)
        return found

    def _checked(self, candidate: _Cited, cited: Sequence[ChunkId], rejections: list[Rejection]) -> list[_Cited]:
        """Return a question with the chunks of these that were shown; nothing, and a rejection, if there are none."""
        shown = _by_id(candidate.request.sections)
        known = [chunk_id for chunk_id in cited if chunk_id in shown]
        failed = [chunk_id for chunk_id in cited if chunk_id not in shown]
        reasons = ["chunk that was not shown" if one in self.chunk_registry else "unknown chunk id" for one in failed]
        if not known:
            reason = reasons[0] if reasons else "no chunk cited"
            rejections.append(rejected(candidate, "verified", reason, ", ".join(failed)))
            return []
        for reason, chunk_id in zip(reasons, failed, strict=True):
            rejections.append(rejected(candidate, "verified", reason, chunk_id, questions=0))
        evidence = tuple(self._evidence(shown[chunk_id]) for chunk_id in known)
        return [replace(candidate, answers=tuple(known), evidence=evidence)]

    def _evidence(self, chunk: AnyChunk) -> Evidence:
        documents = frozenset(each.doc_id for each in self.chunk_registry.occurrences(chunk.id))
        if not isinstance(chunk, PositionAwareChunk):
            return Evidence(chunk.content, chunk.doc_id, documents)
        heading = self.headings.at(chunk.doc_id, chunk.start)
        return Evidence(chunk.content, chunk.doc_id, documents, heading, self.chunk_registry.get_spans(chunk.id))

    def truth(self, query: Query, candidate: _Cited) -> ChunkLevelGroundTruth:
        """Return the ground truth of a question."""
        return ChunkLevelGroundTruth(query, candidate.answers)


def _by_id(sections: Sequence[Section]) -> dict[ChunkId, AnyChunk]:
    found: dict[ChunkId, AnyChunk] = {}
    for section in sections:
        for chunk in section.chunks:
            found.setdefault(canonical_chunk_id(chunk.id), chunk)
    return found
