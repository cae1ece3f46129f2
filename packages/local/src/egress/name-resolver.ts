import { Resolver } from "node:dns/promises";

/** All addresses of a name; rejects when there are none. */
export type NameResolver = (name: string) => Promise<readonly string[]>;

const timeoutMs = 4000;
const tries = 2;

/**
 * Resolves names with the name servers of this machine only. The hosts file and search domains are not used, because they
 * reveal the private network. `dns.lookup` is not used, because a sandbox could block all of its threads with slow names.
 */
export function nameServers(): NameResolver {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  return async (name) => {
    // localhost always means the own machine (RFC 6761) and is never sent to a name server.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length === 0 && four.status === "rejected") throw four.reason;
    return addresses;
  };
}
