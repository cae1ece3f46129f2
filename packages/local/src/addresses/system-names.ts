import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { FairSlots } from "./fair-slots.js";
import type { NameResolver } from "./name-servers.js";

/** A look-up occupies one of the few threads of this process for as long as a name server likes. */
const threads = new FairSlots(2);
/** The names that each caller waits for. */
const waiting = new Map<string, Map<string, Promise<readonly string[]>>>();
const mostOfCaller = 16;
/** How long the machine's own look-up is waited for once the name servers have the name's addresses. */
const systemMs = 250;

/**
 * Resolves names as the machine's programs do: with its hosts file, search domains, multicast DNS and name servers. Only for
 * names that the machine's owner chose, because these sources reveal the private network. The name servers are asked beside
 * that, because programs wait many seconds for IPv6 addresses where nobody answers for them.
 */
export const systemNames =
  (nameServers: NameResolver): NameResolver =>
  async (name, caller = "") => {
    const late = nameServers(name).then(async (addresses) => {
      await sleep(systemMs);
      return addresses;
    });
    return Promise.any([ask(name, caller), late]).catch(({ errors }: AggregateError) => {
      throw errors[0];
    });
  };

async function ask(name: string, caller: string): Promise<readonly string[]> {
  const names = waiting.get(caller) ?? new Map<string, Promise<readonly string[]>>();
  const running = names.get(name);
  if (running) return running;
  if (names.size >= mostOfCaller) throw Object.assign(new Error("Too many look-ups"), { code: "ETIMEOUT" });
  const asked = threads.run(caller, () => lookup(name, { all: true }));
  const found = asked.then((all) => all.map(({ address }) => address));
  waiting.set(caller, names.set(name, found));
  try {
    return await found;
  } finally {
    names.delete(name);
    if (names.size === 0) waiting.delete(caller);
  }
}
