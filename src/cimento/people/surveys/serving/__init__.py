"""The web application of a survey: storage, security, pages and results."""
