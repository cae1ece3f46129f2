import { expect, it } from "vitest";
import { IsolatedRuns } from "../../src/ownership/isolated-runs.js";
import { connect } from "../support/mcp-connection.js";

class Full extends Error {}
const isFull = (error: unknown): boolean => error instanceof Full;

/** A service that has room for `room` runs, and refuses more. */
function service(room: number) {
  let [held, most, refused] = [0, 0, 0];
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const work = async (started: () => void): Promise<string> => {
    await turn();
    if (held === room) {
      refused += 1;
      throw new Full("full");
    }
    held += 1;
    most = Math.max(most, held);
    started();
    await turn();
    held -= 1;
    return "done";
  };
  return { work, figures: () => ({ most, refused }) };
}

it.each([1, 3, 16, 500])(
  "200 isolated runs all end on a service with room for %d, which is rarely asked in vain",
  async (room) => {
    const runs = new IsolatedRuns();
    const { work, figures } = service(room);
    const said: string[] = [];
    const options = { signal: new AbortController().signal, report: (step: string) => void said.push(step) };
    const all = await Promise.all(Array.from({ length: 200 }, () => runs.run(work, isFull, options)));
    expect(all).toEqual(Array.from({ length: 200 }, () => "done"));
    expect(figures().most).toBeLessThanOrEqual(room);
    expect(figures().refused).toBeLessThan(600);
    expect(said).toContain("Waiting for its turn: 16 other runs start first");
  },
);

it("an isolated run is refused as the service refuses it if no other run will make room", async () => {
  const runs = new IsolatedRuns();
  const { work } = service(0);
  const options = { signal: new AbortController().signal, report: () => undefined };
  const all = await Promise.allSettled(Array.from({ length: 40 }, () => runs.run(work, isFull, options)));
  expect(all.every(({ status }) => status === "rejected")).toBe(true);
});

it("an isolated run that is cancelled leaves the queue, and the others continue", async () => {
  const runs = new IsolatedRuns();
  const { work } = service(1);
  const cancelled = new AbortController();
  const [cancel, stay] = [cancelled.signal, new AbortController().signal];
  const all = Array.from({ length: 60 }, (_, index) =>
    runs.run(work, isFull, { signal: index % 2 === 0 ? stay : cancel, report: () => undefined }),
  );
  cancelled.abort(new Error("cancelled"));
  const settled = await Promise.allSettled(all);
  expect(settled.filter((_, index) => index % 2 === 0).every(({ status }) => status === "fulfilled")).toBe(
    true,
  );
  expect(await runs.run(work, isFull, { signal: stay, report: () => undefined })).toBe("done");
});

it("the server runs 30 programs that are requested at once in sandboxes, and tells clients that they wait", {
  timeout: 300_000,
}, async () => {
  const mcp = await connect({ CLOUD_SANDBOX_BACKEND: "local" });
  try {
    const told = new Map<number, string[]>();
    // Give up a call after 60 s without progress, as some clients do.
    const options = { timeout: 60_000, resetTimeoutOnProgress: true, maxTotalTimeout: 280_000 };
    const run = async (index: number) => {
      const onprogress = ({ message = "" }: { message?: string | undefined }): void =>
        void told.set(index, [...(told.get(index) ?? []), message]);
      // With a region, each needs a sandbox; programs without one wait at the service.
      const given = { code: `print(${index})`, region: "here" };
      return (await mcp.result("execute_code_isolated", given, { ...options, onprogress })).stdout;
    };
    const all = await Promise.all(Array.from({ length: 30 }, (_, index) => run(index)));
    expect(all).toEqual(Array.from({ length: 30 }, (_, index) => `${index}\n`));
    const waited = [...told.values()].filter(([first]) => first?.startsWith("Waiting for its turn: "));
    expect(waited.length).toBeGreaterThan(5);
    expect(await mcp.result("list_sandboxes")).toMatchObject({ count: 0 });
  } finally {
    await mcp.client.close();
  }
});
