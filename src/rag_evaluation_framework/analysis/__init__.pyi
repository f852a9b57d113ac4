from .comparison import Comparison as Comparison
from .comparison import Slice as Slice
from .comparison import slice_record as slice_record
from .leaderboard import Leaderboard as Leaderboard
from .leaderboard import Standing as Standing
from .leaderboard import compare as compare
