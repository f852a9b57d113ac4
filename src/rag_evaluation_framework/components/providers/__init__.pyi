from .calls import ANTHROPIC as ANTHROPIC
from .calls import OPENAI as OPENAI
from .calls import ModelUsage as ModelUsage
from .calls import Usage as Usage
from .calls import sdk_client as sdk_client
from .calls import track_usage as track_usage
