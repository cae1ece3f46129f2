import { Resolver } from "node:dns/promises";

/** Resolves with a sentence that says why this machine seems to have no internet access; undefined if it may have it. */
export type InternetLack = () => Promise<string | undefined>;

const timeoutMs = 2000;
const rememberedMs = 15_000;
/** A domain whose name servers are known to every name server that can resolve internet names. */
const knownDomain = "com";

/**
 * Checks for internet access with a query to this machine's own name servers. The answer is cached for 15 s, so that many
 * failing connections cause one query.
 */
export function nameServersLack(servers?: readonly string[]): InternetLack {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers) resolver.setServers(servers);
  let lastQueryAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<string | undefined> = Promise.resolve(undefined);
  return () => {
    if (performance.now() - lastQueryAt > rememberedMs) {
      lastQueryAt = performance.now();
      answer = resolver.resolveNs(knownDomain).then(
        () => undefined,
        ({ code }: NodeJS.ErrnoException) => lackOf(code),
      );
    }
    return answer;
  };
}

function lackOf(code: string | undefined): string {
  const how = ["ETIMEOUT", "ECONNREFUSED"].includes(code ?? "")
    ? "its name servers do not answer"
    : "its name servers know no name of the internet";
  return `This machine has no internet access: ${how}.`;
}
