import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";

let line: CommandLine;
beforeAll(async () => {
  line = await startCommandLine(["--pool", "0"]);
});
afterAll(() => line?.stop());

test("cloud-sandbox snapshot keeps files, which sandboxes go back to and begin with", async () => {
  const exec = (id: string, script: string) => line.output("sandbox", "exec", id, "--", "sh", "-c", script);
  const id = (await line.output("sandbox", "create", "-q", "--template", "base", "--name", "work")).trim();
  await exec(id, "echo first > /workspace/file; echo system > /usr/local/file");
  expect(await line.output("snapshot", "create", "work", "--name", "kept", "--label", "a=1")).toMatch(
    /^Snapshot snap_\w+ is taken\.\n$/,
  );
  await exec(id, "echo second > /workspace/file");
  expect(await line.output("snapshot", "list")).toMatch(/^ID .*\nsnap_\w+ +kept +base +1 MiB +/);

  const other = (await line.output("sandbox", "create", "-q", "--snapshot", "kept")).trim();
  expect(await exec(other, "cat /workspace/file /usr/local/file")).toBe("first\nsystem\n");
  const alone = await line.output("sandbox", "create", "-q", "--snapshot", "kept", "--files-only");
  expect(await exec(alone.trim(), "cat /workspace/file; test -e /usr/local/file || echo none")).toBe(
    "first\nnone\n",
  );
  const forks = (await line.output("sandbox", "fork", "work", "--count", "2", "-q")).trim().split("\n");
  expect(forks).toHaveLength(2);
  for (const fork of forks) expect(await exec(fork, "cat /workspace/file")).toBe("second\n");
  expect(await line.run(["sandbox", "restore", "work", "kept"])).toMatchObject({ code: 0 });
  expect(await exec(id, "cat /workspace/file")).toBe("first\n");

  expect(await line.run(["snapshot", "delete", "kept"])).toMatchObject({ code: 0 });
  for (const words of [
    ["snapshot", "delete", "kept"],
    ["sandbox", "restore", "work", "kept"],
  ])
    expect(await line.run(words)).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('"cloud-sandbox snapshot list" shows'),
    });
  expect(await line.run(["sandbox", "create", "--snapshot", "a", "--template", "base"])).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("--snapshot"),
  });
});
