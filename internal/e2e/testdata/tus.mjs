// Uploads a file with tus-js-client, as its documentation shows, and goes on with an upload
// that an earlier run began. Arguments: the client's folder, endpoint, key, file, storage of
// addresses, size of one request's body (0: all at once). It prints what happens.
import { createRequire } from "node:module";
import fs from "node:fs";

const [folder, endpoint, key, file, storage, chunk] = process.argv.slice(2);
const tus = createRequire(folder + "/")(folder);
let path = "";
const upload = new tus.Upload(fs.createReadStream(file), {
  endpoint,
  headers: { Authorization: "Bearer " + key },
  metadata: { filename: "große Datei.png", filetype: "image/png" },
  uploadSize: fs.statSync(file).size,
  chunkSize: Number(chunk) || Infinity,
  retryDelays: [100, 200, 400, 800, 1600, 3200, 3200, 3200],
  urlStorage: new tus.FileUrlStorage(storage),
  fingerprint: async () => file,
  onAfterResponse: (_, res) => { path = res.getHeader("Vitrine-Storage-Path") || path; },
  onProgress: (sent) => console.log("sent", sent),
  onChunkComplete: (_, accepted) => console.log("accepted", accepted),
  onError: (err) => { console.log("error", err.message); process.exit(1); },
  onSuccess: () => { console.log("path", path); console.log("url", upload.url); },
});
const before = await upload.findPreviousUploads();
if (before.length > 0) {
  console.log("resumes");
  upload.resumeFromPreviousUpload(before[0]);
}
upload.start();
