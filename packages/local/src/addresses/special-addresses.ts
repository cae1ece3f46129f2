/** A block of addresses that is not part of the public internet, or in which no public server can be. */
export interface SpecialBlock {
  readonly block: string;
  readonly use: string;
  /** The document that reserves the block. */
  readonly source: string;
}

const iana4 = (block: string, use: string, rfc: string): SpecialBlock => ({
  block,
  use,
  source: `IANA IPv4 Special-Purpose Address Registry, ${rfc}`,
});

const iana6 = (block: string, use: string, rfc: string): SpecialBlock => ({
  block,
  use,
  source: `IANA IPv6 Special-Purpose Address Registry, ${rfc}`,
});

/**
 * All rows of IANA's two special-purpose registries but NAT64's, whose addresses are judged by the IPv4 address inside (also the
 * globally reachable blocks, because no program has its server there), blocks that other IETF documents reserve, and addresses that clouds use for their own services. Some cloud
 * addresses lie in a block listed above them. They are listed so that whoever removes the block sees what it protected.
 */
export const specialBlocks: readonly SpecialBlock[] = [
  iana4("0.0.0.0/8", "This network, and this host", "RFC 791"),
  iana4("10.0.0.0/8", "Private use", "RFC 1918"),
  iana4("100.64.0.0/10", "Shared address space of carriers", "RFC 6598"),
  iana4("127.0.0.0/8", "Loopback", "RFC 1122"),
  iana4("169.254.0.0/16", "Link-local", "RFC 3927"),
  iana4("172.16.0.0/12", "Private use", "RFC 1918"),
  iana4("192.0.0.0/24", "Protocol assignments: DS-Lite, PCP and TURN anycast, NAT64 discovery", "RFC 6890"),
  iana4("192.0.2.0/24", "Documentation (TEST-NET-1)", "RFC 5737"),
  iana4("192.31.196.0/24", "AS112", "RFC 7535"),
  iana4("192.52.193.0/24", "Automatic multicast tunnelling", "RFC 7450"),
  iana4("192.88.99.0/24", "6to4 relays, deprecated", "RFC 7526"),
  iana4("192.168.0.0/16", "Private use", "RFC 1918"),
  iana4("192.175.48.0/24", "AS112, direct delegation", "RFC 7534"),
  iana4(
    "198.18.0.0/15",
    "Benchmarks, and placeholders that VPN and proxy programs give to names",
    "RFC 2544",
  ),
  iana4("198.51.100.0/24", "Documentation (TEST-NET-2)", "RFC 5737"),
  iana4("203.0.113.0/24", "Documentation (TEST-NET-3)", "RFC 5737"),
  iana4("240.0.0.0/4", "Reserved, and limited broadcast", "RFC 1112"),
  { block: "224.0.0.0/4", use: "Multicast", source: "IANA IPv4 Address Space Registry, RFC 5771" },

  iana6("::/128", "Unspecified", "RFC 4291"),
  iana6("::1/128", "Loopback", "RFC 4291"),
  iana6("::ffff:0:0/96", "IPv4-mapped: carries an IPv4 address", "RFC 4291"),
  iana6("64:ff9b:1::/48", "NAT64 of local use: carries an IPv4 address", "RFC 8215"),
  iana6("100::/64", "Discard only", "RFC 6666"),
  iana6("100:0:0:1::/64", "Dummy prefix", "RFC 9780"),
  iana6("2001::/23", "Protocol assignments: ORCHID, benchmarks, AMT, AS112, drone tags", "RFC 2928"),
  iana6("2001::/32", "Teredo: carries two IPv4 addresses", "RFC 4380"),
  iana6("2001:db8::/32", "Documentation", "RFC 3849"),
  iana6("2002::/16", "6to4: carries an IPv4 address", "RFC 3056"),
  iana6("2620:4f:8000::/48", "AS112, direct delegation", "RFC 7534"),
  iana6("3fff::/20", "Documentation", "RFC 9637"),
  iana6("5f00::/16", "Segment routing", "RFC 9602"),
  iana6("fc00::/7", "Unique local", "RFC 4193"),
  iana6("fe80::/10", "Link-local", "RFC 4291"),
  {
    block: "::/96",
    use: "IPv4-compatible, deprecated: carries an IPv4 address",
    source: "RFC 4291, 2.5.5.1",
  },
  { block: "::ffff:0:0:0/96", use: "IPv4-translated: carries an IPv4 address", source: "RFC 2765, 2.1" },
  { block: "3ffe::/16", use: "6bone, returned", source: "RFC 3701" },
  { block: "fec0::/10", use: "Site-local, deprecated", source: "RFC 3879" },
  { block: "ff00::/8", use: "Multicast", source: "RFC 4291, 2.7" },

  {
    block: "169.254.169.254/32",
    use: "Metadata of most clouds",
    source: "AWS, Google Cloud, Azure, Oracle, DigitalOcean, IBM and OpenStack on instance metadata",
  },
  { block: "169.254.169.253/32", use: "AWS: name server", source: "Amazon VPC User Guide, DNS attributes" },
  {
    block: "169.254.169.123/32",
    use: "AWS: time",
    source: "Amazon EC2 User Guide, Amazon Time Sync Service",
  },
  {
    block: "169.254.170.2/32",
    use: "AWS: credentials of containers",
    source: "Amazon ECS Developer Guide, task IAM roles",
  },
  {
    block: "169.254.170.23/32",
    use: "AWS: credentials of pods",
    source: "Amazon EKS User Guide, Pod Identity",
  },
  {
    block: "fd00:ec2::/32",
    use: "AWS: metadata, name server, time and credentials",
    source: "Amazon EC2 User Guide, instance metadata",
  },
  {
    block: "fd20:ce::254/128",
    use: "Google Cloud: metadata",
    source: "Compute Engine documentation, VM metadata",
  },
  {
    block: "168.63.129.16/32",
    use: "Azure: WireServer, name server and health probes of every virtual machine",
    source: "Microsoft Learn, What is IP address 168.63.129.16",
  },
  {
    block: "100.100.100.200/32",
    use: "Alibaba Cloud: metadata",
    source: "Alibaba Cloud ECS User Guide, instance metadata",
  },
  {
    block: "100.100.2.136/31",
    use: "Alibaba Cloud: name servers",
    source: "Alibaba Cloud ECS User Guide, internal DNS",
  },
  {
    block: "192.0.0.192/32",
    use: "Oracle Cloud (Classic): metadata",
    source: "Oracle Cloud Infrastructure Compute Classic, instance metadata",
  },
  {
    block: "fd00:c1::a9fe:a9fe/128",
    use: "Oracle Cloud: metadata",
    source: "Oracle Cloud Infrastructure documentation, instance metadata over IPv6",
  },
  {
    block: "169.254.0.23/32",
    use: "Tencent Cloud: metadata",
    source: "Tencent Cloud CVM documentation, instance metadata",
  },
  {
    block: "fe80::a9fe:a9fe/128",
    use: "OpenStack: metadata",
    source: "OpenStack Nova documentation, metadata service over IPv6",
  },
  {
    block: "169.254.42.42/32",
    use: "Scaleway: metadata",
    source: "Scaleway documentation, instance metadata",
  },
  {
    block: "fd00:42::42/128",
    use: "Scaleway: metadata",
    source: "Scaleway documentation, instance metadata",
  },
  {
    block: "161.26.0.0/16",
    use: "IBM Cloud: name servers, time, mirrors and storage, inside its network only",
    source: "IBM Cloud VPC documentation, endpoints available",
  },
  {
    block: "166.8.0.0/14",
    use: "IBM Cloud: private endpoints of services, inside its network only",
    source: "IBM Cloud VPC documentation, endpoints available",
  },
];
