// Runs in a sandbox. Asks a host within a tunnel of the egress proxy, and prints how many milliseconds that took.
//   node client.mjs small|http1|http2 HOST PORT COUNT
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:tls";

const [, , kind, host, port, count] = process.argv;
const headers = { host: `${host}:${port}`, authorization: `Bearer ${process.env.TOKEN}` };

const tunnel = request({ host: "127.0.0.1", port: 3128, method: "CONNECT", path: `${host}:${port}` }).end();
const [, raw] = await once(tunnel, "connect");
const socket = connect({
  socket: raw,
  servername: host,
  ca: readFileSync(process.env.SSL_CERT_FILE),
  ALPNProtocols: [kind === "http2" ? "h2" : "http/1.1"],
  highWaterMark: 256 * 1024,
});
await once(socket, "secureConnect");

class OneConnection extends Agent {
  createConnection() {
    return socket;
  }
}
const agent = new OneConnection({ keepAlive: true, maxSockets: 1 });
// A window of 64 KiB, the usual one, would mostly wait for the server.
const windowBytes = 4 * 1024 * 1024;
const session =
  kind === "http2" &&
  connectHttp2(`https://${host}:${port}`, {
    createConnection: () => socket,
    settings: { initialWindowSize: windowBytes },
  });
if (session) session.once("connect", () => session.setLocalWindowSize(windowBytes));

async function ask(path) {
  if (session) {
    const { host: _, ...others } = headers;
    const stream = session.request({ ":path": path, ...others });
    let bytes = 0;
    for await (const piece of stream) bytes += piece.length;
    return bytes;
  }
  const [answer] = await once(request({ agent, path, headers }).end(), "response");
  let bytes = 0;
  for await (const piece of answer) bytes += piece.length;
  return bytes;
}

await ask("/");
const started = performance.now();
if (kind === "small") for (let each = 0; each < count; each += 1) await ask("/");
else if ((await ask(`/bytes/${count}`)) !== Number(count)) throw new Error("The answer is not whole.");
console.log(performance.now() - started);
process.exit();
