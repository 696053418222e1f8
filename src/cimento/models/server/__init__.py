"""Models behind OpenAI-compatible servers: requests, answers, identities, scores and replies."""
