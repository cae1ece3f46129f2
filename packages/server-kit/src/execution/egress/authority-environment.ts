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
