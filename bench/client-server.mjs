import { createServer } from "node:http";

// The least that a control plane answers to GET /v1/sandboxes/1.
const body = JSON.stringify({
  id: "1",
  object: "sandbox",
  status: "running",
  public_host: "http://127.0.0.1:1/agent/1",
});

const server = createServer((_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => process.send(`http://127.0.0.1:${server.address().port}`));
process.on("disconnect", () => process.exit());
