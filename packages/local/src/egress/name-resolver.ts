import { Resolver } from "node:dns/promises";

/** All addresses of a name; rejects when there are none. */
export type NameResolver = (name: string) => Promise<readonly string[]>;

const timeoutMs = 4000;
const tries = 2;

/**
 * Asks the name servers of this machine and nothing else: neither its hosts file nor its search domains, which are about
 * its private surroundings. It does not wait in a thread either, of which there are too few for hostile names.
 */
export function nameServers(): NameResolver {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  return async (name) => {
    // By definition its own machine's; never asked of anybody.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length === 0 && four.status === "rejected") throw four.reason;
    return addresses;
  };
}
