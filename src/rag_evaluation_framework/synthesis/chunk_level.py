"""`ChunkLevelDataGenerator`: questions with the chunks that answer them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Unpack

from rag_evaluation_framework.components.adapt import OwnChunker
from rag_evaluation_framework.contracts import Chunker, LLMClient, PositionAwareChunker, QuestionRequest, Section
from rag_evaluation_framework.data import (
    CHUNK,
    AnyChunk,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Level,
    PositionAwareChunk,
    Query,
)
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.llms.language_model import LanguageModel
from rag_evaluation_framework.registry.building import as_component
from rag_evaluation_framework.retrievers.indexing import chunk_corpus
from rag_evaluation_framework.synthesis.asking import (
    Asker,
    CitedChunks,
    CitedQuestions,
    load_prompt,
    marked,
    read_cited_questions,
)
from rag_evaluation_framework.synthesis.candidates import Candidate, Evidence, Rejection, rejected
from rag_evaluation_framework.synthesis.estimate import VERDICT, Call, Messages, Range, named
from rag_evaluation_framework.synthesis.generation import Labeller
from rag_evaluation_framework.synthesis.generator import GeneratorOptions, SyntheticDataGenerator
from rag_evaluation_framework.synthesis.strategies import sections_of_chunks

# Chunks as labels: the model names the chunks that answer a question, and code checks the names.

CHUNKS = "chunks"
FAILED = "request for chunks failed"
NO_CHUNK = "no chunk cited"
UNKNOWN = "unknown chunk id"
NOT_SHOWN = "chunk that was not shown"

_Candidate = Candidate[ChunkId]
_BACKSLASH = r"\\["
_LIKE_AN_ID = re.compile(r"\[(?=\s*(?:pa_)?chunk_)", re.IGNORECASE)


class ChunkLabeller(Labeller[ChunkId]):
    """Asks which chunks answer a question, and labels those that were shown.

    Args:
        corpus: The documents.
        section_size: The most characters that are shown in one piece; a larger chunk is shown by itself.
        chunker: How they are cut into chunks.
    """

    level: ClassVar[Level[Any]] = CHUNK
    writes: ClassVar[str] = "chunk_questions"
    form = CitedQuestions
    read = staticmethod(read_cited_questions)

    def __init__(self, corpus: Corpus, section_size: int, chunker: Chunker | PositionAwareChunker | OwnChunker) -> None:
        super().__init__(corpus, section_size)
        self.passages = as_component(Chunker, chunker, "ChunkLevelDataGenerator")
        self._chunks = [chunk for chunk in chunk_corpus(corpus, chunker) if chunk.content.strip()]
        self.chunk_registry = ChunkRegistry(self._chunks)
        self.chunking = self.chunk_registry.fingerprint

    def sections(self) -> list[Section]:
        """Return chunks put together to sections, in their order."""
        return sections_of_chunks(self._chunks, self.section_size, self.headings)

    def verified(self, candidates: Sequence[_Candidate], asker: Asker, rejections: list[Rejection]) -> list[_Candidate]:
        """Return the questions with the chunks that were shown; those that name none are rejected."""
        candidates = self._cited(candidates, asker, rejections)
        checked = [self._checked(candidate, rejections) for candidate in candidates]
        return [candidate for candidate in checked if candidate is not None]

    def _cited(self, candidates: Sequence[_Candidate], asker: Asker, rejections: list[Rejection]) -> list[_Candidate]:
        """Return candidates with the chunks that are named for those questions that were given, not written."""
        asked = [
            load_prompt(CHUNKS).messages(question=each.question, chunks=_shown(each.request.sections, each.question))
            for each in candidates
            if each.request.given
        ]
        answers = iter(asker.ask(CitedChunks, asked, "Asking for chunks"))
        found: list[_Candidate] = []
        for candidate in candidates:
            answer = next(answers) if candidate.request.given else None
            if isinstance(answer, ProviderError):
                rejections.append(rejected(candidate, "verified", FAILED, str(answer)))
            else:
                found.append(candidate if answer is None else replace(candidate, cited=tuple(answer.chunk_ids)))
        return found

    def _checked(self, candidate: _Candidate, rejections: list[Rejection]) -> _Candidate | None:
        shown = _by_id(candidate.request.sections)
        known = [chunk_id for chunk_id in candidate.cited if chunk_id in shown]
        failed = [chunk_id for chunk_id in candidate.cited if chunk_id not in shown]
        reasons = [NOT_SHOWN if chunk_id in self.chunk_registry else UNKNOWN for chunk_id in failed]
        if not known:
            reason = reasons[0] if reasons else NO_CHUNK
            rejections.append(rejected(candidate, "verified", reason, ", ".join(failed)))
            return None
        rejections += [
            rejected(candidate, "verified", reason, chunk_id, questions=0)
            for reason, chunk_id in zip(reasons, failed, strict=True)
        ]
        return replace(
            candidate, answers=tuple(known), evidence=tuple(self._evidence(shown[chunk_id]) for chunk_id in known)
        )

    def _evidence(self, chunk: AnyChunk) -> Evidence:
        documents = frozenset(each.doc_id for each in self.chunk_registry.occurrences(chunk.id))
        if isinstance(chunk, PositionAwareChunk):
            heading = self.headings.at(chunk.doc_id, chunk.start)
            spans = self.chunk_registry.get_spans(chunk.id)
            return Evidence(chunk.content, chunk.doc_id, chunk.start, chunk.end, documents, heading, spans)
        return Evidence(chunk.content, chunk.doc_id, documents=documents)

    def asking(self, request: QuestionRequest) -> Messages:
        """Return the messages that ask for questions about chunks."""
        shown = _shown(request.sections, request.wish)
        return load_prompt(self.writes).messages(wish=request.wish, chunks=shown, count=request.questions)

    def prompts(self, request: QuestionRequest) -> Sequence[str]:
        """Return the prompt for the chunks of a question that is given."""
        return (CHUNKS,) if request.given else ()

    def verifying(self, request: QuestionRequest, mark: Range) -> list[Call]:
        """Return the call for the chunks of a question that is given; others are written with theirs."""
        del mark
        if not request.given:
            return []
        cited = load_prompt(CHUNKS).messages(question="", chunks=_shown(request.sections, ""))
        return [Call(cited, Range(), named(self.names(request)) + VERDICT)]

    def names(self, request: QuestionRequest) -> Sequence[str]:
        """Return the ids of the chunks that are shown."""
        return [*_by_id(request.sections)]

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

    def __init__(
        self,
        llm_client: LLMClient | LanguageModel,
        corpus: Corpus,
        chunker: Chunker | PositionAwareChunker | OwnChunker,
        **options: Unpack[GeneratorOptions],
    ) -> None:
        self.chunker = chunker
        super().__init__(llm_client, corpus, **options)

    def labeller(self) -> Labeller[ChunkId]:
        """Return what labels chunks."""
        return ChunkLabeller(self.corpus, self.section_size, self.chunker)
