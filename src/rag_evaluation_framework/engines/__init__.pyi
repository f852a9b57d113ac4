from .pgvector import PgVectorEngine as PgVectorEngine
