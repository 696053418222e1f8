"""What cimento's shape is: counts of its source, and what its commands enter and cost."""
