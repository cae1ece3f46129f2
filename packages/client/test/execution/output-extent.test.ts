import { expect, test } from "vitest";
import { finished, withSandbox } from "../support/sandbox-service.js";
import { json, scriptedServer } from "../support/scripted-server.js";

test("a result gives the number of bytes of each stream", async () => {
  const wire = finished({
    stdout_truncated: true,
    stdout_bytes: 11,
    stdout_file: "/tmp/out",
    stderr_truncated: true,
    stderr_bytes: 22,
    stderr_file: "/tmp/err",
  });
  const agent = await scriptedServer((_, response) => json(response, 200, wire));
  const sandbox = await withSandbox(agent.url);
  const output = {
    stdout: { truncated: true, bytes: 11, file: "/tmp/out" },
    stderr: { truncated: true, bytes: 22, file: "/tmp/err" },
  };
  expect((await sandbox.execute("1")).output).toEqual(output);
  expect((await sandbox.commands.run("ls")).output).toEqual(output);
});

test("a background job gives the number of bytes of each stream", async () => {
  const piece = {
    status: "running",
    stdout: "",
    stderr: "",
    stdout_offset: 1,
    stderr_offset: 2,
    stdout_bytes: 11,
    stderr_bytes: 22,
    complete: false,
  };
  const agent = await scriptedServer((_, response) => json(response, 200, piece));
  const job = (await withSandbox(agent.url)).processes.get("proc_1");
  expect(await job.output()).toMatchObject({ stdoutBytes: 11, stderrBytes: 22 });
});
