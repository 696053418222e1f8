"""What runs say, for people and programs: JSON, terminal, Markdown, CSV, HTML."""
