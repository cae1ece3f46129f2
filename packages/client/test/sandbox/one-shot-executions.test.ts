import { expect, test } from "vitest";
import { NetworkError, SandboxClient, type SandboxClientOptions, ValidationError } from "../../src/index.js";
import { TestingService } from "../../src/testing/index.js";

/**
 * A client of a service in memory, and the requests that it has made. `answer` may replace the service's answer to one.
 */
function clientOf(
  answer: (request: Request) => Response | undefined = () => undefined,
  hooks: SandboxClientOptions["hooks"] = {},
) {
  const requests: string[] = [];
  const keys = new Set<string | null>();
  const running = { now: 0 };
  const service = new TestingService({
    programs:
      ({ text }) =>
      async ({ signal }) => {
        running.now += 1;
        if (text === "endless") await new Promise((resolve) => signal.addEventListener("abort", resolve));
        running.now -= 1;
        return `${text}\n`;
      },
  });
  const client = new SandboxClient({
    ...service.clientOptions,
    retry: { baseDelaySeconds: 0 },
    hooks,
    fetch: async (request) => {
      const { headers, method, url } = request;
      const { pathname } = new URL(url);
      requests.push(`${method} ${pathname.replace(/\d{6,}\w+/, "ID")}`);
      if (pathname === "/v1/executions") keys.add(headers.get("idempotency-key"));
      return answer(request) ?? service.fetch(request);
    },
  });
  return { client, keys, requests, running };
}

const pathOf = ({ url }: Request): string => new URL(url).pathname;
const oneShot = "POST /v1/executions";

test("code is executed without a sandbox if the server offers that, which is not asked before", async () => {
  const { client, keys, requests } = clientOf();
  const steps: string[] = [];
  const options = { minIsolation: "namespace", onStep: (step: string) => steps.push(step) } as const;
  const [first, second] = await Promise.all([
    client.executeIsolated("one", options),
    client.executeIsolated("two", { internetAccess: false }),
  ]);
  expect(first).toMatchObject({
    ...{ kind: "result", stdout: "one\n", exitCode: 0, success: true, isolation: "namespace" },
    ...{ language: "python", cleanupError: undefined, contextLost: false, cached: false, richOutputs: [] },
  });
  expect(first.sandboxId).not.toBe(second.sandboxId);
  expect(await client.executeIsolated("three", { timeoutSeconds: 10, detachAfterSeconds: 45 })).toMatchObject(
    {
      kind: "result",
      stdout: "three\n",
    },
  );
  expect(requests).toEqual([oneShot, oneShot, oneShot]);
  expect(keys.size).toBe(3);
  expect(steps).toEqual(["execute"]);
});

test("results have the same fields with a sandbox and without", async () => {
  const without = await clientOf().client.executeIsolated("one");
  const cloud = clientOf((request) => (pathOf(request) === "/v1/executions" ? refused(404) : undefined));
  const other = await cloud.client.executeIsolated("one", { timeoutSeconds: 10, detachAfterSeconds: 45 });
  const own = ["sandboxId", "executionTimeSeconds"];
  const comparable = (result: object) =>
    Object.fromEntries(Object.entries(result).filter(([name]) => !own.includes(name)));
  expect(comparable(without)).toEqual(comparable(other));
});

const healthy = (offers: object): Response => Response.json({ status: "healthy", ...offers });
const refused = (status: number, body: object = {}): Response => Response.json(body, { status });
/** Answers of a server: to a program, and at its health check. */
const server = (toProgram: () => Response, health: () => Response) => (path: string) =>
  path === "/v1/executions" ? toProgram() : path === "/health" && health();

