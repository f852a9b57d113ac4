from .usage import ModelUsage as ModelUsage
from .usage import Usage as Usage
from .usage import track_usage as track_usage
