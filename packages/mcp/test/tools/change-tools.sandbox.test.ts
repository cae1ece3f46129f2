import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { connectionOf, type McpConnection, serverFile } from "../support/mcp-connection.js";

type Answer = { readonly action: "accept" | "decline"; readonly content?: { readonly agree: boolean } };

/** A server with a directory that sandboxes may copy, and a client whose user answers so; without an answer it cannot ask. */
async function start(
  answer: Answer | ((mcp: McpConnection) => Promise<Answer>) | undefined,
  args: readonly string[] = [],
): Promise<{ mcp: McpConnection; repo: string; questions: string[] }> {
  const place = await mkdtemp(join(tmpdir(), "change-tools-"));
  const repo = join(place, "repo");
  await mkdir(repo);
  await writeFile(join(repo, "a.txt"), "one\n");
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [serverFile, "--toolsets", "default,changes", ...args],
    env: { ...getDefaultEnvironment(), CLOUD_SANDBOX_POOL: "0", CLOUD_SANDBOX_ALLOW_MOUNT: place },
    stderr: "pipe",
  });
  const capabilities = answer === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities });
  const questions: string[] = [];
  if (answer !== undefined)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      questions.push(params.message);
      return typeof answer === "function" ? answer(mcp) : answer;
    });
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    await rm(place, { recursive: true, force: true });
  });
  const mcp = await connectionOf(client, transport, () => "");
  return { mcp, repo, questions };
}

const agreed = { action: "accept", content: { agree: true } } as const;

async function changed({ call, result }: McpConnection, repo: string) {
  const { id } = await result("create_sandbox", { template_name: "base", copy_of: repo });
  await call("run_command", { sandbox_id: id, command: "echo two >> /repo/a.txt; echo x > /repo/Makefile" });
  return { sandbox_id: id };
}

test("review_changes shows what code changed, and apply_changes writes it when the user agrees", async () => {
  const { mcp, repo, questions } = await start(agreed);
  const sandbox = await changed(mcp, repo);
  const { changes, count } = await mcp.result("review_changes", sandbox);
  expect({ changes, count }).toMatchObject({
    count: 2,
    changes: [
      { path: "/repo/Makefile", kind: "added", runs: true },
      { path: "/repo/a.txt", kind: "changed" },
    ],
  });
  expect((await mcp.result("review_changes", { ...sandbox, path: "/repo/a.txt" })).diff).toContain("+two\n");
  const paths = (changes as { path: string; digest: string }[]).map(({ path, digest }) => ({ path, digest }));
  expect(await mcp.result("apply_changes", { ...sandbox, paths })).toMatchObject({ applied: true });
  expect(questions).toEqual([
    expect.stringContaining('added "/repo/Makefile" (programs may run it by themselves)'),
  ]);
  expect((await readdir(repo)).sort()).toEqual(["Makefile", "a.txt"]);
});

test("review_changes shows what code changed since a snapshot, and apply_changes refuses it without asking", async () => {
  const { mcp, questions } = await start(agreed, ["--toolsets", "default,changes,snapshots"]);
  const { id } = await mcp.result("create_sandbox", { template_name: "base" });
  const sandbox = { sandbox_id: id };
  await mcp.call("run_command", { ...sandbox, command: "echo one > a.txt" });
  const { id: since } = await mcp.result("create_snapshot", sandbox);
  await mcp.call("run_command", { ...sandbox, command: "echo two > a.txt" });
  const path = "/workspace/a.txt";
  expect((await mcp.result("review_changes", { ...sandbox, since })).changes).toMatchObject([
    { path, kind: "changed" },
  ]);
  expect((await mcp.result("review_changes", { ...sandbox, since, path })).diff).toContain("-one\n+two\n");
  expect((await mcp.result("review_changes", sandbox)).changes).toMatchObject([{ path, kind: "added" }]);
  expect(await mcp.failure("apply_changes", { ...sandbox, paths: [{ path }] })).toContain("no copy");
  expect(questions).toEqual([]);
});

