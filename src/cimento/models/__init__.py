"""What a model of another package and a training loop of your own need, with names of `cimento`.

The names in ``__all__`` are public and are loaded on first use. No other package of cimento imports
torch or transformers.
"""

from cimento.io.public_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list
