/** Ports of the egress proxy inside a sandbox: the customary ones for HTTP and SOCKS proxies. */
export const proxyPorts = { http: 3128, socks: 1080 } as const;

const proxy = `http://127.0.0.1:${proxyPorts.http}`;
const direct = "localhost,127.0.0.1,::1,0.0.0.0,sandbox";

interface NodeProxy {
  readonly nodePreload?: string;
  readonly importsPreload?: boolean;
}

/** The command inside that joins its input and output to a host and port through the proxy: for SSH, which knows no proxy variable. */
export const connectCommand = "cloud-sandbox-connect";

/**
 * The proxy variables for programs, in upper and lower case because programs read one or the other. ALL_PROXY also
 * names the HTTP proxy: some clients fail immediately on a SOCKS proxy if they lack a SOCKS library. `nodePreload` is the
 * path of a script that makes Node.js honour the variables.
 *
 * `importsPreload`: whether Node.js is of version 18.18 or newer. It then finds the script without the `package.json` of the working
 * directory, which may be broken.
 */
export function proxyEnvironment({ nodePreload, importsPreload }: NodeProxy): Record<string, string> {
  const named = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: direct };
  const lower = Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...named,
    ...Object.fromEntries(lower),
    GIT_SSH_COMMAND: `ssh -o ProxyCommand='${connectCommand} %h %p'`,
    ...(nodePreload && {
      NODE_OPTIONS: importsPreload ? `--import=file://${nodePreload}` : `--require=${nodePreload}`,
    }),
  };
}
