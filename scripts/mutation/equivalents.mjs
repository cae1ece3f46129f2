const skipped = "The default's first element is skipped, and the others are absent either way.";
const undefinedEitherWay = "A function that ends without a word gives undefined, too.";
const forTheCompiler = "The check is for the compiler: ";

/**
 * Bugs that are none: the changed code does the same in every case that can come up. `line` is a part of the line, given
 * where a file has the same text in several places.
 *
 * @type {readonly { file: string, was: string, now: string, line?: string, reason: string }[]}
 */
export const equivalents = [
  {
    file: "packages/local/src/addresses/public-address.ts",
    was: "[]",
    now: '["Stryker was here"]',
    reason: "Its first four elements are skipped, and the two that are read are undefined either way.",
  },
  {
    file: "packages/local/src/egress/destination-pattern.ts",
    was: "[]",
    now: '["Stryker was here"]',
    reason: skipped,
  },
  {
    file: "packages/local/src/egress/destination.ts",
    was: "[]",
    now: '["Stryker was here"]',
    reason: skipped,
  },
  {
    file: "packages/local/src/egress/destination.ts",
    was: "} catch {",
    now: "{}",
    reason: undefinedEitherWay,
  },
  ...["/\\[|\\]$/g", "/^\\[|\\]/g"].map((now) => ({
    file: "packages/local/src/egress/destination.ts",
    was: "/^\\[|\\]$/g",
    now,
    reason: "The host of a URL has brackets at its ends only, around an address.",
  })),
  {
    file: "packages/local/src/egress/hop-by-hop.ts",
    line: "more: readonly string[]",
    was: "[]",
    now: '["Stryker was here"]',
    reason: "It is a header's name that no message can have: names have no spaces.",
  },
  {
    file: "packages/local/src/agents/agent-answer.ts",
    was: "} catch {",
    now: "{}",
    reason: undefinedEitherWay,
  },
  {
    file: "packages/local/src/relay/poll-backoff.ts",
    was: "performance.now() - this.#requestStart >= longPollMs",
    now: "performance.now() - this.#requestStart > longPollMs",
    reason:
      "A wait that is measured in fractions of nanoseconds and ends at the limit to the last digit does not come up.",
  },
  {
    file: "packages/local/src/gateway/preview-headers.ts",
    was: "/^(?:https?:)?\\/\\/([^/?#]*)(.*)$/i",
    now: "/^(?:https?:)?\\/\\/([^/?#]*)(.*)/i",
    reason: "A header has no line breaks, so `.*` always goes to the end.",
  },
  {
    file: "packages/local/src/gateway/preview-headers.ts",
    was: "[]",
    now: '["Stryker was here"]',
    reason: skipped,
  },
  {
    file: "packages/local/src/gateway/preview-target.ts",
    was: "[]",
    now: '["Stryker was here"]',
    reason: skipped,
  },
  {
    file: "packages/local/src/gateway/preview-target.ts",
    was: "/^\\/preview\\/([^/?]*)\\/?([^/?]*)/",
    now: "/\\/preview\\/([^/?]*)\\/?([^/?]*)/",
    reason: "The text is known to begin with /preview/, where the first match is.",
  },
  ...["/\\[(.*)\\]$/", "/^\\[(.*)\\]/"].map((now) => ({
    file: "packages/local/src/webhooks/callback.ts",
    was: "/^\\[(.*)\\]$/",
    now,
    reason: "The host of a URL has brackets at its ends only, around an address.",
  })),
  {
    file: "packages/local/src/webhooks/callback.ts",
    was: "} catch {",
    now: "{}",
    reason: "Its callers ask only whether it is true: undefined is as false.",
  },
  {
    file: "packages/agent/src/access/token-verifier.ts",
    was: "expires !== undefined",
    now: "true",
    reason: `${forTheCompiler}undefined is not greater than any time.`,
  },
  {
    file: "packages/agent/src/access/token-verifier.ts",
    was: "oldest !== undefined",
    now: "true",
    reason: `${forTheCompiler}deleting undefined from the map deletes nothing.`,
  },
  {
    file: "packages/agent/src/files/byte-range.ts",
    was: "ranges === -2",
    now: "false",
    reason: `${forTheCompiler}a number has no type, so the next condition gives the same answer.`,
  },
  {
    file: "packages/agent/src/files/byte-range.ts",
    was: "-2",
    now: "+2",
    reason: `${forTheCompiler}a number has no type, so the next condition gives the same answer.`,
  },
  {
    file: "packages/client/src/sandbox/owned-sandboxes.ts",
    was: "this.#serial++",
    now: "this.#serial--",
    reason: "Either way each creation has a name of its own, which is all they are for.",
  },
  {
    file: "packages/client/src/sandbox/owned-sandboxes.ts",
    was: "oldest !== undefined",
    now: "true",
    reason: `${forTheCompiler}a map that is full has an oldest entry.`,
  },
];
