from .http import HttpEngine as HttpEngine  # http
from .pgvector import PgVectorEngine as PgVectorEngine  # pgvector
