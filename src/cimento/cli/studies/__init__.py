"""One command for each published study that is redone."""
