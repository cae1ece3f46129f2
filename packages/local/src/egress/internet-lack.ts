import { Resolver } from "node:dns/promises";

/** A sentence that says that this machine itself has no internet access, and how that shows; undefined where it may have. */
export type InternetLack = () => Promise<string | undefined>;

const timeoutMs = 2000;
const rememberedMs = 15_000;
/** Whoever looks up names of the internet knows who answers for this part of it. */
const everybodysDomain = "com";

/**
 * Asks the name servers of this machine, and nobody on the internet, whether they know the internet. Many failures of many
 * sandboxes are one question.
 */
export function nameServersLack(servers?: readonly string[]): InternetLack {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers) resolver.setServers(servers);
  let asked = Number.NEGATIVE_INFINITY;
  let answer: Promise<string | undefined> = Promise.resolve(undefined);
  return () => {
    if (performance.now() - asked > rememberedMs) {
      asked = performance.now();
      answer = resolver.resolveNs(everybodysDomain).then(
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
