#!/usr/bin/env node
// Joins standard input and output to HOST PORT through the sandbox's proxy, for programs that know no proxy:
//   ssh -o ProxyCommand="cloud-sandbox-connect %h %p" user@host
const { request } = require("node:http");
const { connect } = require("node:net");

const [host = "", port = ""] = process.argv.slice(2);
const fail = (why) => {
  console.error(`cloud-sandbox-connect: ${why}`);
  process.exit(1);
};
if (!host || !port) fail("write cloud-sandbox-connect HOST PORT");
const { HTTPS_PROXY = "", NO_PROXY = "" } = process.env;
const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;

function join(socket) {
  socket.on("error", ({ message }) => fail(message));
  process.stdout.on("error", () => process.exit(1));
  process.stdin.pipe(socket).pipe(process.stdout);
}

if (!URL.canParse(HTTPS_PROXY) || NO_PROXY.split(",").includes(host)) {
  join(connect({ host, port: Number(port), allowHalfOpen: true }));
} else {
  const proxy = new URL(HTTPS_PROXY);
  const asking = request({
    host: proxy.hostname,
    port: proxy.port,
    method: "CONNECT",
    path: authority,
    agent: false,
  });
  asking.on("error", ({ message }) => fail(message));
  asking.on("connect", ({ statusCode, statusMessage }, socket, head) => {
    if (statusCode !== 200) fail(`${statusCode} ${statusMessage}`);
    if (head.length > 0) socket.unshift(head);
    join(socket);
  });
  asking.end();
}
