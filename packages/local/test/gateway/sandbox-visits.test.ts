import { EventEmitter } from "node:events";
import { neverSleeps } from "@cloud-sandbox/server-kit/handlers";
import { expect, test, vi } from "vitest";
import { SandboxVisits, type Visit } from "../../src/gateway/sandbox-visits.js";
import { SandboxActivity } from "../../src/sandboxes/sandbox-activity.js";
import type { ReachableSandbox } from "../../src/sandboxes/sandbox-record.js";

const asleep: ReachableSandbox = {
  id: "1",
  status: "stopped",
  machine: undefined,
  isStopping: false,
  failureReason: undefined,
  sleep: { ...neverSleeps, autoStart: true },
};
const manual = { ...asleep, sleep: neverSleeps };

function rig() {
  const activity = new SandboxActivity();
  const wake = vi.fn(async () => undefined);
  const tokenOwners = {
    of: (token: string) =>
      /^of-\d/.test(token) ? { sandboxId: token.slice(3), keyId: undefined } : undefined,
  };
  return { activity, wake, visits: new SandboxVisits({ activity, wake }, tokenOwners) };
}

const answered = undefined;
const call = (token: string, path = "/env"): Visit => ({
  to: "agent",
  authorization: `Bearer ${token}`,
  path,
  answered,
});

test.each<[string, ReachableSandbox, Visit, { wakes: boolean; counts: boolean }]>([
  ["a call with a token", asleep, call("of-1"), { wakes: true, counts: true }],
  ["a call of a sandbox that is not to start", manual, call("of-1"), { wakes: false, counts: true }],
  ["a health check", asleep, call("of-1", "/health"), { wakes: false, counts: false }],
  ["a look at metrics", asleep, call("of-1", "/metrics/snapshot?a"), { wakes: false, counts: false }],
  ["a preview", asleep, { to: "preview", answered }, { wakes: true, counts: true }],
  ["a WebSocket of a preview", asleep, { to: "preview-socket", answered }, { wakes: false, counts: true }],
])("%s", async (_, sandbox, visit, { wakes, counts }) => {
  const { activity, wake, visits } = rig();
  await visits.begin(sandbox, visit);
  expect([wake.mock.calls.length > 0, activity.last(sandbox) > 0]).toEqual([wakes, counts]);
});

test.each(["", "none", "of-2"])(
  "a call with the token %j starts nothing, and does not count",
  async (token) => {
    const { activity, wake, visits } = rig();
    await expect(visits.begin(asleep, call(token))).rejects.toMatchObject({ status: 401 });
    await visits.begin(manual, call(token));
    expect([wake.mock.calls.length, activity.last(asleep), activity.last(manual)]).toEqual([0, 0, 0]);
  },
);

test("a call counts until it is answered", async () => {
  const { activity, visits } = rig();
  const response = new EventEmitter();
  await visits.begin(asleep, { ...call("of-1"), answered: response });
  vi.useFakeTimers({ now: Date.now() + 5000 });
  try {
    expect(activity.last(asleep)).toBe(Date.now());
    response.emit("close");
    vi.advanceTimersByTime(1000);
    expect(activity.last(asleep)).toBe(Date.now() - 1000);
  } finally {
    vi.useRealTimers();
  }
});
