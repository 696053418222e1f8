"""What people bring: tables, read by what is in their cells.

A file becomes cells (`decoding`, `delimited`, `workbooks`, `json_rows`), the cells a table
(`tables`, `sheets`, `layout`), its columns get profiles (`profile`), and the profiles decide which
column has which role (`roles`) and what the table is (`shapes`, `known`). Names propose, contents
dispose: a column gets a role only if its cells fit, whatever it is called, and the words for names
are in one file (`words.toml`). Every reading says in one line what was read as what, what is not
used and what was left out (`reading`).
"""
