// A TypeScript SDK client: lists the tools, makes the calls it is told to make, prints what came of them as JSON.
//   node client.mjs '{"url": ...} or {"command": ..., "args": [...]}' '[{"name": ..., "arguments": ..., "_meta": ...}]'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [server, calls] = process.argv.slice(2).map((text) => JSON.parse(text));
const transport = server.url
  ? new StreamableHTTPClientTransport(new URL(server.url))
  : new StdioClientTransport({ ...server, env: process.env, stderr: "inherit" });
const client = new Client({ name: "wa-mcp-tests", version: "1" });
const failure = ({ code, message, data }) => ({ error: { code, message, data } });

await client.connect(transport);
const tools = await client.listTools().then(({ tools }) => tools, failure);
const results = [];
for (const call of calls) {
  results.push(await client.callTool(call).catch(failure));
}
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion(), tools, results }));
