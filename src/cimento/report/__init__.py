"""Results of runs in forms for people and programs: JSON, terminal, Markdown, CSV, HTML."""
