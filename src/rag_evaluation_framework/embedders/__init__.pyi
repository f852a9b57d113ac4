from .lsa import LsaEmbedder as LsaEmbedder
