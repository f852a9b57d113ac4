from .attribution import Attribution as Attribution
from .causes import CAUSES as CAUSES
from .explaining import explain as explain
from .explanation import Explanation as Explanation
