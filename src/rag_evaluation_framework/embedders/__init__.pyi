from .cached import CachedEmbedder as CachedEmbedder
from .lsa import LsaEmbedder as LsaEmbedder
from .sentence_transformer import SentenceTransformerEmbedder as SentenceTransformerEmbedder
