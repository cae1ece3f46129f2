import { Resolver } from "node:dns/promises";
import { networkInterfaces } from "node:os";

/** The likely reason why this machine has no internet. */
export interface Lack {
  /** A sentence for people. */
  readonly message: string;
  /** Whether no name server answers. */
  readonly isSilent: boolean;
}

/** Resolves with what seems to keep this machine from the internet; undefined if nothing does. */
export type InternetLack = () => Promise<Lack | undefined>;

const timeoutMs = 2000;
const rememberedMs = 15_000;
/** A domain whose name servers are known to every name server that can resolve internet names. */
const knownDomain = "com";

/**
 * Checks for internet access with a query to this machine's own name servers. The answer is cached for 15 s, so that many
 * failing connections cause one query.
 */
export function nameServersLack(servers?: readonly string[]): InternetLack {
  let lastQueryAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<Lack | undefined> = Promise.resolve(undefined);
  return () => {
    if (performance.now() - lastQueryAt > rememberedMs) {
      lastQueryAt = performance.now();
      // A new one each time, because the machine's name servers change with its network.
      const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
      if (servers) resolver.setServers(servers);
      answer = resolver.resolveNs(knownDomain).then(
        () => undefined,
        ({ code }: NodeJS.ErrnoException) => lackOf(code),
      );
    }
    return answer;
  };
}

function lackOf(code: string | undefined): Lack {
  const isSilent = ["ETIMEOUT", "ECONNREFUSED"].includes(code ?? "");
  return { message: sentence(isSilent), isSilent };
}

function sentence(isSilent: boolean): string {
  const isAlone = Object.values(networkInterfaces()).every((own = []) =>
    own.every(({ internal }) => internal),
  );
  if (isAlone) return "This machine has no internet access: it has no network but its own loopback.";
  const how = isSilent ? "do not answer" : "know no name of the internet";
  return `The name servers of this machine ${how}. If a proxy leads to the internet, its operator names it with --egress-upstream-proxy.`;
}
