"""The reason/act loop: values in, events out. Standard library only."""
