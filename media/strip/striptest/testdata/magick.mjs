// Reads pictures with ImageMagick and writes what each says beside its pixels, as JSON by file name.
// Usage: node magick.mjs LIBRARY FOLDER
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [library, folder] = process.argv.slice(2);
const { ImageMagick, initializeImageMagick } = await import(pathToFileURL(join(library, "dist", "index.js")).href);
await initializeImageMagick(readFileSync(join(library, "dist", "x86", "magick.wasm")));
const out = {};
for (const name of readdirSync(folder).sort()) {
  if (!/\.(png|jpg|webp|gif|avif|heic)$/.test(name)) continue;
  try {
    ImageMagick.read(readFileSync(join(folder, name)), (image) => {
      const said = {};
      for (const key of image.attributeNames) said[key] = image.getAttribute(key);
      const profiles = {};
      for (const key of image.profileNames) profiles[key] = Buffer.from(image.getProfile(key).data).toString("latin1");
      out[name] = { width: image.width, height: image.height, comment: image.comment ?? "", said, profiles };
    });
  } catch (error) {
    out[name] = { error: String(error) };
  }
}
console.log(JSON.stringify(out));
