import { describe, expect, onTestFinished, test } from "vitest";
import {
  NotFoundError,
  SandboxClient,
  SandboxExpiredError,
  ValidationError,
  verifyWebhook,
} from "../../src/index.js";
import { type Programs, TestingService } from "../../src/testing/index.js";

/** A testing service with these programs, and a client of it. */
function serviceWith(programs: Programs): { service: TestingService; client: SandboxClient } {
  const service = new TestingService({ programs });
  const client = new SandboxClient({ ...service.clientOptions, deleteOnSignal: false });
  onTestFinished(() => client.close());
  return { service, client };
}

describe("programs", () => {
  test.each<[string, Programs]>([
    ["a text", { "print(42)": "42\n" }],
    ["a result", { "print(42)": { stdout: "42\n", exitCode: 0 } }],
    ["a function of the table", { "print(42)": (program) => program.stdout("42\n") }],
    ["a function that answers for all", ({ text }) => (text === "print(42)" ? "42\n" : undefined)],
  ])("are answered by %s", async (_, programs) => {
    const { client } = serviceWith(programs);
    expect(await client.executeIsolated("print(42)")).toMatchObject({ stdout: "42\n", exitCode: 0 });
  });

  test("that the service does not know are refused by name, and leave no sandbox", async () => {
    const { client } = serviceWith({});
    const call = client.executeIsolated("print(43)");
    await expect(call).rejects.toThrow(ValidationError);
    await expect(call).rejects.toThrow(/"print\(43\)".*programs option/);
    const left: string[] = [];
    for await (const { id } of client.sandboxes.list()) left.push(id);
    expect(left).toEqual([]);
  });

  test("fail with the error of the test if they throw", async () => {
    const { client } = serviceWith({
      "1": () => {
        throw new RangeError("no such case");
      },
    });
    await expect(client.executeIsolated("1")).rejects.toThrow(/RangeError: no such case/);
  });

  test("see the sandbox's files and variables, and change them", async () => {
    const { client, service } = serviceWith({
      "process data": ({ env, files, stdout }) => {
        files.write("out.txt", files.readText("in.txt").toUpperCase() + env.SUFFIX);
        stdout("done");
      },
    });
    const sandbox = await client.sandboxes.create({ env: { SUFFIX: "!" } });
    service.filesOf(sandbox.id).write("/workspace/in.txt", "hello");
    expect((await sandbox.commands.run("process data")).stdout).toBe("done");
    expect(await sandbox.files.readText("out.txt")).toBe("HELLO!");
  });
});

describe("the clock", () => {
  test("ends sandboxes and programs whose time is over", async () => {
    const { client, service } = serviceWith({
      "sleep 60": ({ sleep }) => sleep(60),
      "sleep 5": ({ sleep }) => sleep(5),
    });
    const sandbox = await client.sandboxes.create({ timeoutSeconds: 3600 });
    const slow = sandbox.commands.run("sleep 60", { timeoutSeconds: 10 });
    const fast = sandbox.commands.run("sleep 5", { timeoutSeconds: 10 });
    await expect.poll(() => sandbox.metrics.snapshot()).toMatchObject({ activeExecutions: 2 });
    await service.clock.advance(20);
    expect(await slow).toMatchObject({ exitCode: 124, terminationReason: "timeout" });
    expect(await fast).toMatchObject({ exitCode: 0 });
    await service.clock.advance(3600);
    await expect(sandbox.execute("1")).rejects.toThrow(SandboxExpiredError);
    await expect(client.sandboxes.get("1700000000abcdefgh")).rejects.toThrow(NotFoundError);
  });
});

test("the testing service has streams too", async () => {
  const { client } = serviceWith({
    count: async ({ stdout, sleep }) => {
      for (const n of [1, 2, 3]) {
        stdout(`${n}\n`);
        await sleep(0.001);
      }
      return { exitCode: 4 };
    },
  });
  const sandbox = await client.sandboxes.create();
  const stream = sandbox.executeStream("count");
  let text = "";
  for await (const event of stream) if (event.type === "stdout") text += event.text;
  expect(text).toBe("1\n2\n3\n");
  expect(await stream.result()).toMatchObject({ exitCode: 4 });
});

test("code in the background sees the variables of the context that it names", async () => {
  const { client } = serviceWith({
    "x = 1": ({ variables }) => {
      variables.set("x", 1);
    },
    x: ({ variables }) => ({ value: String(variables.get("x")) }),
  });
  const sandbox = await client.sandboxes.create();
  await sandbox.execute("x = 1", { context: "kept" });
  const inContext = await sandbox.executeBackground("x", { context: "kept" });
  await inContext.wait();
  const { data } = await sandbox.agent.GET("/execute/processes/{process_id}/output", {
    params: { path: { process_id: inContext.id }, query: { values: true } },
  });
  expect(data).toMatchObject({ complete: true, result: "1" });
});

test("a token expires by the service's clock, and the client gets another", async () => {
  const { client, service } = serviceWith({ "1": "1" });
  const sandbox = await client.sandboxes.create({ timeoutSeconds: 86_400 });
  await service.clock.advance(86_399);
  await sandbox.setTimeout(86_400);
  await service.clock.advance(10);
  expect((await sandbox.execute("1")).stdout).toBe("1");
});

test("reports of executions are sent to their callback, signed", async () => {
  const sent: Request[] = [];
  const service = new TestingService({
    programs: { "1": "1" },
    sendReport: async (request) => {
      sent.push(request);
      return new Response();
    },
  });
  const client = new SandboxClient({ ...service.clientOptions, deleteOnSignal: false });
  onTestFinished(() => client.close());
  const sandbox = await client.sandboxes.create();
  await sandbox.executeAsync("1", "https://receiver.example/hook", { callbackSecret: "secret" });
  await expect.poll(() => sent.length).toBe(1);
  const [request] = sent as [Request];
  expect(await verifyWebhook(await request.text(), request.headers, "secret")).toMatchObject({ stdout: "1" });
});

test("requests to addresses other than the service's are not answered", async () => {
  const service = new TestingService();
  await expect(service.fetch("http://elsewhere.test/health")).rejects.toThrow(/sandboxes\.test/);
});
