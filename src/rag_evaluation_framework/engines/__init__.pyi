from .http import HttpEngine as HttpEngine
