"""Text for the demo models: lexicons and probabilistic grammars of five languages."""
