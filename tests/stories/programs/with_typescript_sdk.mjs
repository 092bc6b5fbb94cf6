// The TypeScript SDK's client.
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { AGENTOPS_KEY, AGENTOPS_HOLD, AGENTOPS_MCP, BEARS_SECONDS } = process.env;
const headers = { Authorization: `Bearer ${AGENTOPS_KEY}`, "X-AgentOps-Hold": AGENTOPS_HOLD, "X-AgentOps-Agent": "demo-external" };
const say = (value) => console.log(JSON.stringify(value));

const client = new Client({ name: "typescript", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(AGENTOPS_MCP), { requestInit: { headers } }));
say({ tools: (await client.listTools()).tools.map((tool) => tool.name).sort() });

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "end") break;
  const [name, args] = JSON.parse(line);
  try {
    const told = await client.callTool({ name, arguments: args }, undefined, { timeout: BEARS_SECONDS * 1000 });
    console.log(told.content[0].text);
  } catch (error) {
    say({ client_error: String(error) });
  }
}
await client.close();
