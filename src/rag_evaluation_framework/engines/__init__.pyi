from .http import HttpEngine as HttpEngine
from .pgvector import PgVectorEngine as PgVectorEngine
