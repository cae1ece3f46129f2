import { syncBuiltinESMExports } from "node:module";
import os, { type NetworkInterfaceInfo } from "node:os";
import ipaddr from "ipaddr.js";
import { afterAll, describe, expect, test, vi } from "vitest";
import { isPublicAddress } from "../../src/addresses/public-address.js";
import { specialBlocks } from "../../src/addresses/special-addresses.js";
import { EgressPolicy } from "../../src/egress/egress-policy.js";
import { parseCallback } from "../../src/webhooks/callback.js";

/** The first address of a block, the last, and one between them. */
function addressesOf(block: string): string[] {
  const [base, length] = ipaddr.parseCIDR(block);
  const low = base.toByteArray();
  const fill = (byte: number): string => {
    const bytes = low.map((value, index) => {
      const free = Math.min(8, Math.max(0, 8 * (index + 1) - length));
      return value | (byte & (2 ** free - 1));
    });
    return ipaddr.fromByteArray(bytes).toString();
  };
  return [...new Set([fill(0), fill(0b0101_0101), fill(0xff)])];
}

describe("every block of addresses that is reserved", () => {
  const rows = specialBlocks.map(({ block, use, source }) => [block, use, source] as const);

  test.each(rows)("%s (%s) is refused to sandboxes and to webhooks", (block, use, source) => {
    expect(use).not.toBe("");
    expect(source).not.toBe("");
    for (const address of addressesOf(block)) {
      expect(isPublicAddress(address), address).toBe(false);
      const policy = new EgressPolicy({ internetAccess: true }, { allowPrivate: [], deny: [] });
      const destination = { host: "a.example", port: 80 };
      expect(policy.refuseAddresses(destination, ["1.1.1.1", address])).toContain(
        "not on the public internet",
      );
      const host = address.includes(":") ? `[${address}]` : address;
      const call = (): unknown => parseCallback({ callback_url: `http://${host}/` }, false);
      expect(call, address).toThrow(/callback_url/);
    }
  });

  test("is in the table once", () => {
    expect(new Set(rows.map(([block]) => block)).size).toBe(rows.length);
  });
});

test.each([
  ["an IPv4 address in IPv6", "::ffff:1.1.1.1"],
  ["Azure's service in NAT64", "64:ff9b::a83f:8110"],
  ["a private address in NAT64", "64:ff9b::a00:1"],
  ["loopback in NAT64", "64:ff9b::127.0.0.1"],
  ["NAT64 in NAT64 of local use", "64:ff9b:1::101:101"],
  ["a private address in 6to4", "2002:a00:1::1"],
  ["a private address in Teredo", "2001:0:4136:e378:8000:63bf:f5ff:fffe"],
  ["a private address in ISATAP, below a public prefix", "2606:4700::5efe:a00:1"],
  ["the same, with the universal bit", "2606:4700::200:5efe:a00:1"],
  ["what is not given to anybody yet", "4000::1"],
  ["an address of a zone", "2606:4700::1%eth0"],
  ["a number", "2130706433"],
  ["a short form", "127.1"],
  ["a hexadecimal form", "0x7f.0.0.1"],
  ["no address", "no address"],
  ["nothing", ""],
])("%s is not an address of the public internet", (_, address) =>
  expect(isPublicAddress(address)).toBe(false),
);

/** Addresses of the public internet. Many are the neighbours of blocks that are refused. */
test.each([
  ...["1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.1", "126.255.255.255"],
  ...[
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "192.0.3.1",
  ],
  ...["192.167.255.255", "192.169.0.1", "198.17.255.255", "198.20.0.0", "198.51.101.1", "203.0.114.1"],
  ...["168.63.129.15", "168.63.129.17", "161.25.255.255", "161.27.0.0", "166.7.255.255", "166.12.0.0"],
  ...["64:ff9b::101:101", "64:FF9B:0:0::1.1.1.1"],
  ...["223.255.255.255", "2606:4700::1", "2a00:1450:4001::1", "2001:200::1", "2001:db7::1", "2003::1"],
  ...[
    "2606:4700::5eff:a00:1",
    "2606:4700::1:5efe:a00:1",
    "2606:4700::300:5efe:a00:1",
    "2620:4f:8001::1",
    "3fff:1000::1",
  ],
])("%s is an address of the public internet", (address) => expect(isPublicAddress(address)).toBe(true));

test.each(["5.6.7.8", "64:ff9b::5.6.7.8", "2a00:1450:4001::1", "2A00:1450:4001:0:0:0:0:1"])(
  "%s is not public if it is an address of this machine",
  (address) => expect(isPublicAddress(address, () => ["5.6.7.8", "2a00:1450:4001::1"])).toBe(false),
);

describe("the addresses of this machine, unless they are given,", () => {
  const address = (text: string): NetworkInterfaceInfo =>
    ({ address: text }) satisfies Partial<NetworkInterfaceInfo> as NetworkInterfaceInfo;
  afterAll(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  test("are those of its interfaces", () => {
    const interfaces = vi.spyOn(os, "networkInterfaces");
    syncBuiltinESMExports();
    interfaces.mockReturnValueOnce({ none: undefined, eth0: [address("5.6.7.8")] });
    expect(isPublicAddress("5.6.7.8")).toBe(false);
    interfaces.mockReturnValueOnce({ eth0: [address("2A00:1450:4001:0::1")] });
    expect(isPublicAddress("2a00:1450:4001::1")).toBe(false);
    interfaces.mockReturnValueOnce({ none: undefined, eth0: [address("5.6.7.8")] });
    expect(isPublicAddress("5.6.7.9")).toBe(true);
  });
});
