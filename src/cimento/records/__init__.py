"""Records of a run: outcomes, estimates, summaries, usage, and the folder in which they lie."""
