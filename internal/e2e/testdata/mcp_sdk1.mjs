// Calls tools with the official TypeScript SDK 1.x. In come MCP_URL and MCP_KEY from the
// environment and a list of {name, arguments} on standard input, or of {prompt, arguments}
// for the text of a prompt and {prompt: ""} for the names of all; out goes a list of
// {isError, text, structured} or {threw}, one per call. With MCP_COMMAND it starts that
// program with the argument mcp and speaks to it over standard input and output. As hosts do, it lists the tools
// first: from then on the client checks results against their output schemas.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

let input = "";
for await (const chunk of process.stdin) input += chunk;
const client = new Client({ name: "vitrine-test", version: "1.0.0" });
const { MCP_COMMAND, MCP_KEY, MCP_URL } = process.env;
await client.connect(
  MCP_COMMAND
    ? new StdioClientTransport({ command: MCP_COMMAND, args: ["mcp"], env: { VITRINE_URL: new URL(MCP_URL).origin, VITRINE_API_KEY: MCP_KEY } })
    : new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit: { headers: { Authorization: `Bearer ${MCP_KEY}` } } }),
);
await client.listTools();

// promptText returns the text of a prompt, or the names of all where none is named.
async function promptText({ prompt, arguments: args }) {
  if (!prompt) return (await client.listPrompts()).prompts.map((p) => `${p.name}(${p.arguments.map((a) => a.name + (a.required ? "" : "?"))})`).join(" ");
  return (await client.getPrompt({ name: prompt, arguments: args })).messages.map((m) => m.content.text).join("\n");
}

const results = [];
for (const call of JSON.parse(input)) {
  try {
    if (call.prompt !== undefined) {
      results.push({ text: await promptText(call) });
      continue;
    }
    const r = await client.callTool(call);
    results.push({ isError: r.isError === true, text: r.content.filter((c) => c.type === "text").map((c) => c.text).join("\n"), structured: r.structuredContent });
  } catch (error) {
    results.push({ threw: String(error) });
  }
}
console.log(JSON.stringify(results));
await client.close();