test.for([
  ["names a region", { region: "eu" }, undefined],
  ["has lists that the server must confirm", { egress: { allow: ["pypi.org"] } }, undefined],
  [
    "meets a server that does not know the path",
    {},
    server(
      () => refused(404, { code: "NOT_FOUND", message: "There is no such path." }),
      () => healthy({}),
    ),
  ],
  [
    "meets a server of another framework",
    {},
    server(
      () => refused(404, { detail: "Not Found" }),
      () => refused(404),
    ),
  ],
  ...[403, 405, 501].flatMap((status) => [
    [
      `is refused with ${status} by a server that says nothing of it`,
      {},
      server(
        () => refused(status),
        () => healthy({}),
      ),
    ] as const,
    [
      `is refused with ${status} by a server whose health check fails`,
      {},
      server(
        () => refused(status),
        () => refused(400),
      ),
    ] as const,
  ]),
] as const)("code that %s has a sandbox of its own", async ([, options, answer]) => {
  const { client, requests } = clientOf((request) => answer?.(pathOf(request)) || undefined);
  const run = async (code: string): Promise<string> => (await client.executeIsolated(code, options)).stdout;
  expect([await run("one"), await run("two")]).toEqual(["one\n", "two\n"]);
  for (const kind of ["POST /v1/sandboxes", "DELETE /v1/sandboxes/ID"])
    expect(requests.filter((request) => request === kind)).toHaveLength(2);
  expect(requests.filter((request) => request === oneShot).length).toBeLessThan(2);
});

test.for([
  [404, "TEMPLATE_NOT_FOUND"],
  [403, "PERMISSION_DENIED"],
] as const)("a refusal with %i of a server that offers it is passed on", async ([status, code]) => {
  const { client, requests } = clientOf(
    (request) =>
      server(
        () => refused(status, { code, message: "No." }),
        () => healthy({ executions: true }),
      )(pathOf(request)) || undefined,
  );
  await expect(client.executeIsolated("one")).rejects.toMatchObject({ code });
  expect(requests).not.toContain("POST /v1/sandboxes");
});

test("that a server lacks the operation is no failure that hooks are told of", async () => {
  const failures: unknown[] = [];
  const { client } = clientOf(
    (request) => (pathOf(request) === "/v1/executions" ? refused(404) : undefined),
    { onError: (event: unknown) => failures.push(event) },
  );
  expect((await client.executeIsolated("one")).stdout).toBe("one\n");
  expect(failures).toEqual([]);
});

test("code that may be handed over to the background has a sandbox in which it can continue", async () => {
  const { client, requests } = clientOf();
  await client.executeIsolated("one", { timeoutSeconds: 60, detachAfterSeconds: 45 });
  expect(requests).toContain("POST /v1/sandboxes");
  expect(requests).not.toContain(oneShot);
});

test("a program is sent again under the same key if it was refused, and not if its connection broke", async () => {
  let refusals = 1;
  const busy = () =>
    Response.json({ code: "RATE_LIMITED" }, { status: 429, headers: { "retry-after": "0" } });
  const full = clientOf((request) =>
    pathOf(request) === "/v1/executions" && refusals-- > 0 ? busy() : undefined,
  );
  expect((await full.client.executeIsolated("one")).stdout).toBe("one\n");
  expect(full.requests).toEqual([oneShot, oneShot]);
  expect(full.keys.size).toBe(1);
  const broken = clientOf((request) => {
    if (pathOf(request) !== "/v1/executions") return undefined;
    throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNRESET" } });
  });
  await expect(broken.client.executeIsolated("one")).rejects.toThrow(NetworkError);
  expect(broken.requests).toEqual([oneShot]);
});

test("a server that cannot be reached is reported with one error", async () => {
  const { client, requests } = clientOf(() => {
    throw Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }),
    });
  });
  await expect(client.executeIsolated("one")).rejects.toThrow("nothing listens there");
  expect(new Set(requests)).toEqual(new Set([oneShot]));
});

test("a signal kills code without a sandbox, and code whose signal has fired is not sent", async () => {
  const { client, running } = clientOf();
  const stop = new AbortController();
  const endless = client.executeIsolated("endless", { signal: stop.signal });
  await expect.poll(() => running.now).toBe(1);
  stop.abort();
  await expect(endless).rejects.toMatchObject({ name: "AbortError" });
  await expect.poll(() => running.now).toBe(0);
  const late = clientOf();
  await expect(late.client.executeIsolated("one", { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: "AbortError",
  });
  expect(late.requests).not.toContain(oneShot);
});

test("invalid options of a program without a sandbox are refused before anything is sent", async () => {
  const { client, requests } = clientOf();
  for (const options of [
    { template: "a", templateId: "b" },
    { internetAccess: 1 as never },
    { region: 1 as never },
  ])
    await expect(client.executeIsolated("one", options)).rejects.toThrow(ValidationError);
  expect(requests).toEqual([]);
});
