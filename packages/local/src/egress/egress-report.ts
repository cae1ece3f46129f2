import { getServers } from "node:dns";
import { defaultDeny, internetSetting } from "./egress-options.js";
import { type InternetLack, nameServersLack } from "./internet-lack.js";
import { upstreamProxyVariable } from "./upstream-proxy.js";

/** The report of `doctor` about egress: the destinations that sandboxes on this host can reach. */
export interface EgressReport {
  /** The internet access of a sandbox whose create request does not set it: `on`, `off`, or `allow=` with destinations. */
  readonly internet: string;
  readonly protocols: readonly string[];
  /** The name servers that resolve names for sandboxes. */
  readonly name_servers: readonly string[];
  /** Destinations that are refused unless the operator allows them. */
  readonly refused: readonly string[];
  /** Reasons why sandboxes may have no internet access on this host, each with how to fix it. */
  readonly remarks: readonly string[];
}

const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/** @throws InvalidEgressError when CLOUD_SANDBOX_INTERNET is set to an invalid value. */
export async function examineEgress(
  env: NodeJS.ProcessEnv = process.env,
  lack: InternetLack = nameServersLack(),
): Promise<EgressReport> {
  const missing = await lack();
  const proxies = env[upstreamProxyVariable] ? [] : proxyVariables.filter((name) => env[name]);
  return {
    internet: internetSetting(undefined, env).text,
    protocols: ["HTTP CONNECT", "HTTP", "SOCKS5"],
    name_servers: getServers(),
    refused: ["addresses that are not on the public internet", ...defaultDeny],
    remarks: [
      ...(missing === undefined ? [] : [missing.message]),
      ...(proxies.length > 0
        ? [
            `${proxies.join(", ")} is set here but not used: sandboxes connect directly. Name the proxy with --egress-upstream-proxy or ${upstreamProxyVariable}.`,
          ]
        : []),
    ],
  };
}

/** The report as lines for people. */
export function describeEgress({
  internet,
  protocols,
  name_servers,
  refused,
  remarks,
}: EgressReport): string[] {
  return [
    `Internet access: ${internet}, unless a create says internet_access; over ${protocols.join(", ")}; TCP only`,
    `  names resolved by: ${name_servers.join(", ")}`,
    `  refused: ${refused.join(", ")} (see --egress-allow-private and --egress-deny)`,
    ...remarks.map((remark) => `  ! ${remark}`),
  ];
}
