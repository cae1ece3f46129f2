import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

const run = promisify(execFile);

/** Requests of the vendor's documentation, with its headers and bodies, sent to the local server by curl. */
describe("curl, as the vendor's documents use it", { tags: ["curl"] }, () => {
  let server: LocalServer;
  let agent: string;
  let id: string;
  let token: string;

  const curl = async (...args: string[]): Promise<string> =>
    (await run("curl", ["-sS", "--fail-with-body", "--max-time", "60", ...args])).stdout;
  const json = async <Answer>(...args: string[]): Promise<Answer> =>
    JSON.parse(await curl(...args)) as Answer;
  const bearer = () => ["-H", `Authorization: Bearer ${token}`];
  const key = () => ["-H", `Authorization: Bearer ${server.apiKey}`];
  const body = (value: object) => ["-H", "Content-Type: application/json", "-d", JSON.stringify(value)];

  beforeAll(async () => {
    server = await startLocalServer({ args: ["--pool", "1"] });
    const request = { template_name: "code-interpreter", timeout_seconds: 300 };
    const created = await json<{ id: string; auth_token: string; direct_url: string }>(
      ...["-X", "POST", `${server.url}/v1/sandboxes`, ...key(), ...body(request)],
    );
    id = created.id;
    token = created.auth_token;
    agent = created.direct_url;
  });
  afterAll(() => server?.stop());

  test("runs code", async () => {
    const answer = await json(
      ...[
        `${agent}/execute`,
        ...bearer(),
        ...body({ language: "python", code: "print('Hello')", timeout: 30 }),
      ],
    );
    expect(answer).toMatchObject({ success: true, exit_code: 0, stdout: "Hello\n" });
  });

  test("sends a shell line as a command, in a working_dir", async () => {
    const line = { command: "echo $0 | wc -l && pwd", working_dir: "/tmp" };
    expect(await json(`${agent}/commands/run`, ...bearer(), ...body(line))).toMatchObject({
      stdout: "1\n/tmp\n",
    });
  });

  test("writes, uploads and downloads files", async () => {
    await curl(`${agent}/files/write`, ...bearer(), ...body({ path: "/workspace/a.txt", content: "text" }));
    expect(await curl(`${agent}/files/download?path=/workspace/a.txt`, ...bearer())).toBe("text");
    await curl(
      `${agent}/files/upload`,
      ...bearer(),
      "-F",
      `file=@${process.execPath}`,
      "-F",
      "path=/workspace/node",
    );
    const listed = await json<{ files: { name: string; size: number }[] }>(
      ...[`${agent}/files/list?path=/workspace`, ...bearer()],
    );
    expect(listed.files.map(({ name }) => name)).toEqual(expect.arrayContaining(["a.txt", "node"]));
    await curl("-X", "DELETE", `${agent}/files/remove?path=/workspace/node`, ...bearer());
  });

  test("asks for health without a token, and with the key for the sandbox", async () => {
    expect(await json(`${agent}/health`)).toMatchObject({ status: "healthy" });
    const asked = ["-H", `X-API-Key: ${server.apiKey}`, `${server.url}/v1/sandboxes/${id}`];
    expect(await json(...asked)).toMatchObject({ id, status: "running" });
  });

  test("is told what is wrong, by status and in words", async () => {
    await expect(curl(`${agent}/files/read?path=/etc/passwd`, ...bearer())).rejects.toMatchObject({
      stdout: expect.stringContaining("PATH_NOT_ALLOWED"),
      stderr: expect.stringContaining("403"),
    });
  });

  test("deletes the sandbox", async () => {
    expect(await json("-X", "DELETE", `${server.url}/v1/sandboxes/${id}`, ...key())).toMatchObject({ id });
    await expect(curl(`${agent}/ping`, ...bearer())).rejects.toMatchObject({
      stdout: expect.stringMatching(/Sandbox .* not found/),
    });
  });
});
