import { expect, onTestFinished, test } from "vitest";
import { AbortError, SandboxClient, StreamClosedError, ValidationError } from "../../src/index.js";
import { TestingService } from "../../src/testing/index.js";

/** A client of a service in memory. Its program prints, and goes on when the test calls `goOn`. */
function clientOf() {
  let goOn: () => void = () => undefined;
  let killed = 0;
  const service = new TestingService({
    programs: {
      "print and wait": async ({ stdout, stderr, signal }) => {
        stdout("first\n");
        stderr("warning\n");
        await new Promise<void>((resolve) => {
          goOn = resolve;
          signal.addEventListener("abort", () => {
            killed += 1;
            resolve();
          });
        });
        return { stdout: "second\n", exitCode: 3, value: "42" };
      },
    },
  });
  const client = new SandboxClient(service.clientOptions);
  onTestFinished(() => client.close());
  const sandboxes = async () => (await client.controlPlane.GET("/v1/sandboxes")).data?.data?.length;
  return { client, sandboxes, goOn: () => goOn(), killed: () => killed };
}

test("an isolated stream gives output while it is written, and the result when the sandbox is deleted", async () => {
  const { client, goOn, sandboxes } = clientOf();
  const told: unknown[] = [];
  for await (const event of client.executeIsolatedStream("print and wait")) {
    if (event.type === "result") {
      expect(await sandboxes()).toBe(0);
      const { exitCode, value, sandboxId, cleanupError } = event.result;
      told.push({ exitCode, value, sandboxId: typeof sandboxId, cleanupError });
    } else if (event.type !== "error") told.push(event.text);
    if (told.length === 2) {
      expect(await sandboxes()).toBe(1);
      goOn();
    }
  }
  expect(told.slice(0, 2).sort()).toEqual(["first\n", "warning\n"]);
  expect(told.slice(2)).toEqual([
    "second\n",
    { exitCode: 3, value: "42", sandboxId: "string", cleanupError: undefined },
  ]);
});

test("an isolated stream gives its result without its output being read", async () => {
  const { client, goOn, sandboxes } = clientOf();
  const result = client.executeIsolatedStream("print and wait").result();
  const waiting = setInterval(goOn, 5);
  onTestFinished(() => clearInterval(waiting));
  expect(await result).toMatchObject({ exitCode: 3, value: "42" });
  expect(await sandboxes()).toBe(0);
});

test("leaving the loop over an isolated stream kills the code and deletes its sandbox", async () => {
  const { client, killed, sandboxes } = clientOf();
  for await (const event of client.executeIsolatedStream("print and wait")) {
    expect(event.type).not.toBe("result");
    break;
  }
  expect(await sandboxes()).toBe(0);
  expect(killed()).toBe(1);
});

test("closing an isolated stream kills the code and deletes its sandbox", async () => {
  const { client, killed, sandboxes } = clientOf();
  const stream = client.executeIsolatedStream("print and wait");
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  await stream.close();
  expect(await sandboxes()).toBe(0);
  expect(killed()).toBe(1);
  const rest = async () => {
    for await (const _ of events);
  };
  await expect(rest()).rejects.toBeInstanceOf(StreamClosedError);
  await expect(stream.result()).rejects.toBeInstanceOf(StreamClosedError);
});

test("the caller's signal kills the code of an isolated stream and deletes its sandbox", async () => {
  const { client, killed, sandboxes } = clientOf();
  const leaving = new AbortController();
  const read = async () => {
    for await (const _ of client.executeIsolatedStream("print and wait", { signal: leaving.signal }))
      leaving.abort("enough");
  };
  await expect(read()).rejects.toMatchObject({ constructor: AbortError, cause: "enough" });
  expect(await sandboxes()).toBe(0);
  expect(killed()).toBe(1);
});

test("closing the client deletes the sandbox of an isolated stream that nobody reads", async () => {
  const { client, killed } = clientOf();
  await client.executeIsolatedStream("print and wait")[Symbol.asyncIterator]().next();
  await client.close();
  expect(killed()).toBe(1);
});

test("an isolated stream with a time limit that no server accepts is refused before anything is created", async () => {
  const { client, sandboxes } = clientOf();
  const stream = client.executeIsolatedStream("print and wait", { timeoutSeconds: 0 });
  await expect(stream.result()).rejects.toBeInstanceOf(ValidationError);
  expect(await sandboxes()).toBe(0);
});
