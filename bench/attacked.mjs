import { progress, summarize } from "./measure.mjs";
import { serve } from "./serve.mjs";
import { testModule } from "./test-module.mjs";

const seconds = 30;

/** What a well-behaved tenant waits while eight others attack, against what it waits when it is alone. */
export async function benchAttacked({ long = false }) {
  const { attack, behave } = await testModule("hostile/attackers.ts");
  const { ControlPlaneCaller } = await testModule("support/control-plane-caller.ts");
  const server = await serve(
    "--port",
    "0",
    "--pool",
    "2",
    "--webhook-allow-private",
    "--rate-limit",
    "100000",
  );
  try {
    const { body } = await new ControlPlaneCaller(server).call("POST", "/keys", { name: "tenant" });
    const tenant = new ControlPlaneCaller({ url: server.url, apiKey: body.key });
    const calls = async (duration) => {
      const took = [];
      for (const until = Date.now() + duration * 1000; Date.now() < until; )
        took.push(...(await behave(tenant)));
      return took;
    };
    await calls(2);
    progress("a tenant alone");
    const quiet = summarize(await calls(seconds / 3));
    progress("a tenant among eight attackers");
    const end = await attack(server);
    const attacked = summarize(await calls(long ? 10 * seconds : seconds));
    await end();
    return [
      {
        name: "the slowest of 20 calls of a tenant among eight attackers, against alone",
        unit: "ms",
        floor: quiet.p95,
        subject: attacked.p95,
        ratio: attacked.p95 / quiet.p95,
        limit: 3,
      },
    ];
  } finally {
    await server.stop();
  }
}
