from .selection import top_k as top_k
