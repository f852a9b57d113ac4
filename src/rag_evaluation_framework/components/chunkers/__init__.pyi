from .cutting import FixedTokenChunker as FixedTokenChunker  # fixed-token
from .cutting import MarkdownHeaderChunker as MarkdownHeaderChunker  # markdown-header
from .cutting import RecursiveCharacterChunker as RecursiveCharacterChunker  # recursive-character
from .cutting import SemanticChunker as SemanticChunker  # semantic
from .cutting import SentenceChunker as SentenceChunker  # sentence
from .function import ChunkerPositionAdapter as ChunkerPositionAdapter
from .function import FunctionChunker as FunctionChunker
from .function import position_aware as position_aware
