"""`ChunkLevelDataGenerator`: questions with the chunks that answer them."""

from collections.abc import Callable
from typing import Any, Unpack

from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.contracts.llm_client import LLMClient
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import ChunkId
from rag_evaluation_framework.llms.language_model import LanguageModel
from rag_evaluation_framework.synthesis.chunk_labeller import ChunkLabeller
from rag_evaluation_framework.synthesis.generator import SyntheticDataGenerator
from rag_evaluation_framework.synthesis.given import GeneratorOptions
from rag_evaluation_framework.synthesis.labeller import Labeller


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
        chunker: Chunker | PositionAwareChunker | Callable[[str], Any],
        **options: Unpack[GeneratorOptions],
    ) -> None:
        self.chunker = chunker
        super().__init__(llm_client, corpus, **options)

    def labeller(self) -> Labeller[ChunkId]:
        """Return what labels chunks."""
        return ChunkLabeller(self.corpus, self.section_size, self.chunker)
