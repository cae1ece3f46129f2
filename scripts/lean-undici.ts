import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";

const client = fileURLToPath(new URL("../packages/client/dist/index.js", import.meta.url));
const lean = "\0lean-undici.cjs";
const leanSockets = "\0lean-undici-sockets.cjs";

/**
 * A plugin for rolldown, for programs that bundle the client: HTTP requests load only the part of undici that they use, because
 * loading all of it (mocks, caches, proxies, fetch, WebSockets) takes four times as long as the start of Node.js. WebSockets load
 * their part when the first one is opened, which needs undici's fetch and takes two thirds of all of it.
 * Requests do not load Node.js's own undici either, which the names `Headers` and `FormData` would do. V8 does not optimize the
 * parser, which is WebAssembly: that takes longer than all the parsing that a command needs.
 */
export function leanUndici(): Plugin {
  const { resolve } = createRequire(client);
  const part = (path: string): string => `require(${JSON.stringify(resolve(`undici/lib/${path}`))})`;
  return {
    name: "lean-undici",
    resolveId: {
      order: "pre",
      handler: (id, importer) => {
        if (id !== "undici") return null;
        return importer?.includes("/default-sockets-") ? leanSockets : lean;
      },
    },
    load: (id) => {
      // The client does not offer HTTP/2 to servers.
      if (/\/undici\/lib\/dispatcher\/client-h2\.js$/.test(id))
        return { moduleType: "js", code: "module.exports = {}" };
      if (id === leanSockets)
        return {
          moduleType: "js",
          code: `module.exports = {
  Agent: ${part("dispatcher/agent")},
  get EnvHttpProxyAgent() { return ${part("dispatcher/env-http-proxy-agent")} },
  buildConnector: ${part("core/connect")},
  WebSocket: ${part("web/websocket/websocket")}.WebSocket,
  ping: ${part("web/websocket/websocket")}.ping,
  ${upgrade}
};`,
        };
      return id === lean
        ? {
            moduleType: "js",
            code: `Object.assign(${part("dispatcher/dispatcher")}.prototype, ${part("api")});
module.exports = {
  Agent: ${part("dispatcher/agent")},
  get EnvHttpProxyAgent() { return ${part("dispatcher/env-http-proxy-agent")} },
  Pool: ${part("dispatcher/pool")},
  buildConnector: ${part("core/connect")},
  ${upgrade}
};`,
          }
        : null;
    },
    transform: (code, id) => {
      if (/\/openapi-fetch\/dist\/index\.mjs$/.test(id)) return lightGlobals + code;
      if (/\/undici\/lib\/dispatcher\/client-h1\.js$/.test(id))
        return code.replaceAll("new WebAssembly.Module(", "unoptimized(") + unoptimized;
      // Node.js's own HTTP, of which undici needs the default size of headers and a class that no request here has.
      if (/\/undici\/lib\/dispatcher\/client\.js$/.test(id))
        return code.replace("require('node:http')", "{ maxHeaderSize: 16 * 1024 }");
      if (/\/undici\/lib\/core\/util\.js$/.test(id))
        return code.replace("const { IncomingMessage } = require('node:http')", "class IncomingMessage {}");
      return null;
    },
  };
}

const upgrade = `upgrade(address, { dispatcher, ...options }) {
    const { origin, pathname, search } = new URL(address);
    return dispatcher.upgrade({ method: "GET", ...options, origin, path: pathname + search });
  },`;

/**
 * Takes the place of the globals in openapi-fetch. Headers of requests need what is here; the client makes forms itself, so
 * that none gets here.
 */
const lightGlobals = `class Headers extends Map {
  static [Symbol.hasInstance](value) { return typeof value?.getSetCookie === "function" }
  get(name) { return super.get(name.toLowerCase()) ?? null }
  has(name) { return super.has(name.toLowerCase()) }
  set(name, value) { return super.set(name.toLowerCase(), String(value).trim()) }
  delete(name) { return super.delete(name.toLowerCase()) }
  append(name, value) { this.set(name, this.has(name) ? this.get(name) + ", " + value : value) }
  getSetCookie() { return [] }
}
class FormData {}
`;

/**
 * Compiles all of the parser at once, because the flags count when a function is compiled. They are reset right after it: V8 uses no
 * stored compiled code of JavaScript that was made with other flags. The first flag implies that nothing is compiled again.
 */
const unoptimized = `
function unoptimized(code) {
  const { setFlagsFromString } = require("node:v8");
  setFlagsFromString("--liftoff-only --no-wasm-lazy-compilation");
  try {
    return new WebAssembly.Module(code);
  } finally {
    setFlagsFromString("--no-liftoff-only --wasm-tier-up --wasm-dynamic-tiering --wasm-lazy-compilation");
  }
}
`;
