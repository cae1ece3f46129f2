/** A program for a sandbox: a web server on the port that it is told, and servers of another kind on the next two. */
export const previewedServer = `
import { createServer } from "node:http";
import { createServer as createSocketServer } from "node:net";

const first = Number(process.argv[2]);
let events, number = 0;
const pages = {
  "/": (request, response) => response.end("ready"),
  "/echo": ({ method, url, headers }, response) => response.end(JSON.stringify({ method, url, headers })),
  "/cookie": ({ headers }, response) => {
    response.setHeader("set-cookie", ["a=1; Domain=localhost; Path=/", "b=2"]);
    response.end(headers.cookie ?? "");
  },
  "/redirect": (request, response, query) => response.writeHead(302, { location: query.get("to") }).end(),
  "/events": (request, response) => {
    events = response.writeHead(200, { "content-type": "text/event-stream" });
    number = 0;
    send();
  },
  "/next": (request, response) => { send(); response.end(); },
  "/sink": async (request, response) => {
    let size = 0;
    for await (const chunk of request) size += chunk.length;
    response.end(String(size));
  },
  "/source": async (request, response, query) => {
    const chunk = Buffer.alloc(1024 * 1024);
    for (let left = Number(query.get("size")); left > 0; left -= chunk.length)
      if (!response.write(chunk)) await new Promise((resolve) => response.once("drain", resolve));
    response.end();
  },
};
const send = () => events.write("data: " + ++number + "\\n\\n");
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://x");
  pages[pathname](request, response, searchParams);
});
server.on("upgrade", (request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n");
  socket.on("data", (data) => socket.write(request.url + ": " + data));
  socket.on("end", () => socket.end());
});
server.listen(first, "127.0.0.1");
createSocketServer((socket) => socket.end("no HTTP\\r\\n")).listen(first + 1);
createSocketServer((socket) => socket.destroy()).listen(first + 2);
`;
