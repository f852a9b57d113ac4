from .rules import RULES as RULES
from .rules import LevelRules as LevelRules
