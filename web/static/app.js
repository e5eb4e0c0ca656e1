// The gallery: a search box, facets, pictures, and how each was made. Text of
// the library only ever becomes text nodes: a prompt may hold anything.

const $ = (id) => document.getElementById(id);
const pageSize = 60;
const facetNames = ["tool", "checkpoint", "lora", "sampler", "tag", "status", "created:month"];
const facetTitles = { "created:month": "month" };

let key = sessionStorage.getItem("key") ?? "";
let turn = 0; // counts searches, so that a late answer of an old one is dropped
let next = null; // offset of the next page, null when there is none

function make(tag, text, attributes = {}) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  return e;
}

async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: { "X-API-Key": key, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const answer = JSON.parse(await response.text(), exact);
  if (response.ok) return answer;
  if (response.status === 401) signIn(key ? answer.detail : "");
  throw new Error(answer.detail);
}

// exact keeps whole numbers that JavaScript would round, seeds above all, as the
// text they are.
function exact(name, value, context) {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source ? context.source : value;
}

function signIn(fault) {
  $("key-fault").textContent = fault;
  if (!$("sign-in").open) $("sign-in").showModal();
}

$("key-form").addEventListener("submit", () => {
  key = $("key").value.trim();
  $("key").value = "";
  sessionStorage.setItem("key", key);
  search();
});

$("forget").addEventListener("click", () => {
  sessionStorage.removeItem("key");
  location.reload();
});

// preview gives the path of a preview. The page uses the address it was loaded
// from, which may be another than the public one that links are made with.
function preview(hit, size) {
  const url = new URL(hit.thumbnail_url);
  return `${url.pathname}?size=${size}`;
}

async function search() {
  if (!key) return signIn("");
  const mine = ++turn;
  const query = $("query").value.trim();
  history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
  try {
    const answer = await call("POST", "/api/v1/assets/search", request(query));
    if (mine !== turn) return;
    $("forget").hidden = $("marks").hidden = false;
    showMarks(query);
    $("gallery").replaceChildren(...answer.data.map(shot));
    next = answer.next_offset ?? null;
    tell(answer);
    const counts = await call("POST", "/api/v1/assets/facets", { query, facets: facetNames, size: 8 });
    if (mine === turn) showFacets(counts.facets);
    if (mine === turn) await showCollections(query);
  } catch (fault) {
    if (mine === turn) $("notes").textContent = fault.message;
  }
}

