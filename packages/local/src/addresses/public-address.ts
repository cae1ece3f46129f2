import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { specialBlocks } from "./special-addresses.js";

type Address = ReturnType<typeof ipaddr.parse>;

/** The only block of public IPv6 addresses (IANA IPv6 Global Unicast Address Assignments). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
let special: ReturnType<typeof ipaddr.parseCIDR>[] | undefined;

/** Parsed by the first call, because a program that makes no connection needs none of them. */
function notPublic(): ReturnType<typeof ipaddr.parseCIDR>[] {
  special ??= specialBlocks.map(({ block }) => ipaddr.parseCIDR(block));
  return special;
}

/**
 * Whether an address belongs to the public internet. Must be called before a connection to any address that somebody else
 * chose. Special-purpose blocks are not public. Neither are this machine's own addresses, because a connection from the
 * machine itself bypasses the firewall that protects it from the internet.
 */
export function isPublicAddress(address: string, own: () => readonly string[] = ownAddresses): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (notPublic().some((block) => isInBlock(parsed, block))) return false;
  if (own().includes(parsed.toString())) return false;
  return parsed.kind() === "ipv4" || (isInBlock(parsed, globalUnicast) && !isIsatap(parsed));
}

const isInBlock = (address: Address, block: ReturnType<typeof ipaddr.parseCIDR>): boolean =>
  address.kind() === block[0].kind() && address.match(block);

/** ISATAP addresses, whose lower half carries an IPv4 address below any prefix (RFC 5214). */
function isIsatap(address: Address): boolean {
  const [, , , , high, low] = "parts" in address ? address.parts : [];
  return (high === 0 || high === 0x200) && low === 0x5efe;
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => ipaddr.parse(address).toString());
}
