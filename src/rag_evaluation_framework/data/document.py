"""One document of a corpus."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_evaluation_framework.corpus.readers import Source
from rag_evaluation_framework.data.ids import DocumentId, canonical_document_id, content_digest
from rag_evaluation_framework.data.values import FrozenDict, check_texts, freeze_metadata
from rag_evaluation_framework.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Document:
    """Document of a corpus.

    Attributes:
        id: Name of the document in datasets and results, in Unicode's normal form NFC; unique in its corpus.
        content: The whole text, as it is whatever the suffix of the id; all offsets count its code points.
        metadata: Anything else about the document; a copy that cannot be changed.
        source: The file from which a reader made the text; None of a text that is its file, or was given. Documents
            are equal though their sources are not.

    Raises:
        CorpusError: A field is of another type.
    """

    id: DocumentId
    content: str
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict[str, Any], hash=False)
    source: Source | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_texts(self, CorpusError, "id", "content")
        object.__setattr__(self, "id", canonical_document_id(self.id))
        freeze_metadata(self, CorpusError)

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text in UTF-8, 64 hexadecimal digits."""
        return content_digest(self.content)
