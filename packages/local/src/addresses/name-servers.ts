import { Resolver } from "node:dns/promises";

/**
 * All addresses of a name; rejects when there are none. `caller` is the party that asks, such as a sandbox's id: a resolver
 * that cannot serve all at once gives each its share.
 */
export type NameResolver = (name: string, caller?: string) => Promise<readonly string[]>;

const timeoutMs = 4000;
const tries = 2;
/** How long the other family's addresses are waited for once one family's are known. */
const secondFamilyMs = 500;
/** How long no IPv6 addresses are asked for after nobody answered, if there are IPv4 addresses. */
const rememberedMs = 60_000;

/**
 * Resolves names with the name servers of this machine only. The hosts file and search domains are not used, because they
 * reveal the private network. `dns.lookup` is not used, because a sandbox could block all of its threads with slow names.
 */
export function nameServers(): NameResolver {
  let servers = new NameServers();
  return async (name) => {
    // localhost always means the own machine (RFC 6761) and is never sent to a name server.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    servers = servers.orTheirSuccessors();
    return servers.addresses(name);
  };
}

interface Answer {
  readonly addresses: readonly string[];
  readonly error?: NodeJS.ErrnoException;
}

/** The name servers that this machine had when the object was created. */
class NameServers {
  readonly #resolver = new Resolver({ timeout: timeoutMs, tries });
  #withoutIpv6Until = Number.NEGATIVE_INFINITY;

  /**
   * Returns these name servers, or new ones if the machine has others by now: after a VPN was started, or in another
   * Wi-Fi.
   */
  orTheirSuccessors(): NameServers {
    const now = new NameServers();
    return String(now.#resolver.getServers()) === String(this.#resolver.getServers()) ? this : now;
  }

  async addresses(name: string): Promise<readonly string[]> {
    const four = answerOf(this.#resolver.resolve4(name));
    if (performance.now() < this.#withoutIpv6Until) {
      const { addresses } = await four;
      if (addresses.length > 0) return addresses;
    }
    const six = answerOf(this.#resolver.resolve6(name));
    const [of4, of6] = await bothOrOne(four, six);
    if (of6 === undefined) {
      this.#withoutIpv6Until = performance.now() + rememberedMs;
      // It is slow, not silent.
      void six.then(({ error }) => {
        if (error?.code !== "ETIMEOUT") this.#withoutIpv6Until = Number.NEGATIVE_INFINITY;
      });
    }
    const addresses = [...(of4?.addresses ?? []), ...(of6?.addresses ?? [])];
    // Silence is the telling error of the two: with an answer, the name might have an address.
    const error = of6?.error?.code === "ETIMEOUT" ? of6.error : of4?.error;
    if (addresses.length === 0 && error) throw error;
    return addresses;
  }
}

const answerOf = (asked: Promise<string[]>): Promise<Answer> =>
  asked.then(
    (addresses) => ({ addresses }),
    (error: NodeJS.ErrnoException) => ({ addresses: [], error }),
  );

/** Both answers, or undefined in place of one that takes long while the other has addresses: some routers never answer for IPv6. */
function bothOrOne(
  four: Promise<Answer>,
  six: Promise<Answer>,
): Promise<readonly [Answer | undefined, Answer | undefined]> {
  return new Promise((resolve) => {
    const answers: [Answer | undefined, Answer | undefined] = [undefined, undefined];
    let limit: NodeJS.Timeout | undefined;
    const note = (index: 0 | 1) => (answer: Answer) => {
      answers[index] = answer;
      const settle = (): void => resolve([...answers]);
      if (answers[0] && answers[1]) {
        clearTimeout(limit);
        settle();
      } else if (answer.addresses.length > 0) {
        limit = setTimeout(settle, secondFamilyMs);
      }
    };
    void four.then(note(0));
    void six.then(note(1));
  });
}
