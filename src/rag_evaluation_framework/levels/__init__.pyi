from .catalogue import RULES as RULES
from .level_rules import LevelRules as LevelRules
