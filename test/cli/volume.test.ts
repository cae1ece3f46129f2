import { afterAll, beforeAll, expect, test } from "vitest";
import { type CommandLine, startCommandLine } from "../support/command-line.js";

let line: CommandLine;
beforeAll(async () => {
  line = await startCommandLine(["--pool", "0"]);
});
afterAll(() => line?.stop());

test("cloud-sandbox volume makes, lists and deletes volumes, which programs and sandboxes mount", {
  tags: ["root"],
}, async () => {
  await line.output("volume", "create", "cache", "--size", "16");
  const writer = ["run", "--mount", "cache:/data", "--code", "print(open('/data/x', 'w').write('kept'))"];
  expect(await line.output(...writer)).toBe("4\n");
  const id = (
    await line.output("sandbox", "create", "-q", "--name", "reader", "--mount", "cache:/in:ro")
  ).trim();
  const read = await line.run(["sandbox", "exec", id, "--", "sh", "-c", "cat /in/x; rm -f /in/x"]);
  expect(read).toMatchObject({ stdout: "kept", stderr: expect.stringContaining("Read-only file system") });
  expect(await line.output("volume", "list")).toMatch(/^NAME .*\ncache +vol_\w+ +16 MiB +\d+ MiB +reader /);
  const refused = await line.run(["volume", "delete", "cache"]);
  expect(refused).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("cache is mounted by reader"),
  });
  await line.output("sandbox", "delete", id);
  await line.output("volume", "delete", "cache");
  expect(await line.json("volume", "list")).toEqual([]);
  expect((await line.run(["volume", "delete", "cache"])).stderr).toContain('"cloud-sandbox volume list"');
});

test.each([["cache"], ["cache:data"], [":/data"], ["cache:/data:rw"]])(
  "--mount %s is refused",
  async (value) => {
    const { code, stderr } = await line.run(["sandbox", "create", "--mount", value]);
    expect({ code, stderr }).toMatchObject({ code: 125, stderr: expect.stringContaining("VOLUME:PATH") });
  },
);

test.each(["./repo", "../repo", "~/repo", "a/repo"])(
  "--mount with the relative directory %s asks for its whole path",
  async (directory) => {
    const { code, stderr } = await line.run(["sandbox", "create", "--mount", `${directory}:/data`]);
    expect({ code, stderr }).toMatchObject({ code: 125, stderr: expect.stringContaining("whole path") });
  },
);

test("--mount with a directory names how the server allows it", async () => {
  const { code, stderr } = await line.run(["sandbox", "create", "--mount", "/etc:/data:ro"]);
  expect({ code, stderr }).toMatchObject({ code: 125, stderr: expect.stringContaining("--allow-mount") });
});
