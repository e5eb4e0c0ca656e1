// One walk of an agent through a running Vitrine, with the official TypeScript
// client. In come the environment variables MCP_URL, MCP_KEY, MCP_MODE (legacy or
// auto), PLANTED (the asset_h of an asset that is there) and QUERY (a search that
// finds it). Out goes one line of JSON with what was seen; mcpclient_test.go judges
// it. Nothing is judged here, and whatever throws ends the walk with exit code 1.

import { createHash } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const { MCP_URL, MCP_KEY, MCP_MODE, PLANTED, QUERY } = process.env;
const tag = "seen-by-an-agent";

const client = new Client({ name: "vitrine-walk", version: "1.0.0" }, { versionNegotiation: { mode: MCP_MODE } });
const transport = new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit: { headers: { Authorization: `Bearer ${MCP_KEY}` } } });

async function call(name, args) {
  return client.callTool({ name, arguments: args });
}

// found gives the hashes that a search finds. An answer that says it is behind the
// awaited write is asked for again: a busy machine may need longer than one wait.
async function found(query, token) {
  for (let tries = 0; tries < 20; tries++) {
    const { structuredContent: page } = await call("SearchAssets", { query, ...(token && { min_index_token: token }) });
    if (!page.degraded.includes("index_behind")) return page.data.map((a) => a.asset_h);
  }
  throw new Error("the index never showed the write");
}

async function read(uri) {
  const { contents } = await client.readResource({ uri });
  return { type: contents[0].mimeType, value: JSON.parse(contents[0].text) };
}

// markers of the segments of a JPEG before its picture data, which is where
// metadata lives: APP1 (0xe1) is EXIF and XMP, APP13 (0xed) IPTC, COM (0xfe) text.
function markers(jpeg) {
  const list = [];
  for (let at = 2; jpeg[at] === 0xff && jpeg[at + 1] !== 0xda; at += 2 + jpeg.readUInt16BE(at + 2)) list.push(jpeg[at + 1]);
  return list;
}

function picture(content) {
  const block = content.find((c) => c.type === "image");
  if (!block) return null;
  const data = Buffer.from(block.data, "base64");
  return { type: block.mimeType, bytes: data.length, jpeg: data.subarray(0, 3).toString("hex") === "ffd8ff", markers: markers(data),
    sha1: createHash("sha1").update(data).digest("hex") };
}

async function walk() {
  await client.connect(transport);
  const seen = { protocol: client.getNegotiatedProtocolVersion(), server: client.getServerVersion()?.name };
  const { tools } = await client.listTools();
  seen.tools = tools.map((t) => t.name);
  seen.withoutHints = tools.filter((t) => !t.title || typeof t.annotations?.readOnlyHint !== "boolean").map((t) => t.name);
  seen.resources = (await client.listResources()).resources.map((r) => r.uri);
  seen.templates = (await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate);

  seen.found = await found(QUERY);
  const details = await call("GetAssetDetails", { asset_h: PLANTED, include_image: true });
  seen.details = { asset_h: details.structuredContent.asset_h ?? details.structuredContent.asset?.asset_h, image: picture(details.content),
    text: JSON.parse(details.content.find((c) => c.type === "text").text), structured: details.structuredContent };

  const tagged = (await call("BulkUpdateAssetTags", { asset_hs: [PLANTED], operation: "add", tags: [tag] })).structuredContent;
  seen.changed = tagged.changed;
  seen.foundTagged = await found(`tag:${tag}`, tagged.index_token);
  const undone = (await call("UndoOperation", { operation_id: tagged.operation_id })).structuredContent;
  seen.reverted = undone.outcomes.filter((o) => o.outcome === "reverted").map((o) => o.key);
  seen.foundAfterUndo = await found(`tag:${tag}`, undone.index_token);

  seen.usage = await read("vitrine://storage/usage");
  seen.asset = await read(`vitrine://assets/${PLANTED}`);

  const mistake = await call("SearchAssets", { query: "", filters: { status: "Nope" } });
  seen.mistake = { isError: mistake.isError === true, text: mistake.content.filter((c) => c.type === "text").map((c) => c.text).join("\n") };
  return seen;
}

try {
  console.log(JSON.stringify(await walk()));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await client.close();
}
