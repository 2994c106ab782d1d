"""What agents can use: tools as plain Python functions, one file each, that know no web framework."""
