import { expect, test } from "vitest";
import { SandboxClient, ValidationError } from "../../src/index.js";
import { TestingService } from "../../src/testing/index.js";

/** A client of a service in memory, and the number of programs that run in it now and at most. */
function clientOf() {
  const running = { now: 0, most: 0 };
  const service = new TestingService({
    programs: ({ text }) =>
      text === "refused"
        ? undefined
        : async ({ signal }) => {
            running.now += 1;
            running.most = Math.max(running.most, running.now);
            await new Promise((resolve) => {
              if (text === "endless") signal.addEventListener("abort", resolve);
              else setImmediate(resolve);
            });
            running.now -= 1;
            return `${text}\n`;
          },
  });
  const client = new SandboxClient(service.clientOptions);
  return { client, running };
}

test("executeIsolatedMany runs some programs at a time, and gives each its own result or error", async () => {
  const { client, running } = clientOf();
  const programs = function* () {
    for (let number = 0; number < 50; number += 1) yield { code: `program ${number}` };
    yield { code: "refused" };
  };
  const told = new Map<number, unknown>();
  for await (const { index, result, error } of client.executeIsolatedMany(programs(), { concurrency: 4 }))
    told.set(index, result?.stdout ?? error);
  expect(told.size).toBe(51);
  for (let number = 0; number < 50; number += 1) expect(told.get(number)).toBe(`program ${number}\n`);
  expect(told.get(50)).toBeInstanceOf(ValidationError);
  expect(running.most).toBeGreaterThan(1);
  expect(running.most).toBeLessThanOrEqual(4);
});

test("executeIsolatedMany gives a result while it waits for the next program", async () => {
  const { client } = clientOf();
  let more: () => void = () => undefined;
  const programs = async function* () {
    yield { code: "first" };
    await new Promise<void>((resolve) => {
      more = resolve;
    });
    yield { code: "second" };
  };
  const told: unknown[] = [];
  for await (const { result } of client.executeIsolatedMany(programs())) {
    told.push(result?.stdout);
    more();
  }
  expect(told).toEqual(["first\n", "second\n"]);
});

test("executeIsolatedMany throws an error of the source of programs, and kills those that run", async () => {
  const { client, running } = clientOf();
  const programs = function* () {
    yield { code: "endless" };
    throw new Error("no more");
  };
  await expect(client.executeIsolatedMany(programs()).next()).rejects.toThrow("no more");
  expect(running.now).toBe(0);
});

test("leaving the loop over executeIsolatedMany, or its signal, kills the programs that run", async () => {
  const { client, running } = clientOf();
  const endless = [{ code: "first" }, ...Array(3).fill({ code: "endless" })];
  for await (const { result } of client.executeIsolatedMany(endless)) {
    expect(result?.stdout).toBe("first\n");
    break;
  }
  await expect.poll(() => running.now).toBe(0);

  const stop = new AbortController();
  const loop = async () => {
    for await (const { result } of client.executeIsolatedMany(endless, { signal: stop.signal }))
      if (result) stop.abort(new Error("enough"));
  };
  await expect(loop()).rejects.toThrow("enough");
  await expect.poll(() => running.now).toBe(0);
});

test("executeIsolatedMany refuses options that are unknown or invalid", async () => {
  const { client } = clientOf();
  for (const options of [{ concurrency: 0 }, { concurrency: 1.5 }, { concurency: 2 } as object])
    await expect(client.executeIsolatedMany([], options).next()).rejects.toThrow(ValidationError);
});
