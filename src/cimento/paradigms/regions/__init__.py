"""Regions: predictions about the surprisals of regions, judged item by item."""
