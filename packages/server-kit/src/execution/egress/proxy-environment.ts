/** Ports of the egress proxy inside a sandbox: the customary ones for HTTP and SOCKS proxies. */
export const proxyPorts = { http: 3128, socks: 1080 } as const;

const proxy = `http://127.0.0.1:${proxyPorts.http}`;
const direct = "localhost,127.0.0.1,::1,0.0.0.0,sandbox";

/**
 * The proxy variables for programs, in upper and lower case because programs read one or the other. ALL_PROXY also
 * names the HTTP proxy: some clients fail immediately on a SOCKS proxy if they lack a SOCKS library. `nodePreload` is the
 * path of a script that makes Node.js honour the variables.
 */
export function proxyEnvironment({ nodePreload }: { readonly nodePreload?: string }): Record<string, string> {
  const named = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: direct };
  const lower = Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...named,
    ...Object.fromEntries(lower),
    ...(nodePreload && { NODE_OPTIONS: `--require=${nodePreload}` }),
  };
}
