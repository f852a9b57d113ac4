"""`ChunkLevelDataGenerator`: questions with the chunks that answer them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Unpack

from ...adapt.adapt import OwnChunker
from ...components.llms.language_model import LanguageModel
from ...components.retrievers.vector_rag import chunk_corpus
from ...contracts import Chunker, LLMClient, PositionAwareChunker, QuestionRequest, Section
from ...contracts.registry.building import as_component
from ...data import CHUNK, AnyChunk, ChunkLevelGroundTruth, ChunkRegistry, Corpus, Level, PositionAwareChunk, Query
from ...data.ids import ChunkId, canonical_chunk_id
from ...errors import ProviderError
from .asking import Asker, CitedChunks, CitedQuestions, load_prompt, marked, read_cited_questions
from .candidates import Candidate, Evidence, Rejection, rejected
from .generator import GeneratorOptions, Messages, SyntheticDataGenerator
from .strategies import sections_of_chunks

CHUNKS = "chunks"
FAILED = "request for chunks failed"
NO_CHUNK = "no chunk cited"
UNKNOWN = "unknown chunk id"
NOT_SHOWN = "chunk that was not shown"

_Candidate = Candidate[ChunkId]
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
    prompt: ClassVar[str] = "chunk_questions"
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

    def asking(self, request: QuestionRequest) -> Messages:
        """Return the messages that ask for questions about chunks."""
        shown = _shown(request.sections, request.wish)
        return load_prompt(self.prompt).messages(wish=request.wish, chunks=shown, count=request.questions)

    def verifying(self, request: QuestionRequest, question: str) -> tuple[str, Messages] | None:
        """Return the call for the chunks of a question that is given; others are written with theirs."""
        if not request.given:
            return None
        return CHUNKS, load_prompt(CHUNKS).messages(question=question, chunks=_shown(request.sections, question))

    def verified(self, candidates: Sequence[_Candidate], asker: Asker, rejections: list[Rejection]) -> list[_Candidate]:
        """Return the questions with the chunks that were shown; those that name none are rejected."""
        calls = [self.verifying(each.request, each.question) for each in candidates]
        answers = iter(asker.ask(CitedChunks, [call[1] for call in calls if call], "Asking for chunks"))
        found: list[_Candidate] = []
        for candidate, call in zip(candidates, calls, strict=True):
            answer = next(answers) if call else None
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", FAILED, str(answer)))
            else:
                cited = candidate.cited if answer is None else tuple(answer.chunk_ids)
                found += self._checked(candidate, cited, rejections)
        return found

    def _checked(
        self, candidate: _Candidate, cited: Sequence[ChunkId], rejections: list[Rejection]
    ) -> list[_Candidate]:
        """Return a question with the chunks of these that were shown; nothing, and a rejection, if there are none."""
        shown = _by_id(candidate.request.sections)
        known = [chunk_id for chunk_id in cited if chunk_id in shown]
        failed = [chunk_id for chunk_id in cited if chunk_id not in shown]
        reasons = [NOT_SHOWN if chunk_id in self.chunk_registry else UNKNOWN for chunk_id in failed]
        if not known:
            reason = reasons[0] if reasons else NO_CHUNK
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

    def truth(self, query: Query, candidate: _Candidate) -> ChunkLevelGroundTruth:
        """Return the ground truth of a question."""
        return ChunkLevelGroundTruth(query, candidate.answers)


def _by_id(sections: Sequence[Section]) -> dict[ChunkId, AnyChunk]:
    found: dict[ChunkId, AnyChunk] = {}
    for section in sections:
        for chunk in section.chunks:
            found.setdefault(canonical_chunk_id(chunk.id), chunk)
    return found


def _shown(sections: Sequence[Section], beside: str) -> str:
    """Return chunks as prompts show them, each behind its id; a backslash marks what only looks like one."""
    texts = [
        "\n\n".join(
            f"[{key}]: '{_LIKE_AN_ID.sub(_BACKSLASH, chunk.content)}'" for key, chunk in _by_id([section]).items()
        )
        for section in sections
    ]
    return marked("chunks", texts, beside, [{"document": each.doc_id, "heading": each.heading} for each in sections])
