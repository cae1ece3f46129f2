import { expect, test } from "vitest";
import { SandboxClient, ValidationError } from "../../src/index.js";
import { TestingService } from "../../src/testing/index.js";

/** A client of a service in memory, and the requests that it makes. `answer`: another answer to one of them. */
function clientOf(answer: (path: string) => Response | undefined = () => undefined) {
  const requests: string[] = [];
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
  const client = new SandboxClient({
    ...service.clientOptions,
    fetch: async (request) => {
      const { method, url } = request;
      const path = new URL(url).pathname.replace(/\d{6,}\w+/, "ID");
      requests.push(`${method} ${path}`);
      return answer(path) ?? service.fetch(request);
    },
  });
  return { client, requests, running };
}

const offline = { internetAccess: false } as const;

test("code without internet access needs no sandbox; the server is asked once whether it runs such", async () => {
  const { client, requests } = clientOf();
  const steps: string[] = [];
  const options = {
    ...offline,
    minIsolation: "namespace",
    onStep: (step: string) => steps.push(step),
  } as const;
  expect(await client.executeIsolated("one", options)).toMatchObject({
    ...{ kind: "result", stdout: "one\n", exitCode: 0, success: true, isolation: "namespace" },
    ...{ language: "python", cleanupError: undefined, contextLost: false, cached: false, richOutputs: [] },
  });
  expect(await client.executeIsolatedOrDetach("two", { ...offline, timeoutSeconds: 10 })).toMatchObject({
    kind: "result",
    stdout: "two\n",
  });
  expect(requests).toEqual(["GET /health", "POST /v1/executions", "POST /v1/executions"]);
  expect(steps).toEqual(["execute"]);
});

test.for([
  ["has internet access", {}, undefined],
  ["names a region", { ...offline, region: "eu" }, undefined],
  [
    "meets a server that says nothing of it",
    offline,
    (path: string) => (path === "/health" ? Response.json({ status: "healthy" }) : undefined),
  ],
  [
    "meets a server that has lost it",
    offline,
    (path: string) =>
      path === "/v1/executions"
        ? Response.json({ code: "NOT_FOUND", message: "There is no such path." }, { status: 404 })
        : undefined,
  ],
] as const)("code that %s has a sandbox of its own", async ([, options, answer]) => {
  const { client, requests } = clientOf(answer);
  expect((await client.executeIsolated("one", options)).stdout).toBe("one\n");
  expect((await client.executeIsolated("two", options)).stdout).toBe("two\n");
  const kinds = ["POST /v1/sandboxes", "DELETE /v1/sandboxes/ID"];
  for (const kind of kinds) expect(requests.filter((request) => request === kind)).toHaveLength(2);
  expect(requests.filter((request) => request === "POST /v1/executions").length).toBeLessThan(2);
});

test("code that may outlast its caller's patience has a sandbox in which it can go on", async () => {
  const { client, requests } = clientOf();
  await client.executeIsolatedOrDetach("one", { ...offline, timeoutSeconds: 60, detachAfterSeconds: 45 });
  expect(requests).toContain("POST /v1/sandboxes");
});

test("of many programs, some run at a time, and each is told with its own result or error", async () => {
  const { client, running } = clientOf();
  const programs = function* () {
    for (let number = 0; number < 50; number += 1) yield { code: `program ${number}`, ...offline };
    yield { code: "refused", ...offline };
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

test("leaving the loop over many, or their signal, kills those that run", async () => {
  const { client, running } = clientOf();
  const endless = [{ code: "first", ...offline }, ...Array(3).fill({ code: "endless", ...offline })];
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

test("options of many that there are not, or make no sense, are refused", async () => {
  const { client } = clientOf();
  for (const options of [{ concurrency: 0 }, { concurrency: 1.5 }, { concurency: 2 } as object])
    await expect(client.executeIsolatedMany([], options).next()).rejects.toThrow(ValidationError);
});
