import { afterAll, beforeAll, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { type CommandLine, startCommandLine } from "../support/command-line.js";

let line: CommandLine;

beforeAll(async () => {
  line = await startCommandLine();
});
afterAll(() => line?.stop());

/** Runs a command with another key than the server's own. */
const as = (key: string, ...words: string[]) =>
  runBuilt("cli", words, { env: { ...line.env, CLOUD_SANDBOX_API_KEY: key } });

test("creates a key that works until it is revoked, and lists what it uses", async () => {
  const created = await line.run([
    "keys",
    "create",
    ...["--name", "ci", "--max-sandboxes", "20", "--expires", "90d"],
  ]);
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining("does not show it again") });
  const key = created.stdout.trim();
  const sandbox = (await as(key, "sandbox", "create", "-q")).stdout.trim();
  const [listed] = (await line.json("keys", "list")) as [{ expires_at: string }];
  expect(listed).toMatchObject({ name: "ci", status: "active", sandboxes: 1, max_sandboxes: 20 });
  expect(Math.round((Date.parse(listed.expires_at) - Date.now()) / 86_400_000)).toBe(90);
  expect(await line.output("keys", "list")).toMatch(/^NAME +ID .*\nci +key_\w+ +active +1 +0 +20 /);
  expect(await line.output("keys", "list")).not.toContain(key);

  expect(await as(key, "keys", "list")).toMatchObject({ code: 125, stderr: expect.stringContaining("own") });
  expect(await line.output("keys", "revoke", "ci")).toMatch(/^ci \(key_\w+\) is revoked\. .* 1 sandbox/);
  const refused = await as(key, "sandbox", "list", "--json");
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "API_KEY_REVOKED" } });
  expect(await line.json("keys", "list")).toEqual([]);
  expect(await line.json("keys", "list", "--revoked")).toMatchObject([{ name: "ci", status: "revoked" }]);
  await line.output("sandbox", "delete", sandbox);
});

test.each<[string, string[], string]>([
  ["no name", ["create"], "USAGE"],
  ["a name with a blank", ["create", "--name", "a b"], "INVALID_REQUEST"],
  ["the name of the server's own key", ["create", "--name", "owner"], "CONFLICT"],
  ["a time without meaning", ["create", "--name", "a", "--expires", "soon"], "USAGE"],
  ["no sandboxes", ["create", "--name", "a", "--max-sandboxes", "0"], "USAGE"],
  ["a PriorityClass", ["create", "--name", "a", "--priority-class", "a"], "INVALID_REQUEST"],
  ["an unknown key", ["revoke", "nobody"], "API_KEY_NOT_FOUND"],
])("%s is refused with a code and in words", async (_, words, code) => {
  const { code: status, stderr } = await line.run(["keys", ...words, "--json"]);
  expect({ status, error: JSON.parse(stderr).error }).toMatchObject({
    status: 125,
    error: { code, message: expect.stringMatching(/^[^^]*\w[^^]*$/) },
  });
});