// request is the search for a page. A collection by itself keeps its own order.
function request(query) {
  const conditions = terms(query);
  const own = conditions.filter((t) => /^(collection|in):"?=/.test(t)).length === 1 && conditions.every((t) => /^-?[\w.]+:./.test(t));
  return { query, limit: pageSize, response_format: "detailed", ...(own ? { order_by: "position" } : {}) };
}

// terms splits a query at its blanks; quoted parts stay whole.
const terms = (query) => query.match(/(?:"(?:\\.|[^"\\])*"|\S)+/g) ?? [];

// toggle takes a condition into the query in place of those that match a pattern, or out
// of it where it is there.
function toggle(term, others) {
  const have = terms($("query").value);
  const rest = have.filter((t) => t !== term && !others.test(t));
  look((have.includes(term) ? rest : [...rest, term]).join(" "));
}

const ofRating = /^(rating|stars):/;
const ofCollection = /^(collection|in):/;

function showMarks(query) {
  const have = terms(query);
  $("stars").replaceChildren(...[1, 2, 3, 4, 5].map((n) => {
    const term = n < 5 ? `rating:>=${n}` : "rating:5";
    const button = action("★".repeat(n), () => toggle(term, ofRating));
    button.setAttribute("aria-pressed", have.includes(term));
    button.setAttribute("aria-label", n < 5 ? `${n} stars or more` : "5 stars");
    return button;
  }));
  $("favorites").setAttribute("aria-pressed", have.includes("is:favorite"));
}

$("favorites").addEventListener("click", () => toggle("is:favorite", /^(is:favorite|favorite:)/));

let tree = { read: 0 }; // the collections as they were read last

// showCollections fills in the tree of collections with their counts, which are read
// again after half a minute. What is below the chosen one is open, and all of a small tree.
async function showCollections(query) {
  const fresh = Date.now() - tree.read < 30_000;
  if (!fresh) tree = { ...(await call("GET", "/api/v1/collections?limit=5000")), read: Date.now() };
  const { data, total } = tree;
  const chosen = terms(query).find((t) => ofCollection.test(t))?.replace(ofCollection, "").replace(/^=/, "") ?? "";
  if (fresh && chosen === tree.chosen) return;
  tree.chosen = chosen;
  const roots = [];
  const above = [];
  for (const c of data) {
    const node = { ...c, below: [] };
    while (above.length && !c.path.startsWith(above.at(-1).path + ".")) above.pop();
    (above.at(-1)?.below ?? roots).push(node);
    above.push(node);
  }
  const title = total > data.length ? `collections (${data.length.toLocaleString()} of ${total.toLocaleString()})` : "collections";
  $("collections").replaceChildren(...(roots.length ? [make("h2", title), branches(roots, chosen, total < 30)] : []));
}

function branches(nodes, chosen, open) {
  const list = make("ul");
  list.append(...nodes.map((c) => {
    const item = make("li");
    const button = make("button", undefined, { type: "button", title: c.description || c.path, "aria-pressed": c.path === chosen });
    button.append(make("span", `${c.icon ? c.icon + " " : ""}${c.display_name}`), make("span", c.asset_count || !c.below.length ? c.asset_count?.toLocaleString() ?? "" : ""));
    if (c.color) button.firstChild.style.color = c.color;
    button.addEventListener("click", () => choose(c));
    if (!c.below.length) {
      item.append(button);
      return item;
    }
    const details = make("details");
    details.open = open || c.path === chosen || chosen.startsWith(c.path + ".");
    const summary = make("summary");
    summary.append(button);
    button.addEventListener("click", (e) => e.preventDefault()); // it does not fold the list
    details.append(summary, branches(c.below, chosen, open));
    item.append(details);
    return item;
  }));
  return list;
}

// choose shows the assets of a collection with those below it; of a smart one, what its
// saved search finds.
async function choose(c) {
  if (!c.saved_search_id) return toggle(`collection:${c.below.length ? "" : "="}${c.path}`, ofCollection);
  try {
    look((await call("GET", `/api/v1/saved-searches/${c.saved_search_id}`)).query);
  } catch (fault) {
    $("notes").textContent = fault.message;
  }
}

async function loadMore() {
  if (next === null) return;
  const mine = turn;
  const offset = next;
  next = null;
  try {
    const answer = await call("POST", "/api/v1/assets/search", { ...request($("query").value.trim()), offset });
    if (mine !== turn) return;
    $("gallery").append(...answer.data.map(shot));
    next = answer.next_offset ?? null;
  } catch (fault) {
    $("notes").textContent = fault.message;
  }
}

function tell(answer) {
  const similar = answer.total - answer.total_by_words;
  const notes = [`${answer.total.toLocaleString()} found in ${answer.took_ms} ms`];
  if (similar && answer.data.some((hit) => hit.matched)) {
    const words = answer.total_by_words ? `${answer.total_by_words.toLocaleString()} by words` : "none by words";
    notes.push(`${words}, ${similar.toLocaleString()} only similar (dashed)`);
  }
  if (answer.relaxed) notes.push(`nothing has all words; left out: ${answer.relaxed.left_out.join(", ")}`);
  for (const w of answer.interpretation.warnings) {
    notes.push(w.message + (w.suggestion ? ` (did you mean ${w.suggestion}?)` : ""));
  }
  if (answer.semantic_share !== undefined) notes.push(`search by meaning covers ${Math.floor(answer.semantic_share * 100)} % so far`);
  if (answer.degraded.includes("semantic")) notes.push("only by words: search by meaning does not answer");
  $("notes").replaceChildren(notes.join(" · "));
  const better = answer.did_you_mean;
  if (better) $("notes").append(" · did you mean ", action(`${better.query} (${better.total.toLocaleString()})`, () => look(better.query)));
  if (!answer.total && !$("query").value.trim()) $("notes").append(" · import files with bin/vitrine import FOLDER");
}

// look searches for another query than the one in the box.
function look(query) {
  $("detail").close();
  $("query").value = query;
  search();
}

// placeholder draws a ThumbHash, a blurred picture in 5 to 25 bytes, on a canvas.
function placeholder(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const head = bytes[0] | bytes[1] << 8 | bytes[2] << 16;
  const sizes = bytes[3] | bytes[4] << 8;
  const landscape = sizes >> 15;
  const across = landscape ? 7 : sizes & 7;
  const down = landscape ? sizes & 7 : 7;
  let at = 10; // the next value, in halves of a byte
  const waves = (nx, ny, scale) => {
    const list = [];
    for (let cy = 0; cy < ny; cy++) {
      for (let cx = cy ? 0 : 1; cx * ny < nx * (ny - cy); cx++, at++) {
        list.push([cx, cy, ((bytes[at >> 1] >> (at & 1) * 4 & 15) / 7.5 - 1) * scale * 2]);
      }
    }
    return list;
  };
  const light = waves(Math.max(3, across), Math.max(3, down), (head >> 18 & 31) / 31);
  const warm = waves(3, 3, (sizes >> 3 & 63) / 63 * 1.25); // colors lose by the rounding, so they are raised
  const tint = waves(3, 3, (sizes >> 9 & 63) / 63 * 1.25);
  const ratio = across / down;
  const canvas = make("canvas", undefined, { width: Math.max(1, Math.round(ratio > 1 ? 32 : 32 * ratio)), height: Math.max(1, Math.round(ratio > 1 ? 32 / ratio : 32)), "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  const pixels = pen.createImageData(canvas.width, canvas.height);
  const value = (list, mean, x, y) => list.reduce((sum, [cx, cy, v]) => sum + v * Math.cos(Math.PI / canvas.width * (x + .5) * cx) * Math.cos(Math.PI / canvas.height * (y + .5) * cy), mean);
  for (let y = 0, i = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++, i += 4) {
      const l = value(light, (head & 63) / 63, x, y);
      const p = value(warm, (head >> 6 & 63) / 31.5 - 1, x, y);
      const q = value(tint, (head >> 12 & 63) / 31.5 - 1, x, y);
      const blue = l - 2 / 3 * p;
      const red = (3 * l - blue + q) / 2;
      pixels.data.set([red * 255, (red - q) * 255, blue * 255, 255], i);
    }
  }
  pen.putImageData(pixels, 0, 0);
  return canvas;
}

function shot(hit) {
  const ratio = hit.width && hit.height ? hit.width / hit.height : 1;
  const button = make("button", undefined, { class: "shot", type: "button" });
  button.style.flex = `${ratio * 100} 0 ${Math.round(ratio * 170)}px`;
  const image = make("img", undefined, { src: preview(hit, 512), alt: hit.title || hit.filename, loading: "lazy" });
  image.addEventListener("error", () => { image.remove(); button.classList.add("bare"); });
  if (hit.placeholder) {
    const blur = placeholder(hit.placeholder);
    image.addEventListener("load", () => blur.remove());
    image.addEventListener("error", () => blur.remove());
    button.append(blur);
  }
  button.append(image, make("span", hit.title || hit.filename));
  if (hit.mime_type.startsWith("video/")) playFrames(button, hit);
  if (hit.matched === "meaning") {
    button.classList.add("similar");
    button.append(make("em", "similar"));
  }
  button.addEventListener("click", () => open(hit));
  return button;
}

// playFrames shows frames of a video, one after the other, while the pointer is on it.
function playFrames(button, hit) {
  const base = new URL(hit.thumbnail_url).pathname.replace(/\.jpg$/, "");
  let timer, board;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    button.querySelector(".frames")?.remove();
  };
  button.addEventListener("pointerenter", async () => {
    timer ??= 0;
    board ??= await fetch(`${base}/storyboard.json`).then((r) => (r.ok ? r.json() : null)).catch(() => null);
    if (!board || timer !== 0) return;
    const frames = make("div", undefined, { class: "frames" });
    Object.assign(frames.style, { backgroundImage: `url("${base}/storyboard.jpg")`, backgroundSize: `${board.columns * 100}% ${board.rows * 100}%` });
    let at = 0;
    const show = () => {
      const part = (n, of) => (of > 1 ? (100 * n) / (of - 1) : 0);
      frames.style.backgroundPosition = `${part(at % board.columns, board.columns)}% ${part(Math.floor(at / board.columns), board.rows)}%`;
      at = (at + 1) % board.frames;
    };
    show();
    button.insertBefore(frames, button.querySelector("span"));
    timer = setInterval(show, 200);
  });
  button.addEventListener("pointerleave", stop);
}

function showFacets(facets) {
  const parts = [];
  for (const f of facets) {
    if (!f.buckets.length) continue;
    const list = make("ul");
    for (const b of f.buckets) {
      const button = make("button", undefined, { type: "button", title: b.value });
      button.append(make("span", b.value), make("span", b.count.toLocaleString()));
      button.addEventListener("click", () => narrow(f.name.split(":")[0], b.value));
      const item = make("li");
      item.append(button);
      list.append(item);
    }
    parts.push(make("h2", facetTitles[f.name] ?? f.name), list);
  }
  $("facets").replaceChildren(...parts);
}

function narrow(field, value) {
  const quoted = /^[\w.\/-]+$/.test(value) ? value : `"${value.replace(/(["\\])/g, "\\$1")}"`;
  const term = `${field}:${quoted}`;
  const words = $("query").value.trim();
  if (!words.includes(term)) $("query").value = `${words} ${term}`.trim();
  search();
}

async function open(hit) {
  show(hit);
  $("detail-text").replaceChildren(make("p", "…"));
  $("detail").showModal();
  await fill(hit.asset_h);
}

function show(hit) {
  $("detail-image").src = preview(hit, 1024);
  $("detail-image").alt = hit.title || hit.filename;
  play(null);
}

// play shows a video in place of its picture, and stops the one before. One that the browser cannot read leaves the picture.
function play(d) {
  const video = $("detail-video");
  video.hidden = !d;
  $("detail-image").hidden = !!d;
  video.removeAttribute("src");
  video.load();
  if (!d) return;
  video.poster = preview(d, 1024);
  video.src = new URL(d.download_url).pathname;
}

$("detail-video").addEventListener("error", () => {
  if ($("detail-video").hasAttribute("src")) play(null);
});
$("detail").addEventListener("close", () => play(null));

// fill tells of one asset in the open dialog.
async function fill(hash) {
  try {
    const d = await call("GET", `/api/v1/assets/${hash}?include_download_url=true&response_format=detailed`);
    show(d);
    if (d.mime_type.startsWith("video/")) play(d);
    $("detail-text").replaceChildren(...describe(d));
  } catch (fault) {
    $("detail-text").replaceChildren(make("p", fault.message));
  }
}

function describe(d) {
  const parts = [make("h2", d.title || d.filename, { id: "detail-title" })];
  const made = [d.provenance.tool, d.provenance.tool_version].filter(Boolean).join(" ");
  parts.push(make("p", [made, d.width ? `${d.width}×${d.height}` : "", new Date(d.created_at).toLocaleString()].filter(Boolean).join(" · "), { class: "dim" }));
  const actions = make("div", undefined, { class: "row" });
  if (d.prompts?.positive) actions.append(action("Copy prompt", () => navigator.clipboard.writeText(d.prompts.positive)));
  if (d.workflow) actions.append(action("Download workflow", () => workflow(d)));
  actions.append(action("Pictures like it", () => look(`similar:${d.asset_h}`)), action("Family", () => look(`chain:${d.asset_h}`)));
  actions.append(action("Download file", () => { location.href = new URL(d.download_url).pathname; }));
  parts.push(actions, marks(d));
  if (!d.prompts) parts.push(section("prompt"), make("p", d.extraction?.sentence ?? "The file does not say how it was made.", { class: "dim" }));
  if (d.prompts?.positive) parts.push(section("prompt"), make("p", d.prompts.positive));
  if (d.prompts?.negative) parts.push(section("negative prompt"), make("p", d.prompts.negative));
  if (d.models.length) parts.push(section("models"), pairs(d.models.map((m) => [m.type, m.weight == null ? m.name : `${m.name} × ${m.weight}`])));
  // seed_text is for clients that round large numbers; call keeps them exact.
  const settings = Object.entries(d.generation_parameters ?? {}).filter(([k, v]) => v !== null && k !== "seed_text");
  if (settings.length) parts.push(section("settings"), pairs(settings.map(([k, v]) => [k.replaceAll("_", " "), v])));
  const parents = d.provenance.parents.map((p) => [p.kind.replaceAll("_", " "), parent(p)]);
  if (parents.length) parts.push(section("made from"), pairs(parents));
  if (d.tags.length) parts.push(section("tags"), make("p", d.tags.join(", ")));
  if (d.video) parts.push(section("video"), pairs(known({ length: `${(d.duration_ms / 1000).toFixed(1)} s`, "frames per second": d.video.fps, frames: d.video.frames, codec: d.video.codec, sound: d.video.audio_codec })));
  if (d.model_3d) parts.push(section("3D model"), pairs(known(modelFacts(d.model_3d))));
  if (d.preview_error) parts.push(section("preview"), make("p", d.preview_error, { class: "dim" }));
  parts.push(section("file"), pairs([["name", d.filename], ["status", d.status], ["asset", d.asset_h]]));
  return parts;
}

// known leaves out what a file does not say.
const known = (facts) => Object.entries(facts).filter(([, value]) => value !== undefined && value !== "" && value !== 0);

function modelFacts(m) {
  const count = (n) => n?.toLocaleString();
  const size = m.size?.map((v) => v.toLocaleString(undefined, { maximumSignificantDigits: 3 })).join(" × ");
  return { vertices: count(m.vertices), triangles: count(m.triangles), meshes: m.meshes, materials: m.materials, textures: m.textures, animations: m.animations, size: size && `${size} m`, "made with": m.generator, extensions: m.extensions?.join(", ") };
}

// marks are an asset's stars and whether it is a favorite, which a click changes.
function marks(d) {
  const row = make("div", undefined, { class: "row marks" });
  const set = async (change) => {
    try {
      await call("PATCH", "/api/v1/assets/bulk-rating", { asset_hs: [d.asset_h], ...change });
      row.replaceWith(marks({ ...d, ...change }));
    } catch (fault) {
      row.append(make("span", fault.message, { class: "dim" }));
    }
  };
  for (let n = 1; n <= 5; n++) {
    const button = action(n <= d.rating ? "★" : "☆", () => set({ rating: n === d.rating ? 0 : n }));
    button.setAttribute("aria-label", `${n} ${n === 1 ? "star" : "stars"}`);
    row.append(button);
  }
  const favorite = action(d.favorite ? "♥" : "♡", () => set({ favorite: !d.favorite }));
  favorite.setAttribute("aria-label", "favorite");
  favorite.setAttribute("aria-pressed", d.favorite);
  row.append(favorite);
  return row;
}

// parent names a file that the picture was made from, and opens it when it is here.
function parent(p) {
  const name = p.name || p.job_id || p.hash;
  return p.asset_h ? action(name, () => fill(p.asset_h)) : name;
}

const section = (title) => make("h3", title);

function pairs(list) {
  const dl = make("dl");
  for (const [name, value] of list) {
    const dd = make("dd");
    dd.append(value instanceof Node ? value : String(value));
    dl.append(make("dt", name), dd);
  }
  return dl;
}

function action(title, run) {
  const button = make("button", title, { type: "button" });
  button.addEventListener("click", run);
  return button;
}

async function workflow(d) {
  const graphs = await call("GET", `/api/v1/assets/${d.asset_h}/workflow`);
  const blob = new Blob([JSON.stringify(graphs.workflow ?? graphs.prompt)], { type: "application/json" });
  const link = make("a", undefined, { href: URL.createObjectURL(blob), download: d.filename.replace(/\.\w+$/, "") + ".json" });
  link.click();
  URL.revokeObjectURL(link.href);
}

$("close").addEventListener("click", () => $("detail").close());
$("detail").addEventListener("click", (e) => { if (e.target === $("detail")) $("detail").close(); });
$("search").addEventListener("submit", (e) => { e.preventDefault(); search(); });
let pause;
$("query").addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(search, 250); });
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !["INPUT", "TEXTAREA"].includes(document.activeElement.tagName)) { e.preventDefault(); $("query").focus(); }
});
new IntersectionObserver((seen) => { if (seen[0].isIntersecting) loadMore(); }, { rootMargin: "800px" }).observe($("more"));

$("query").value = new URLSearchParams(location.search).get("q") ?? "";
search();
