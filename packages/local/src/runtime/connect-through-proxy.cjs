#!/usr/bin/env node
// Connects programs that know no proxy to HOST PORT through the sandbox's proxy: its standard input and output, as in
//   ssh -o ProxyCommand="cloud-sandbox-connect %h %p" user@host
// or a port of the sandbox, as long as a command runs, as in
//   cloud-sandbox-connect --listen 5432 db.example 5432 -- psql -h 127.0.0.1
const { spawn } = require("node:child_process");
const { request } = require("node:http");
const { connect, createServer } = require("node:net");
const { constants } = require("node:os");

const words = process.argv.slice(2);
const listens = words[0] === "--listen";
const [, port] = listens ? words.splice(0, 2) : [];
const [host = "", hostPort = "", dashes = "--", ...command] = words;
const tell = (why) => console.error(`cloud-sandbox-connect: ${why}`);
const fail = (why) => {
  tell(why);
  process.exit(1);
};
const isPort = (text) => /^\d{1,5}$/.test(text) && text > 0 && text < 65_536;
if (!host || !isPort(hostPort) || dashes !== "--" || (listens ? !isPort(port) : command.length > 0))
  fail(
    "write cloud-sandbox-connect HOST PORT, or cloud-sandbox-connect --listen PORT HOST PORT [-- COMMAND]",
  );
const { HTTPS_PROXY = "", NO_PROXY = "" } = process.env;
const authority = `${host.includes(":") ? `[${host}]` : host}:${hostPort}`;

/** Calls `use` with a connection to the host, or `refuse` with why there is none. */
function open(use, refuse) {
  if (!URL.canParse(HTTPS_PROXY) || NO_PROXY.split(",").includes(host)) {
    const direct = connect({ host, port: Number(hostPort), allowHalfOpen: true });
    const failed = ({ message }) => refuse(message);
    direct.once("error", failed).once("connect", () => use(direct.off("error", failed)));
    return;
  }
  const proxy = new URL(HTTPS_PROXY);
  const { hostname, port: proxyPort } = proxy;
  const asking = request({
    host: hostname,
    port: proxyPort,
    method: "CONNECT",
    path: authority,
    agent: false,
  });
  asking.on("error", ({ message }) => refuse(message));
  asking.on("connect", ({ statusCode, statusMessage }, socket, head) => {
    if (statusCode !== 200) return refuse(`${statusCode} ${statusMessage}`);
    if (head.length > 0) socket.unshift(head);
    use(socket);
  });
  asking.end();
}

function joinStreams(socket) {
  socket.on("error", ({ message }) => fail(message));
  process.stdout.on("error", () => process.exit(1));
  process.stdin.pipe(socket).pipe(process.stdout);
}

function joinClient(client) {
  client.on("error", () => undefined);
  const refuse = (why) => {
    tell(why);
    client.destroy();
  };
  open((socket) => {
    for (const [from, to] of [
      [client, socket],
      [socket, client],
    ])
      from
        .on("error", () => to.destroy())
        // After its end, the last bytes may still be on their way to the other.
        .on("close", () => from.readableEnded || to.destroy())
        .pipe(to);
    if (client.destroyed) socket.destroy();
  }, refuse);
}

function run([program, ...args]) {
  const child = spawn(program, args, { stdio: "inherit" });
  // The command gets these signals too, or decides itself what becomes of them.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("error", ({ code, message }) => {
    tell(code === "ENOENT" ? `${program}: command not found` : message);
    process.exit(code === "ENOENT" ? 127 : 126);
  });
  child.once("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

if (!listens) open(joinStreams, fail);
// First of all, so that a refusal is told here, and not by the command that only sees its connection end.
else
  open((socket) => {
    socket.destroy();
    const server = createServer({ allowHalfOpen: true }, joinClient);
    server.on("error", ({ message }) => fail(`${message}. Choose another port after --listen.`));
    server.listen(Number(port), "127.0.0.1", () => {
      if (command.length > 0) run(command);
      else tell(`127.0.0.1:${port} leads to ${authority}. Stop with Ctrl-C.`);
    });
  }, fail);
