import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { type SpecialBlock, specialBlocks } from "./special-addresses.js";

type Address = ReturnType<typeof ipaddr.parse>;

/** The only block of public IPv6 addresses (IANA IPv6 Global Unicast Address Assignments). */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
/** NAT64: the network connects to the IPv4 address in the last four bytes (RFC 6052). */
const translated = ipaddr.IPv6.parseCIDR("64:ff9b::/96");
let special: (SpecialBlock & { readonly subnet: ReturnType<typeof ipaddr.parseCIDR> })[] | undefined;

/** Parsed by the first call, because a program that makes no connection needs none of them. */
function notPublic(): NonNullable<typeof special> {
  special ??= specialBlocks.map((entry) => ({ ...entry, subnet: ipaddr.parseCIDR(entry.block) }));
  return special;
}

/** The address that a connection leads to: of a NAT64 address the IPv4 address inside, else the address itself. */
function reachedAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.parse(address);
  return isInBlock(parsed, translated)
    ? ipaddr.fromByteArray(parsed.toByteArray().slice(12)).toString()
    : address;
}

/** The address that lists of addresses are about: of a NAT64 or IPv4-mapped address the IPv4 address inside, else the address itself. */
export function addressInside(address: string): string {
  const parsed = isIP(address) === 6 ? ipaddr.parse(address) : undefined;
  return parsed && "isIPv4MappedAddress" in parsed && parsed.isIPv4MappedAddress()
    ? parsed.toIPv4Address().toString()
    : reachedAddress(address);
}

/** The special-purpose block that an address is in. */
export function specialBlockOf(address: string): SpecialBlock | undefined {
  if (isIP(address) === 0) return undefined;
  const parsed = ipaddr.parse(reachedAddress(address));
  return notPublic().find(({ subnet }) => isInBlock(parsed, subnet));
}

/**
 * Whether an address belongs to the public internet. Must be called before a connection to any address that somebody else
 * chose. Special-purpose blocks are not public. Neither are this machine's own addresses, because a connection from the
 * machine itself bypasses the firewall that protects it from the internet.
 */
export function isPublicAddress(address: string, own: () => readonly string[] = ownAddresses): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  const parsed = ipaddr.parse(reachedAddress(address));
  if (notPublic().some(({ subnet }) => isInBlock(parsed, subnet))) return false;
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
