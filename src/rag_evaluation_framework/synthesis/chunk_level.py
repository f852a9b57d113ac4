"""`ChunkLevelDataGenerator`: questions with the chunks that answer them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Unpack

from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.llm_client import LLMClient
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, Section
from rag_evaluation_framework.data.chunk_registry import ChunkRegistry
from rag_evaluation_framework.data.chunks import AnyChunk
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import ChunkLevelGroundTruth
from rag_evaluation_framework.data.ids import ChunkId, canonical_chunk_id
from rag_evaluation_framework.data.levels import CHUNK, Level
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.llms.language_model import LanguageModel
from rag_evaluation_framework.retrievers.indexing import chunk_corpus
from rag_evaluation_framework.synthesis.asking import Asker, Form
from rag_evaluation_framework.synthesis.candidates import Candidate, Rejection, rejected
from rag_evaluation_framework.synthesis.estimate import Messages
from rag_evaluation_framework.synthesis.forms import CitedQuestions, read_cited_questions
from rag_evaluation_framework.synthesis.generator import SyntheticDataGenerator
from rag_evaluation_framework.synthesis.given import GeneratorOptions
from rag_evaluation_framework.synthesis.prompt_files import load_prompt
from rag_evaluation_framework.synthesis.sections import sections_of_chunks

NO_CHUNK = "no chunk cited"
UNKNOWN = "unknown chunk id"
NOT_SHOWN = "chunk that was not shown"

_Candidate = Candidate[ChunkId]


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
    prompts: ClassVar[tuple[str, ...]] = ("chunk_questions",)

    def __init__(
        self,
        llm_client: LLMClient | LanguageModel,
        corpus: Corpus,
        chunker: Chunker | PositionAwareChunker | Callable[[str], Any],
        **options: Unpack[GeneratorOptions],
    ) -> None:
        super().__init__(llm_client, corpus, **options)
        self.chunker = chunker
        self._chunks = [chunk for chunk in chunk_corpus(self.corpus, chunker) if chunk.content.strip()]
        self.chunk_registry = ChunkRegistry(self._chunks)

    def _sections(self) -> list[Section]:
        return sections_of_chunks(self._chunks, self.section_size)

    def _proposed(self, requests: Sequence[QuestionRequest], asker: Asker) -> list[list[_Candidate] | ProviderError]:
        asked = [self._asking(request) for request in requests]
        answers = asker.ask(Form(CitedQuestions, read_cited_questions), asked, "Asking for questions")
        return [
            answer
            if isinstance(answer, ProviderError)
            else [
                Candidate(each.question, request, cited=tuple(dict.fromkeys(map(canonical_chunk_id, each.chunk_ids))))
                for each in answer.questions
            ]
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _verified(
        self, candidates: Sequence[_Candidate], asker: Asker, rejections: list[Rejection]
    ) -> list[_Candidate]:
        del asker
        checked = [self._checked(candidate, rejections) for candidate in candidates]
        return [candidate for candidate in checked if candidate is not None]

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
        chunks = [shown[chunk_id] for chunk_id in known]
        return replace(
            candidate,
            answers=tuple(known),
            excerpts=tuple(chunk.content for chunk in chunks),
            source_docs=tuple(dict.fromkeys(chunk.doc_id for chunk in chunks)),
        )

    def _asking(self, request: QuestionRequest) -> Messages:
        shown = _shown(request.sections)
        return load_prompt("chunk_questions").messages(wish=request.wish, chunks=shown, count=request.questions)

    def _named(self, request: QuestionRequest) -> Sequence[str]:
        return [*_by_id(request.sections)]

    def _truth(self, query: Query, candidate: _Candidate) -> ChunkLevelGroundTruth:
        return ChunkLevelGroundTruth(query, candidate.answers)

    @property
    def _chunking(self) -> str | None:
        return self.chunk_registry.fingerprint


def _by_id(sections: Sequence[Section]) -> dict[ChunkId, AnyChunk]:
    chunks = [chunk for section in sections for chunk in section.chunks]
    return {canonical_chunk_id(chunk.id): chunk for chunk in reversed(chunks)}


def _shown(sections: Sequence[Section]) -> str:
    """Return chunks as the prompt shows them, each once, behind its id."""
    return "\n\n".join(f"[{chunk_id}]: '{chunk.content}'" for chunk_id, chunk in reversed(_by_id(sections).items()))
