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

/** Files with certificates of authorities that the host's programs trust beside those that everybody trusts. */
export interface AuthorityFiles {
  /** The host's own authorities alone. */
  readonly own: string;
  /** All authorities: those of the system, and the host's own. */
  readonly bundle: string;
}

/** Variables of programs that add authorities to those they have. */
const adding = ["NODE_EXTRA_CA_CERTS", "DENO_CERT"];
/** Variables of programs that take a file in place of the authorities they have. */
const replacing = [
  "SSL_CERT_FILE",
  "REQUESTS_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "PIP_CERT",
  "AWS_CA_BUNDLE",
  "CARGO_HTTP_CAINFO",
  "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
  "HTTPLIB2_CA_CERTS",
  "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
  "NIX_SSL_CERT_FILE",
];

/**
 * The variables of authority files that programs of a host read. Not all are set in sandboxes: curl reads SSL_CERT_FILE too, and
 * CURL_CA_BUNDLE would win over what Python's requests is told.
 */
export const authorityVariables: readonly string[] = [...adding, ...replacing, "CURL_CA_BUNDLE"];

/**
 * The variables with which programs trust the host's own authorities. Most programs have authorities of their own and do not read
 * the system's. Only for hosts that have such authorities: Node.js 20 reads the file at each start.
 */
export function authorityEnvironment({ own, bundle }: AuthorityFiles): Record<string, string> {
  return Object.fromEntries([
    ...adding.map((name) => [name, own]),
    ...replacing.map((name) => [name, bundle]),
  ]);
}
