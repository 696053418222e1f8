"""The commands of ``cimento annotate``."""
