from .candidates import Rejection as Rejection
from .chunk_level import ChunkLevelDataGenerator as ChunkLevelDataGenerator
from .funnel import Funnel as Funnel
from .generator import SyntheticDataGenerator as SyntheticDataGenerator
from .given import DEFAULT_MODEL as DEFAULT_MODEL
from .strategies import SimpleQuestions as SimpleQuestions
from .token_level import TokenLevelDataGenerator as TokenLevelDataGenerator
