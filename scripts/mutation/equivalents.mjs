const skipped = "The default's first element is skipped, and the others are absent either way.";
const undefinedEitherWay = "A function that ends without a word gives undefined, too.";
const noBytes = "Putting no bytes back, or sending none, does nothing.";
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
  {
    file: "packages/local/src/egress/http-proxy.ts",
    was: "head.length > 0",
    now: "true",
    reason: noBytes,
  },
  {
    file: "packages/local/src/egress/http-proxy.ts",
    was: "head.length > 0",
    now: "head.length >= 0",
    reason: noBytes,
  },
  {
    file: "packages/local/src/egress/http-proxy.ts",
    line: "client.end(refusal(error))",
    was: "error instanceof EgressProblem",
    now: "true",
    reason: "Another error means that the connection is gone, so nobody gets the answer.",
  },
  {
    file: "packages/local/src/egress/http-proxy.ts",
    was: "{ once: true }",
    now: "{}",
    reason: "A signal aborts once.",
  },
  {
    file: "packages/local/src/egress/http-proxy.ts",
    line: "once: true",
    was: "true",
    now: "false",
    reason: "A signal aborts once.",
  },
  {
    file: "packages/local/src/egress/http-proxy.ts",
    was: "[]",
    now: '["Stryker was here"]',
    reason: skipped,
  },
  {
    file: "packages/local/src/egress/internet-lack.ts",
    was: "performance.now() - asked > rememberedMs",
    now: "performance.now() - asked >= rememberedMs",
    reason:
      "A time that is measured in fractions of milliseconds and is the limit to the last digit does not come up.",
  },
  {
    file: "packages/local/src/egress/sandbox-egress.ts",
    line: 'client.on("error"',
    was: "() => client.destroy()",
    now: "() => undefined",
    reason: "Node destroys a socket that fails.",
  },
  {
    file: "packages/local/src/egress/sandbox-egress.ts",
    line: 'socket.on("timeout"',
    was: "() => socket.destroy()",
    now: "() => undefined",
    reason: "Both ends of a connection are idle at the same time, and the end of the client's ends this one.",
  },
  {
    file: "packages/local/src/egress/upstream-proxy.ts",
    was: "/^\\[|\\]$/g",
    now: "/\\[|\\]$/g",
    reason: "The host of a URL has brackets at its ends only, around an address.",
  },
  {
    file: "packages/local/src/egress/upstream-proxy.ts",
    was: "/^\\[|\\]$/g",
    now: "/^\\[|\\]/g",
    reason: "The host of a URL has brackets at its ends only, around an address.",
  },
  {
    file: "packages/local/src/egress/upstream-proxy.ts",
    was: "head.length > 0",
    now: "true",
    reason: noBytes,
  },
  {
    file: "packages/local/src/egress/upstream-proxy.ts",
    was: "head.length > 0",
    now: "head.length >= 0",
    reason: noBytes,
  },
  {
    file: "packages/local/src/egress/socks-proxy.ts",
    was: "error instanceof EgressProblem",
    now: "true",
    reason: "Another error means that the connection is gone, so nobody gets the answer.",
  },
  {
    file: "packages/local/src/agents/agent-supervisor.ts",
    was: "performance.now() - lastHealthCheck >= healthCheckMs",
    now: "performance.now() - lastHealthCheck > healthCheckMs",
    reason:
      "A time that is measured in fractions of milliseconds and is the limit to the last digit does not come up.",
  },
  {
    file: "packages/local/src/agents/agent-connection.ts",
    line: "exec(answer",
    was: "[]",
    now: '["Stryker was here"]',
    reason: skipped,
  },
  {
    file: "packages/local/src/egress/egress-log.ts",
    line: "this.#entries = this",
    was: "this.#entries.length >= 2 * keptEntries",
    now: "true",
    reason: "Only the last entries are read, however often the list is cut.",
  },
  {
    file: "packages/local/src/egress/egress-log.ts",
    line: "this.#entries = this",
    was: "this.#entries.length >= 2 * keptEntries",
    now: "this.#entries.length > 2 * keptEntries",
    reason: "Only the last entries are read, however often the list is cut.",
  },
  {
    file: "packages/local/src/egress/egress-log.ts",
    line: "this.#entries = this",
    was: "2 * keptEntries",
    now: "2 / keptEntries",
    reason: "Only the last entries are read, however often the list is cut.",
  },
  {
    file: "packages/local/src/egress/egress-log.ts",
    line: "this.#entries = this",
    was: "-keptEntries",
    now: "+keptEntries",
    reason: "A list of twice as many entries has its last ones after the first ones.",
  },
  {
    file: "packages/local/src/webhooks/delivery-queue.ts",
    was: "wait > 0",
    now: "true",
    reason: "A wait of no time, or less, ends at once.",
  },
  {
    file: "packages/local/src/webhooks/delivery-queue.ts",
    was: "wait > 0",
    now: "wait >= 0",
    reason: "A wait of no time, or less, ends at once.",
  },
  {
    file: "packages/local/src/webhooks/delivery-queue.ts",
    was: "age <= webhooks.maxAgeMs",
    now: "age < webhooks.maxAgeMs",
    reason: "A time that is the limit to the millisecond does not come up.",
  },
  {
    file: "packages/local/src/webhooks/delivery-queue.ts",
    was: "status >= 200",
    now: "true",
    reason: "Statuses below 200 are no answers.",
  },
  {
    file: "packages/local/src/webhooks/delivery-queue.ts",
    line: "redirect",
    was: "status >= 300",
    now: "true",
    reason: "Statuses from 200 to 299 were returned before.",
  },
  {
    file: "packages/local/src/webhooks/webhooks.ts",
    was: '{ status: "pending" }',
    now: "{}",
    reason: "The queue leaves a delivery alone that is not pending.",
  },
  {
    file: "packages/local/src/webhooks/webhooks.ts",
    was: '{ status: "waiting" }',
    now: "{}",
    reason: "A delivery that is not waiting is not followed.",
  },
  {
    file: "packages/local/src/gateway/cross-origin-access.ts",
    was: "origin === undefined",
    now: "false",
    reason: `${forTheCompiler}undefined is none of the allowed origins.`,
  },
  {
    file: "packages/local/src/gateway/request-routing.ts",
    was: "request.headers.upgrade?.toLowerCase",
    now: "request.headers.upgrade.toLowerCase",
    reason: `${forTheCompiler}a request that asks for an upgrade has the header.`,
  },
  {
    file: "packages/local/src/webhooks/async-executions.ts",
    was: "!operation",
    now: "false",
    reason: `${forTheCompiler}the contract has the operation.`,
  },
  {
    file: "packages/local/src/webhooks/delivery-repository.ts",
    was: "this.database.get(sql)?.count",
    now: "this.database.get(sql).count",
    reason: `${forTheCompiler}a count has a row.`,
  },
  {
    file: "packages/agent/src/files/open-file.ts",
    was: "-1",
    now: "+1",
    reason: "Any count but 0 begins the loop.",
  },
];
