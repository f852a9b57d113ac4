from .sdks import ANTHROPIC as ANTHROPIC
from .sdks import OPENAI as OPENAI
from .sdks import sdk_client as sdk_client
from .usage import ModelUsage as ModelUsage
from .usage import Usage as Usage
from .usage import track_usage as track_usage
