import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an address is one of the public internet's. Not so are private, loopback, link-local (with the metadata
 * services of clouds), shared, multicast and reserved ranges, and the IPv6 forms that carry an IPv4 address in them. Nor are
 * this machine's own: from here they lead past whatever protects it from the internet.
 */
export function isPublicAddress(address: string, own: () => readonly string[] = ownAddresses): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (own().includes(parsed.toString())) return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => ipaddr.parse(address).toString());
}
