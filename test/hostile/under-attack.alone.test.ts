import { expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { startLocalServer } from "../support/local-server.js";
import { attack, attackers, behave } from "./attackers.js";

/** A minute in CI. With ATTACK_SECONDS it takes as long as you like. */
const seconds = Number(process.env.ATTACK_SECONDS ?? 45);

test(`eight attackers at once keep a tenant from nothing, and the server from nothing else, for ${seconds} s`, {
  timeout: (seconds + 120) * 1000,
}, async () => {
  expect(Object.keys(attackers)).toHaveLength(8);
  const server = await startLocalServer({
    args: ["--pool", "2", "--webhook-allow-private", "--rate-limit", "100000"],
    through: ["prlimit", "--nofile=1024"],
  });
  const owner = new ControlPlaneCaller(server);
  const { body } = await owner.call("POST", "/keys", { name: "tenant", max_sandboxes: 4 });
  const tenant = new ControlPlaneCaller({ url: server.url, apiKey: String(body.key) });
  const end = await attack(server);
  const took: number[] = [];
  try {
    for (const until = Date.now() + seconds * 1000; Date.now() < until; )
      took.push(...(await behave(tenant)));
  } finally {
    await end();
  }
  console.log(
    `${took.length} calls of the tenant under attack, the longest ${Math.max(...took).toFixed(0)} ms`,
  );
  expect(took.length).toBeGreaterThan(seconds / 2);
  expect(server.log()).not.toMatch(/Unexpected|failed \(req|Error:/);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});
