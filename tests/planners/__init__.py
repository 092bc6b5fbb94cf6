"""Tests of the planner that is a model: real sockets, a real database, every fault of a server."""
