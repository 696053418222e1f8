"""Stories in tiers: is a story plausible, which two sentences conflict, which state explains it."""
