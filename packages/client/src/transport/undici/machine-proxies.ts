import type { Agent, buildConnector, EnvHttpProxyAgent } from "undici";

type Undici = Pick<typeof import("undici"), "Agent" | "EnvHttpProxyAgent">;
type Environment = Record<string, string | undefined>;

/** The proxies that this machine's variables name. */
interface MachineProxies {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/** Servers of this machine itself, which no proxy reaches. */
const own = ["localhost", "127.0.0.1", "[::1]"];

/** An agent that goes through the proxies that this machine's variables name, if any, except to this machine itself. */
export function agentThroughProxies(
  undici: Undici,
  options: Agent.Options & { allowHalfOpen?: boolean },
): Agent | EnvHttpProxyAgent {
  const { allowHalfOpen = false, ...more } = options;
  const proxies = machineProxies();
  if (proxies === undefined) return new undici.Agent(more);
  // Through a proxy, undici makes the connections itself. Cast needed: its types want a port here.
  const tls = { allowHalfOpen } as buildConnector.BuildOptions;
  return new undici.EnvHttpProxyAgent({ ...more, ...proxies, proxyTls: tls, requestTls: tls });
}

/** Whether connections to a server may go through a proxy, as far as the variables tell. */
export function mayBeProxied(origin: string): boolean {
  return !own.includes(new URL(origin).hostname) && machineProxies() !== undefined;
}

function machineProxies(env: Environment = globalThis.process?.env ?? {}): MachineProxies | undefined {
  const read = (name: string): string => (env[name.toLowerCase()] || env[name] || "").trim();
  const direct = read("NO_PROXY");
  const [http, https] = [read("HTTP_PROXY"), read("HTTPS_PROXY")].map((url) => url || read("ALL_PROXY"));
  if (direct === "*" || (!http && !https)) return undefined;
  return {
    // An empty text is no proxy, where undefined would be undici's own reading of the environment.
    httpProxy: url(http ?? ""),
    httpsProxy: url(https ?? ""),
    noProxy: [direct, ...own].join(","),
  };
}

/** The proxy as a URL: people leave out the scheme, and have a "%" in their password. */
function url(text: string): string {
  const named = text === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  return named.replace(/^socks5h:/i, "socks5:").replace(/%(?![0-9a-f]{2})/gi, "%25");
}
