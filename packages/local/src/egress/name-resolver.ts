import { Resolver } from "node:dns/promises";

/** All addresses of a name; rejects when there are none. */
export type NameResolver = (name: string) => Promise<readonly string[]>;

const timeoutMs = 4000;
const tries = 2;

/**
 * Asks only the name servers of this machine. The hosts file and search domains are not used, because they reveal the
 * private network. Unlike `dns.lookup` it needs no thread, of which a sandbox could block all with slow names.
 */
export function nameServers(): NameResolver {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  return async (name) => {
    // localhost is the own machine by definition (RFC 6761) and is never sent to a name server.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length === 0 && four.status === "rejected") throw four.reason;
    return addresses;
  };
}
