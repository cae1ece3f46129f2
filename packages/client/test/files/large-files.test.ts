import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SandboxClient } from "../../src/index.js";

const mebibyte = 1024 * 1024;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "large-files-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const digest = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** A sandbox whose agent waits for `wait` after each chunk of an upload. `content` gives the file that was uploaded. */
async function slowSandbox(wait: (received: number) => Promise<unknown> | undefined) {
  const arrived: Buffer[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let received = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      if (request.url === "/files/upload") arrived.push(chunk);
      received += chunk.length;
      await wait(received);
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "1", status: "running", public_host: url, auth_token: "token" }));
  };
  const server = createServer((request, response) => {
    // The client hangs up when it gives up, which breaks the answer.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const client = new SandboxClient({ apiKey: "key", baseUrl: url });
  return {
    sandbox: await client.sandboxes.get("1"),
    /** The bytes between the head of the form's last part and the boundary after it. */
    content(): Buffer {
      const form = Buffer.concat(arrived);
      const start = form.indexOf("\r\n\r\n", form.indexOf("filename=")) + 4;
      return form.subarray(start, form.lastIndexOf("\r\n------cloud-sandbox-"));
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a local file arrives unchanged, however slowly the server reads it", async () => {
  const bytes = randomBytes(24 * mebibyte);
  const path = join(directory, "file");
  await writeFile(path, bytes);
  let stops = 0;
  await using slow = await slowSandbox((received) => {
    if (received < stops * 2 * mebibyte) return undefined;
    stops += 1;
    // Wait until all buffers between client and agent are full.
    return sleep(20);
  });
  await slow.sandbox.files.upload(path, "/workspace/a");
  expect(stops).toBeGreaterThan(8);
  expect(digest(slow.content())).toBe(digest(bytes));
});

test("a local file that becomes shorter while it is uploaded is an error that says so", async () => {
  const path = join(directory, "shrinking");
  await writeFile(path, randomBytes(24 * mebibyte));
  await using slow = await slowSandbox((received) =>
    received > mebibyte && received < 2 * mebibyte ? writeFile(path, "") : undefined,
  );
  const uploading = slow.sandbox.files.upload(path, "/workspace/a");
  await expect(uploading).rejects.toMatchObject({ code: "LOCAL_FILE_FAILED" });
});

test.each([
  ["text", "ä".repeat(300_000), 600_000],
  ["bytes", new Uint8Array(3 * mebibyte), 3 * mebibyte],
  ["a part of a buffer", new Uint8Array(3 * mebibyte).subarray(5, 300_005), 300_000],
  ["a Blob", new Blob(["ab", new Uint8Array(5 * mebibyte)]), 5 * mebibyte + 2],
])("%s arrives whole", async (_, content, size) => {
  await using sandbox = await slowSandbox(() => undefined);
  await sandbox.sandbox.files.write("/workspace/a", content);
  expect(sandbox.content().length).toBe(size);
});

test("a loop over a large file gets all of it, locks the stream, and closes the connection when it is left", async () => {
  const bytes = randomBytes(24 * mebibyte);
  let isClosed = false;
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/files/download")) {
      response.setHeader("content-type", "application/octet-stream");
      response.setHeader("content-length", bytes.length);
      if (!request.url.endsWith("endless")) response.end(bytes);
      else response.once("close", () => (isClosed = true)).write(bytes.subarray(0, mebibyte));
    } else {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ id: "1", status: "running", public_host: url, auth_token: "token" }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new SandboxClient({ apiKey: "key", baseUrl: url });
  try {
    const sandbox = await client.sandboxes.get("1");
    const opened = async (path: string) => {
      const init = { params: { query: { path } }, parseAs: "stream" } as const;
      const { data } = await sandbox.agent.GET("/files/download", init);
      return data as unknown as ReadableStream<Uint8Array>;
    };
    const pieces: Uint8Array[] = [];
    const whole = await opened("whole");
    for await (const piece of whole) pieces.push(piece);
    expect(digest(Buffer.concat(pieces))).toBe(digest(bytes));
    expect(whole.locked).toBe(true);
    expect(() => whole.getReader()).toThrow(/locked/);
    for await (const _ of await opened("endless")) break;
    await expect.poll(() => isClosed).toBe(true);
  } finally {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
