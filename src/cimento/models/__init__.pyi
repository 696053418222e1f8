from cimento.models.base import Encoding as Encoding
from cimento.models.in_memory import undisturbed as undisturbed
from cimento.models.registry import Source as Source
