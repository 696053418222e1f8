"""A static site of many runs: a board, and a page for each model, suite, phenomenon, run and item.

Every number in it is an estimate or an outcome of a run, shown by the records and renderers of the
report. The pages load nothing and execute nothing but scripts of their own, allowed by hash.
"""

from cimento.site.build import Built, SiteSettings, write_site

__all__ = ["Built", "SiteSettings", "write_site"]
