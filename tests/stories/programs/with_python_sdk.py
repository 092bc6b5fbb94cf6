# /// script
# requires-python = ">=3.12"
# dependencies = ["mcp==2.3.0"]
# ///
"""The Python SDK's own client, in the era that the environment names."""

import asyncio
import json
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

HEADERS = {"Authorization": f"Bearer {os.environ['AGENTOPS_KEY']}", "X-AgentOps-Hold": os.environ["AGENTOPS_HOLD"]}
HEADERS["X-AgentOps-Agent"] = "demo-external"


async def main() -> None:
    async with httpx2.AsyncClient(headers=HEADERS, timeout=300) as http:
        transport = streamable_http_client(os.environ["AGENTOPS_MCP"], http_client=http)
        bears, era = float(os.environ["BEARS_SECONDS"]), os.environ.get("MCP_ERA", "auto")
        async with Client(transport, mode=era, read_timeout_seconds=bears) as client:
            tools = (await client.list_tools()).tools
            print(json.dumps({"tools": sorted(tool.name for tool in tools)}), flush=True)
            for line in iter(input, "end"):
                name, args = json.loads(line)
                try:
                    print((await client.call_tool(name, args)).content[0].text, flush=True)
                except Exception as error:
                    print(json.dumps({"client_error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
