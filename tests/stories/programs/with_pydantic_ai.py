# /// script
# requires-python = ">=3.12"
# dependencies = ["pydantic-ai-slim[mcp]==2.68.0"]
# ///
"""Pydantic AI's toolset of an MCP server."""

import asyncio
import json
import os

from pydantic_ai.mcp import MCPToolset

HEADERS = {"Authorization": f"Bearer {os.environ['AGENTOPS_KEY']}", "X-AgentOps-Hold": os.environ["AGENTOPS_HOLD"]}
HEADERS["X-AgentOps-Agent"] = "demo-external"


async def main() -> None:
    bears = float(os.environ["BEARS_SECONDS"])
    toolset = MCPToolset(os.environ["AGENTOPS_MCP"], headers=HEADERS, read_timeout=bears, tool_error_behavior="error")
    async with toolset:
        tools = await toolset.list_tools()
        print(json.dumps({"tools": sorted(tool.name for tool in tools)}), flush=True)
        for line in iter(input, "end"):
            name, args = json.loads(line)
            try:
                told = await toolset.direct_call_tool(name, args)
                print(json.dumps(told[0] if isinstance(told, list) else told), flush=True)
            except Exception as error:
                print(json.dumps({"client_error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
