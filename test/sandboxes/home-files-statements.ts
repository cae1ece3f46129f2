import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LocalServer } from "../support/local-server.js";

export const homeFiles: Readonly<Record<string, string>> = {
  ".npmrc": "registry=http://mirror.test/npm/\n",
  ".config/pip/pip.conf": "[global]\nindex-url = http://mirror.test/simple/\n",
  ".config/go/env": "GOPROXY=http://mirror.test/go\n",
  ".m2/settings.xml":
    "<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>http://mirror.test/maven</url></mirror></mirrors></settings>\n",
};
const texts = Object.values(homeFiles).join("");
const show = `cd ~ && cat ${Object.keys(homeFiles).join(" ")}`;

/** A directory for `--home-files`, which only its owner can read. */
export async function homeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "home-files-"));
  for (const [name, content] of Object.entries(homeFiles)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, content);
    await chmod(path, 0o600);
  }
  return directory;
}

/** What every runtime keeps: each home directory begins with the files of `--home-files`, which are its own. */
export function homeFilesStatements(start: (args: readonly string[]) => Promise<LocalServer>): void {
  let directory: string;
  let server: LocalServer;
  let client: SandboxClient;
  beforeAll(async () => {
    directory = await homeDirectory();
    server = await start(["--pool", "0", "--home-files", directory]);
    client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  });
  afterAll(async () => {
    await client?.close();
    await server?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });
  const say = async (sandbox: Sandbox, command: string): Promise<string> => {
    const { stdout, stderr } = await sandbox.commands.run(command);
    return stdout + stderr;
  };

  test("a sandbox begins with the files, also without internet access", async () => {
    await using sandbox = await client.sandboxes.create({ internetAccess: false });
    expect(await say(sandbox, show)).toBe(texts);
  });

  test("a program without a sandbox has them too", async () => {
    expect((await client.executeIsolated(show, { language: "bash" })).stdout).toBe(texts);
    const python = "import pathlib; print((pathlib.Path.home() / '.npmrc').read_text(), end='')";
    expect((await client.executeIsolated(python)).stdout).toBe(homeFiles[".npmrc"]);
  });

  test("what a sandbox changes of them stays its own, also after it was stopped", async ({ skip }) => {
    await using changed = await client.sandboxes.create();
    expect(
      await say(changed, "cd ~ && echo mine > .npmrc && rm -r .m2 .config && echo is a file > .m2"),
    ).toBe("");
    const stopped = await changed.stop().catch((error: Error) => error.message);
    skip(/cannot be stopped|keeps no files/.test(String(stopped)), "this runtime stops no sandbox");
    await changed.start();
    expect(await say(changed, "cd ~ && cat .npmrc .m2; ls -d .config 2>&1")).toMatch(
      /^mine\nis a file\n.*\.config'?: No such file/,
    );
    await using other = await client.sandboxes.create();
    expect(await say(other, show)).toBe(texts);
  });
}
