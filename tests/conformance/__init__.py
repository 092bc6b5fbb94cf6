"""What the official suite of MCP is run against: our door and our assembly, with the suite's own fixtures behind."""
