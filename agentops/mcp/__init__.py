"""The door for other people's agents: the Model Context Protocol on `/mcp` and `/mcp/r/<run>`."""
