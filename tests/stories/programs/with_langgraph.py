# /// script
# requires-python = ">=3.12"
# dependencies = ["langgraph==1.2.24", "langchain-mcp-adapters==0.3.2"]
# ///
"""A LangGraph tool node whose tools come from the gateway by LangChain's adapter."""

import asyncio
import json
import os
from datetime import timedelta

from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

HEADERS = {"Authorization": f"Bearer {os.environ['AGENTOPS_KEY']}", "X-AgentOps-Hold": os.environ["AGENTOPS_HOLD"]}
HEADERS["X-AgentOps-Agent"] = "demo-external"
BEARS = timedelta(seconds=float(os.environ["BEARS_SECONDS"]))


async def main() -> None:
    server = {"transport": "streamable_http", "url": os.environ["AGENTOPS_MCP"], "headers": HEADERS}
    server["session_kwargs"] = {"read_timeout_seconds": BEARS}
    tools = await MultiServerMCPClient({"agentops": server}).get_tools()
    print(json.dumps({"tools": sorted(tool.name for tool in tools)}), flush=True)
    graph = StateGraph(MessagesState).add_node("tools", ToolNode(tools, handle_tool_errors=False))
    node = graph.set_entry_point("tools").compile()

    async def call(name: str, args: dict) -> dict:
        wanted = AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1", "type": "tool_call"}])
        (*_, told) = (await node.ainvoke({"messages": [wanted]}))["messages"]
        text = told.content if isinstance(told.content, str) else told.content[0]["text"]
        return json.loads(text)

    for line in iter(input, "end"):
        name, args = json.loads(line)
        try:
            print(json.dumps(await call(name, args)), flush=True)
        except Exception as error:
            print(json.dumps({"client_error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
