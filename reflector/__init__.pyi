from reflector.core.errors import ReflectorError as ReflectorError
from reflector.surface.api.memory import Memory as Memory

__all__ = ["Memory", "ReflectorError", "__version__"]

__version__: str
