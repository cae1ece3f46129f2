import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

// The least that a server of files can do: PUT writes one file, GET reads it, POST does nothing. The file is on a disk
// in memory, because sandboxes keep theirs there too.
const directory = mkdtempSync("/dev/shm/cloud-sandbox-bench-");
const file = join(directory, "file");

const server = createServer(async (request, response) => {
  if (request.method === "GET") return response.end(readFileSync(file));
  const body = Buffer.concat(await request.toArray());
  if (request.method === "PUT") writeFileSync(file, body);
  response.end("{}");
});
server.listen(0, "127.0.0.1", () => process.send(`http://127.0.0.1:${server.address().port}`));
process.on("exit", () => rmSync(directory, { recursive: true }));
process.on("disconnect", () => process.exit());
