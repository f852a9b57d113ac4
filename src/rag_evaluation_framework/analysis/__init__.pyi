from .comparison import Comparison as Comparison
from .leaderboard import Leaderboard as Leaderboard
from .leaderboard import Standing as Standing
from .leaderboard import compare as compare
