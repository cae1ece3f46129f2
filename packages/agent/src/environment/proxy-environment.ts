import type { EgressConfig } from "../config/agent-config.js";
import { proxyPorts } from "../network/egress-relay.js";

const proxy = `http://127.0.0.1:${proxyPorts.http}`;
const direct = "localhost,127.0.0.1,::1,0.0.0.0,sandbox";

/**
 * What tells programs of the proxy, in both spellings that are in use. ALL_PROXY names it as HTTP, too: some clients fail at
 * once on a SOCKS proxy that they have no library for.
 */
export function proxyEnvironment({ nodePreload }: EgressConfig): Record<string, string> {
  const named = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: direct };
  const lower = Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...named,
    ...Object.fromEntries(lower),
    ...(nodePreload && { NODE_OPTIONS: `--require=${nodePreload}` }),
  };
}
