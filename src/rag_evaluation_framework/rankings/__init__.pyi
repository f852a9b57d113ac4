from .files import RankFile as RankFile
from .files import read_qrels as read_qrels
from .files import read_rankings as read_rankings
