"""The app: a page in the browser, on this machine only, for what the command line does."""
