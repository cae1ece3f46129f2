/** One of other people's MCP servers, which the assistant may use. */
import type { McpServerConfiguration } from "cloud-sandbox-mcp-runner/configuration";

/** The internet hosts that a server may reach. */
export type Reach = "none" | "all" | readonly string[];

/** The hosts that a server may reach. Without `internet` in its configuration, these are none: the user must allow them. */
export function reachOf({ internet }: McpServerConfiguration): Reach {
  if (internet === true) return "all";
  return internet === undefined || internet === false || internet.length === 0 ? "none" : internet;
}

/** Advice on how the user lets a server reach more. Empty for a server that may reach everything. */
export function reachAdvice({ name, reach }: { readonly name: string; readonly reach: Reach }): string {
  if (reach === "all") return "";
  const now = reach === "none" ? "nothing" : `only ${reach.join(", ")}`;
  return `Server ${name} may reach ${now}. If it needs more of the internet, the user can allow it with "internet" in the server's configuration: true, or a list of hosts.`;
}

const offline =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|fetch failed|getaddrinfo|could not resolve|failed to resolve|name or service not known|temporary failure in name|network is unreachable|connection error|DESTINATION_NOT_ALLOWED|tunnel connection failed|403 Forbidden/i;

/** Whether a text is an error about a network that cannot be reached. */
export function tellsOfNoNetwork(text: string): boolean {
  return offline.test(text);
}