test.each([
  ["declines", { action: "decline" }, "did not agree"],
  ["does not tick the box", { action: "accept", content: { agree: false } }, "did not agree"],
  ["cannot be asked", undefined, "cannot ask"],
] as const)("apply_changes writes nothing if the user %s", async (_, answer, reason) => {
  const { mcp, repo } = await start(answer);
  const sandbox = await changed(mcp, repo);
  const paths = [{ path: "/repo/Makefile" }];
  expect(await mcp.failure("apply_changes", { ...sandbox, paths })).toContain(reason);
  expect(await readdir(repo)).toEqual(["a.txt"]);
});

test("apply_changes asks nobody if the operator has said so", async () => {
  const { mcp, repo } = await start(undefined, ["--apply-without-asking"]);
  const sandbox = await changed(mcp, repo);
  const paths = [{ path: "/repo/Makefile" }];
  expect(await mcp.result("apply_changes", { ...sandbox, paths })).toMatchObject({ applied: true });
  expect((await readdir(repo)).sort()).toEqual(["Makefile", "a.txt"]);
});

test("apply_changes asks about what may run and what is removed first, in names that cannot mislead", async () => {
  const { mcp, repo, questions } = await start(agreed);
  await mkdir(join(repo, "old/deep"), { recursive: true });
  for (const name of ["old/deep/x", "kind"]) await writeFile(join(repo, name), "x");
  const sandbox = await changed(mcp, repo);
  const script =
    "cd /repo; rm -r old; mkdir z; rm kind; ln -s a.txt kind; echo x > run; chmod 755 run; echo x > \"$(printf 'a\\342\\200\\256b\\nc')\"";
  await mcp.call("run_command", { sandbox_id: sandbox.sandbox_id, command: script });
  const { changes } = await mcp.result("review_changes", sandbox);
  const paths = (changes as { path: string }[]).map(({ path }) => ({ path }));
  expect(await mcp.result("apply_changes", { ...sandbox, paths })).toMatchObject({ applied: true });
  expect(questions[0]?.split("\n").slice(1)).toEqual([
    'added "/repo/Makefile" (programs may run it by themselves)',
    'added "/repo/run" (executable)',
    'removed "/repo/old" (removes a directory with 2 entries)',
    'changed "/repo/a.txt"',
    'added "/repo/a\\u{202e}b\\nc"',
    'changed "/repo/kind" (a link to "a.txt")',
    'added directory "/repo/z"',
  ]);
});

test("apply_changes asks about nothing that it does not show", async () => {
  const { mcp, repo, questions } = await start(agreed);
  const sandbox = await changed(mcp, repo);
  await mcp.call("run_command", {
    sandbox_id: sandbox.sandbox_id,
    command: "cd /repo; for each in $(seq 41); do echo x > many$each; done",
  });
  const many = Array.from({ length: 41 }, (_, index) => ({ path: `/repo/many${index + 1}` }));
  expect(await mcp.failure("apply_changes", { ...sandbox, paths: many })).toContain("with fewer paths each");
  const other = [{ path: "/repo/a.txt" }, { path: "/repo/other" }];
  expect(await mcp.failure("apply_changes", { ...sandbox, paths: other })).toContain(
    'not among the changes: "/repo/other"',
  );
  expect([questions, await readdir(repo)]).toEqual([[], ["a.txt"]]);
  const part = many.slice(0, 40);
  expect(await mcp.result("apply_changes", { ...sandbox, paths: part })).toMatchObject({ applied: true });
});

test("apply_changes asks again if code changes something while the user is asked", async () => {
  const later = { id: "" };
  const { mcp, repo, questions } = await start(async ({ call }) => {
    const command = "chmod 755 /repo/Makefile";
    if (questions.length === 1) await call("run_command", { sandbox_id: later.id, command });
    return questions.length === 1 ? agreed : { action: "decline" };
  });
  const sandbox = await changed(mcp, repo);
  later.id = String(sandbox.sandbox_id);
  const paths = [{ path: "/repo/Makefile" }];
  expect(await mcp.failure("apply_changes", { ...sandbox, paths })).toContain("did not agree");
  expect(questions.map((question) => question.includes("executable"))).toEqual([false, true]);
  expect(await readdir(repo)).toEqual(["a.txt"]);
});
