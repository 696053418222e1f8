"""Language models and their answers; no other package imports torch or transformers.

The names in ``__all__`` are public: with those of `cimento`, they are what a model in
another package and a training loop of your own need. They are loaded on first use.
"""

from cimento.io.public_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__, __file__)
__all__ = __dir__()  # noqa: PLE0605, RUF100  # from the one list
