// A server over TLS, with the key and certificate in the directory of the argument: pieces of 64 KiB at /bytes/COUNT, or a short answer.
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { join } from "node:path";

const read = (name) => readFileSync(join(process.argv[2], name));
const piece = Buffer.alloc(64 * 1024, "x");

const server = createSecureServer(
  { key: read("site.key"), cert: read("site.pem"), allowHTTP1: true },
  async (request, response) => {
    let left = Number(/^\/bytes\/(\d+)$/.exec(request.url)?.[1] ?? 0);
    if (left === 0) return response.end("a short answer");
    response.setHeader("content-length", left);
    for (; left > 0 && !response.destroyed; left -= piece.length)
      if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve));
    response.end();
  },
);
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.once("disconnect", () => process.exit());
