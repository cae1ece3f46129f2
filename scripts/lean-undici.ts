import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Plugin } from "rolldown";

const client = fileURLToPath(new URL("../packages/client/dist/index.js", import.meta.url));
const lean = "\0lean-undici.cjs";

/**
 * A plugin for rolldown, for programs that bundle the client: HTTP requests load only the part of undici that they use, because
 * loading all of it (mocks, caches, proxies, fetch, WebSockets) takes four times as long as the start of Node.js. WebSockets
 * still load all of it.
 */
export function leanUndici(): Plugin {
  const { resolve } = createRequire(client);
  const part = (path: string): string => `require(${JSON.stringify(resolve(`undici/lib/${path}`))})`;
  return {
    name: "lean-undici",
    resolveId: {
      order: "pre",
      handler: (id, importer) => (id === "undici" && !importer?.includes("/default-sockets-") ? lean : null),
    },
    load: (id) =>
      id === lean
        ? {
            moduleType: "js",
            code: `Object.assign(${part("dispatcher/dispatcher")}.prototype, ${part("api")});
module.exports = {
  Agent: ${part("dispatcher/agent")},
  Pool: ${part("dispatcher/pool")},
  buildConnector: ${part("core/connect")},
  upgrade(address, { dispatcher, ...options }) {
    const { origin, pathname, search } = new URL(address);
    return dispatcher.upgrade({ method: "GET", ...options, origin, path: pathname + search });
  },
};`,
          }
        : null,
  };
}
