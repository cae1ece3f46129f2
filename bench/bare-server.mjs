import { createServer } from "node:http";

// The least that a server can do with a call: read it and answer.
const server = createServer((request, response) => {
  request.resume().once("end", () => response.end("{}"));
});
server.listen(0, "127.0.0.1", () => process.send(`http://127.0.0.1:${server.address().port}`));
process.on("disconnect", () => process.exit());
