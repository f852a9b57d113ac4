from .calls import ANTHROPIC as ANTHROPIC
from .calls import OPENAI as OPENAI
from .calls import sdk_client as sdk_client
from .usage import ModelUsage as ModelUsage
from .usage import Usage as Usage
from .usage import track_usage as track_usage
