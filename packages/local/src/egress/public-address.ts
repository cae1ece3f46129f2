import ipaddr from "ipaddr.js";

const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Whether an address is one of the public internet's. Not so are private, loopback, link-local (with the metadata
 * services of clouds), shared, multicast and reserved ranges, and the IPv6 forms that carry an IPv4 address in them.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
}
