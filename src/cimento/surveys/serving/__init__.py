"""The web application that asks: routes, storage, pages and security, each in a file."""
