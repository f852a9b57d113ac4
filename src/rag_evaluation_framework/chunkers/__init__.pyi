from .fixed_token import FixedTokenChunker as FixedTokenChunker
from .function import FunctionChunker as FunctionChunker
from .markdown_header import MarkdownHeaderChunker as MarkdownHeaderChunker
from .position_adapter import ChunkerPositionAdapter as ChunkerPositionAdapter
from .position_adapter import position_aware as position_aware
from .recursive_character import RecursiveCharacterChunker as RecursiveCharacterChunker
from .semantic import SemanticChunker as SemanticChunker
from .sentence import SentenceChunker as SentenceChunker
