from .reader import RankFile as RankFile
from .reader import read_qrels as read_qrels
from .reader import read_rankings as read_rankings
from .stored import StoredRetriever as StoredRetriever
