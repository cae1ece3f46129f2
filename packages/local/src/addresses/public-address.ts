import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { specialBlocks } from "./special-addresses.js";

type Address = ReturnType<typeof ipaddr.parse>;

/** All that is given to anybody (IANA IPv6 Global Unicast Address Assignments). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const notPublic = specialBlocks.map(({ block }) => ipaddr.parseCIDR(block));

/**
 * Whether an address is one of the public internet's: the one decision for everything that connects to where somebody else
 * says. Not so is what stands in the table of special blocks. Nor are this machine's own addresses: from here they lead past
 * whatever protects it from the internet.
 */
export function isPublicAddress(address: string, own: () => readonly string[] = ownAddresses): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (notPublic.some((block) => isIn(parsed, block))) return false;
  if (own().includes(parsed.toString())) return false;
  return parsed.kind() === "ipv4" || (isIn(parsed, globalUnicast) && !isOfIsatap(parsed));
}

const isIn = (address: Address, block: ReturnType<typeof ipaddr.parseCIDR>): boolean =>
  address.kind() === block[0].kind() && address.match(block);

/** Below any prefix, its last half carries an IPv4 address (RFC 5214). */
function isOfIsatap(address: Address): boolean {
  const [, , , , high, low] = "parts" in address ? address.parts : [];
  return (high === 0 || high === 0x200) && low === 0x5efe;
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => ipaddr.parse(address).toString());
}
