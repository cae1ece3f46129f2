import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";

const [side, direction, url, file, size] = process.argv.slice(2);
const sides = { raw, ours };

const transfer = await sides[side]();
// Make one call before measuring: the code that the first call loads is not growth.
await transfer.download(0, `${file}.warm`);
await (direction === "stream" ? transfer.stream : transfer.upload)(import.meta.filename, 0);
const before = process.memoryUsage().rss;
const started = performance.now();
if (direction === "download") await transfer.download(Number(size), `${file}.down`);
else await transfer[direction](file, Number(size));
const milliseconds = performance.now() - started;
// `maxRSS` is the largest resident size so far, in KiB.
const growth = Math.max(0, process.resourceUsage().maxRSS / 1024 - before / 1024 ** 2);
console.log(JSON.stringify({ milliseconds, growth }));
process.exit();

async function raw() {
  const { request } = await import("undici");
  const agent = `${url}/agent/1/files`;
  return {
    async upload(path, length) {
      const headers = { "content-length": String(length) };
      const body = length === 0 ? undefined : createReadStream(path);
      const answer = await request(`${agent}/upload`, { method: "POST", headers, body });
      await answer.body.dump();
    },
    async stream(path) {
      const answer = await request(`${agent}/upload`, { method: "POST", body: createReadStream(path) });
      await answer.body.dump();
    },
    async download(length, path) {
      const answer = await request(`${agent}/download?path=/${length}`);
      await pipeline(answer.body, createWriteStream(path));
    },
  };
}

async function ours() {
  const { SandboxClient } = await import("cloud-sandbox");
  const client = new SandboxClient({ apiKey: "bench", baseUrl: url });
  const { files } = await client.sandboxes.get("1");
  return {
    upload: (path) => files.upload(path, "/workspace/a"),
    stream: async (path) => {
      const sandbox = await client.sandboxes.get("2");
      await sandbox.files.write("/workspace/a", createReadStream(path));
    },
    download: (length, path) => files.download(`/${length}`, path),
  };
}
