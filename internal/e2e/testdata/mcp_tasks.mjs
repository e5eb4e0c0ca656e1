// Ten tasks that people give to an agent, done with the official TypeScript SDK by calling
// tools as a model would: with what earlier answers say and nothing else. In come MCP_URL
// and MCP_KEY; out goes a list of {task, calls, text, done}: how many calls a task took,
// all text that a model would have read, and whether the end state is the wanted one.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const client = new Client({ name: "vitrine-tasks", version: "1.0.0" });
const headers = { Authorization: `Bearer ${process.env.MCP_KEY}` };
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), { requestInit: { headers } }));
await client.listTools();

let seen;
async function call(name, args) {
  const r = await client.callTool({ name, arguments: args });
  seen.calls++;
  seen.text += r.content.filter((c) => c.type === "text").map((c) => c.text).join("\n") + "\n";
  return r;
}
const text = (r) => r.content[0].text;
const hashes = (r) => text(r).match(/^[0-9a-f]{40}(?= \| )/gm) ?? [];
const value = (r) => r.structuredContent ?? JSON.parse(text(r));

const tasks = {
  "Find pictures of jellyfish": async () => hashes(await call("SearchAssets", { query: "jellyfish" })).length > 0,
  "Say which prompt and models a picture was made with": async () => {
    const [hash] = hashes(await call("SearchAssets", { query: "has:prompt tool:comfyui", limit: 1 }));
    const d = value(await call("GetAssetDetails", { asset_h: hash }));
    return d.prompts.positive.length > 0 && d.models.length > 0 && d.generation_parameters.seed_text !== "";
  },
  "Say which tools and checkpoints are used most": async () => value(await call("GetFacets", { facets: ["tool", "checkpoint"], size: 5 })).facets.length === 2,
  "Tag all drawings of lighthouses, and make sure that a search finds them": async () => {
    const found = hashes(await call("SearchAssets", { query: "prompt:lighthouse" }));
    const changed = value(await call("BulkUpdateAssetTags", { asset_hs: found, operation: "add", tags: ["harbour"] }));
    const again = hashes(await call("SearchAssets", { query: "tag:harbour", min_index_token: changed.index_token }));
    return found.length > 0 && again.length === found.length;
  },
  "Take a change of tags back": async () => {
    const [hash] = hashes(await call("SearchAssets", { query: "filename:lighthouse.png" }));
    const changed = value(await call("BulkUpdateAssetTags", { asset_hs: [hash], operation: "add", tags: ["mistake"] }));
    return value(await call("UndoOperation", { operation_id: changed.operation_id })).counts.reverted === 1;
  },
  "Approve a picture after a wrong status": async () => {
    const [hash] = hashes(await call("SearchAssets", { query: "filename:lighthouse.png" }));
    const refused = await call("UpdateAsset", { asset_h: hash, status: "Good" });
    if (!refused.isError || !text(refused).includes("Approved")) return false;
    return value(await call("UpdateAsset", { asset_h: hash, status: "Approved" })).asset.status === "Approved";
  },
  "Show where a picture comes from": async () => {
    const [hash] = hashes(await call("SearchAssets", { query: "tool:comfyui", limit: 1 }));
    return value(await call("GetAssetLineage", { asset_h: hash })).nodes.length > 0;
  },
  "Find all pictures of the checkpoint that is used most": async () => {
    const models = value(await call("SearchModels", { model_type: "checkpoint", limit: 1 }));
    const found = await call("SearchAssets", { query: `model_name:"${models.data[0].name}"`, limit: 100 });
    return hashes(found).length === models.data[0].usage_count;
  },
  "Recover from a mistyped field": async () => {
    const hint = text(await call("SearchAssets", { query: "promt:jellyfish" })).match(/^! .*\bprompt\b/m);
    return hint !== null && hashes(await call("SearchAssets", { query: "prompt:jellyfish" })).length > 0;
  },
  "Store a picture and look at it": async () => {
    const dot = "R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=";
    const stored = value(await call("StoreAsset", { filename: "dot.gif", mime_type: "image/gif", asset_data_base64: dot, tags: ["dot"] }));
    return value(await call("GetAssetDetails", { asset_h: stored.asset.asset_h })).tags[0] === "dot";
  },
};

const results = [];
for (const [task, run] of Object.entries(tasks)) {
  seen = { task, calls: 0, text: "", done: false };
  try {
    seen.done = await run();
  } catch (error) {
    seen.why = String(error);
  }
  results.push(seen);
}
console.log(JSON.stringify(results));
await client.close();
