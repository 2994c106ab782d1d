"""Starts and supervises the processes of agentweb. Standard library only, one thread, small in memory."""
