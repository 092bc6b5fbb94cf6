# /// script
# requires-python = ">=3.12"
# dependencies = ["openai-agents==0.24.0"]
# ///
"""The MCP server of the OpenAI Agents SDK."""

import asyncio
import json
import os

from agents.mcp import MCPServerStreamableHttp

HEADERS = {"Authorization": f"Bearer {os.environ['AGENTOPS_KEY']}", "X-AgentOps-Hold": os.environ["AGENTOPS_HOLD"]}
HEADERS["X-AgentOps-Agent"] = "demo-external"


async def main() -> None:
    bears = float(os.environ["BEARS_SECONDS"])
    params = {"url": os.environ["AGENTOPS_MCP"], "headers": HEADERS, "timeout": bears, "sse_read_timeout": 300}
    async with MCPServerStreamableHttp(params=params, client_session_timeout_seconds=bears) as server:
        tools = await server.list_tools()
        print(json.dumps({"tools": sorted(tool.name for tool in tools)}), flush=True)
        for line in iter(input, "end"):
            name, args = json.loads(line)
            try:
                told = await server.call_tool(name, args)
                print(told.content[0].text, flush=True)
            except Exception as error:
                print(json.dumps({"client_error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
