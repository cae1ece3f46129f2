import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

const program = join(import.meta.dirname, "../../packages/local/dist/machine/copy-program.cjs");
const rounds = 100;
const files = Array.from({ length: 12 }, (_, index) => `file-${index}`);

const start = (name: string, request: object): ChildProcessWithoutNullStreams => {
  const child = spawn(process.execPath, [program, name], { env: {} });
  child.stdin.on("error", () => undefined).write(`${JSON.stringify(request)}\n`);
  return child;
};

/** The answer of a program that needs no more than its request. */
async function answer(name: string, request: object): Promise<string> {
  const child = start(name, request);
  child.stdin.end();
  return text(child.stdout.setEncoding("latin1"));
}

/** What the tests know of a file: which of the two contents it has, and nothing else. */
function stateOf(path: string): string {
  if (!existsSync(path) && !lstatSync(path, { throwIfNoEntry: false })) return "missing";
  const entry = lstatSync(path);
  if (entry.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (entry.isDirectory()) return "directory";
  const content = readFileSync(path, "utf8");
  const [first = ""] = content;
  return content === first.repeat(content.length) ? `${content.length} of ${first}` : "mixed";
}

/** How many files and directories an apply says it has written. */
const applied = (output: string): number => output.split('"applied"').length - 1;

test("an apply that is killed at any moment leaves each file old or new, and the next one finishes it", async () => {
  const place = mkdtempSync(join(tmpdir(), "killed-applies-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const [host, sandbox] = ["host", "sandbox"].map((name) => join(place, name)) as [string, string];
  mkdirSync(sandbox);
  mkdirSync(join(sandbox, "new"));
  symlinkSync("file-0", join(sandbox, "link"));
  for (const name of [...files, "new/file"]) writeFileSync(join(sandbox, name), "b".repeat(70_000));
  const paths = [...files, "link", "new", "new/file", "gone", "gone/file"];
  const before = (path: string): string =>
    ({ link: "missing", new: "missing", "new/file": "missing", gone: "directory" })[path] ?? "5 of a";
  const after = (path: string): string =>
    ({ link: "link to file-0", new: "directory", gone: "missing", "gone/file": "missing" })[path] ??
    "70000 of b";
  const moments = new Set<number>();
  for (let round = 0; round <= rounds; round += 1) {
    rmSync(host, { recursive: true, force: true });
    mkdirSync(join(host, "gone"), { recursive: true });
    for (const name of [...files, "gone/file"]) writeFileSync(join(host, name), "a".repeat(5));
    const { dev, ino, uid, gid } = lstatSync(host, { bigint: true });
    const directory = {
      path: host,
      identity: `${dev}:${ino}`,
      owner: { uid: Number(uid), gid: Number(gid) },
    };
    let known = await answer("manifest", directory);
    const places = { merged: sandbox, upper: sandbox, lower: host };
    const changes = (await answer("changes", places)).trim().split("\n").slice(0, -1);
    const steps = { directory: 0, file: 1, link: 2 };
    const operations = changes
      .map((line) => JSON.parse(line) as { path: string; kind: string; type: keyof typeof steps })
      .sort(
        (one, other) =>
          Number(one.kind === "removed") - Number(other.kind === "removed") ||
          steps[one.type] - steps[other.type],
      );
    const sent = operations.filter(({ type, kind }) => type === "file" && kind !== "removed");
    const contents = await answer("contents", { ...places, paths: sent.map(({ path }) => path) });
    const apply = (): ChildProcessWithoutNullStreams =>
      start("apply", { ...directory, known, operations, check: false });
    const writer = apply();
    const closed = once(writer, "close");
    // It is killed when it says that it has written this many. Every second time it has only a part of the next file to read.
    const count = Math.floor((sent.length * round) / rounds);
    const given = round % 2 === 0 ? contents.length : Math.floor((contents.length * round) / rounds);
    let output = "";
    writer.stdout.setEncoding("latin1").on("data", (piece: string) => {
      output += piece;
      if (applied(output) >= count) writer.kill("SIGKILL");
    });
    writer.stdin.write(contents.slice(0, given), "latin1");
    await closed;
    const lines = output.split("\n").slice(0, -1);
    const told = lines.map((line) => JSON.parse(line) as { record?: string; path?: string });
    moments.add(told.length);
    for (const path of paths)
      expect([round, path, [before(path), after(path)]]).toEqual([
        round,
        path,
        expect.arrayContaining([stateOf(join(host, path))]),
      ]);
    known += told.map(({ record = "" }) => record).join("");
    const again = apply();
    again.stdin.end(contents, "latin1");
    const outcomes = (await text(again.stdout.setEncoding("latin1")))
      .split("\n")
      .filter((line) => line.includes('"status"'));
    expect(outcomes.filter((line) => !line.includes('"applied"'))).toEqual([]);
    expect(Object.fromEntries(paths.map((path) => [path, stateOf(join(host, path))]))).toEqual(
      Object.fromEntries(paths.map((path) => [path, after(path)])),
    );
    const left = readdirSync(host, { recursive: true, encoding: "utf8" });
    expect(left.filter((name) => name.includes(".cloud-sandbox-"))).toEqual([]);
  }
  expect(moments.size).toBeGreaterThan(5);
}, 300_000);
