import { getServers } from "node:dns";
import { defaultDeny } from "./egress-options.js";

/** What sandboxes can reach from this host. */
export interface EgressReport {
  /** How a sandbox gets it. */
  readonly granted_by: string;
  readonly protocols: readonly string[];
  /** Who resolves the names that sandboxes ask for. */
  readonly name_servers: readonly string[];
  /** What is refused unless the operator says otherwise. */
  readonly refused: readonly string[];
  /** What may keep sandboxes from the internet here, each with the step that mends it. */
  readonly remarks: readonly string[];
}

const proxyVariables = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

export function examineEgress(env: NodeJS.ProcessEnv = process.env): EgressReport {
  const proxies = proxyVariables.filter((name) => env[name]);
  return {
    granted_by: "internet_access: true",
    protocols: ["HTTP CONNECT", "HTTP", "SOCKS5"],
    name_servers: getServers(),
    refused: ["addresses that are not on the public internet", ...defaultDeny],
    remarks:
      proxies.length > 0
        ? [
            `${proxies.join(", ")} is set here and not used: sandboxes connect directly. Give it as --egress-upstream-proxy.`,
          ]
        : [],
  };
}

/** The report as lines for people. */
export function describeEgress({
  granted_by,
  protocols,
  name_servers,
  refused,
  remarks,
}: EgressReport): string[] {
  return [
    `Internet access: for sandboxes created with ${granted_by}, over ${protocols.join(", ")}; TCP only`,
    `  names resolved by: ${name_servers.join(", ")}`,
    `  refused: ${refused.join(", ")} (see --egress-allow-private and --egress-deny)`,
    ...remarks.map((remark) => `  ! ${remark}`),
  ];
}
