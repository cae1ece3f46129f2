import { createServer } from "node:http";
import { Readable } from "node:stream";

// A control plane and an agent that do as little as possible, so that the values show the cost of the client. A
// downloaded file is zeros; its name is its length.
const piece = Buffer.alloc(256 * 1024);
let url;

const answers = {
  "GET /v1/sandboxes/1": () => sandbox(),
  "POST /v1/sandboxes/1/token/refresh": () => token(),
  // A sandbox that states its isolation, from which the client sees that streams can be uploaded.
  "GET /v1/sandboxes/2": () => ({ ...sandbox(), id: "2", isolation: "container" }),
  "POST /v1/sandboxes/2/token/refresh": () => token(),
  "GET /agent/1/files/exists": () => ({ path: "/workspace/a", exists: true }),
  "POST /agent/1/files/upload": () => ({ success: true, path: "/workspace/a" }),
};

const server = createServer((request, response) => {
  const [path, query] = request.url.split("?");
  if (path === "/agent/1/files/download") {
    return download(Number(new URLSearchParams(query).get("path").slice(1)), response);
  }
  const answer = answers[`${request.method} ${path}`]?.();
  const body = JSON.stringify(answer ?? { error: `There is no ${request.method} ${path}.` });
  const send = () => {
    response.writeHead(answer ? 200 : 404, {
      "content-type": "application/json",
      "content-length": body.length,
    });
    response.end(body);
  };
  if (request.method === "GET") send();
  else request.resume().once("end", send);
});
server.listen(0, "127.0.0.1", () => {
  url = `http://127.0.0.1:${server.address().port}`;
  process.send(url);
});
process.on("disconnect", () => process.exit());

function sandbox() {
  return { id: "1", object: "sandbox", status: "running", public_host: `${url}/agent/1`, ...token() };
}

function token() {
  return { auth_token: "token", token_expires_at: new Date(Date.now() + 3_600_000).toISOString() };
}

function download(length, response) {
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": length });
  Readable.from(zeros(length), { objectMode: false }).pipe(response);
}

function* zeros(length) {
  for (let left = length; left > 0; left -= piece.length) yield piece.subarray(0, left);
}
