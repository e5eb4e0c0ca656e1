// Reads seeds beyond 2^53 as programs in JavaScript do, over REST and MCP, and sends them
// back. In come API_URL, API_KEY and the hashes of assets in ASSETS; out goes, per asset,
// what was read and how many assets were found by it.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { API_URL, API_KEY, ASSETS } = process.env;
const headers = { "X-API-Key": API_KEY, "Content-Type": "application/json" };
const rest = async (method, path, body) => {
  const answer = await fetch(API_URL + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};
const client = new Client({ name: "vitrine-test", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(API_URL + "/mcp"), { requestInit: { headers: { Authorization: `Bearer ${API_KEY}` } } }));
const tool = async (name, args) => {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(`${name}: ${answer.content[0].text}`);
  return answer.structuredContent ?? JSON.parse(answer.content[0].text);
};
const out = [];
for (const asset of ASSETS.split(",")) {
  const overREST = (await rest("GET", `/api/v1/assets/${asset}`)).generation_parameters;
  const overMCP = (await tool("GetAssetDetails", { asset_h: asset })).generation_parameters;
  const seed = overREST.seed_text;
  const query = { query: `seed:${seed}` };
  const counted = { ...query, facets: ["tool"] };
  out.push({
    asset,
    number: String(overREST.seed),
    texts: [seed, overMCP.seed_text],
    found: [
      (await rest("POST", "/api/v1/assets/search", query)).data.map((hit) => hit.asset_h),
      (await tool("SearchAssets", query)).data.map((hit) => hit.asset_h),
    ],
    counted: [(await rest("POST", "/api/v1/assets/facets", counted)).facets[0].buckets, (await tool("GetFacets", counted)).facets[0].buckets],
  });
}
console.log(JSON.stringify(out));
await client.close();
