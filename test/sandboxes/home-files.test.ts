import { rm } from "node:fs/promises";
import { SandboxClient, Template } from "cloud-sandbox";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { cannotStartAs, startLocalServer } from "../support/local-server.js";
import { needs } from "../support/needs.js";
import { homeDirectory, homeFiles, homeFilesStatements } from "./home-files-statements.js";

describe("on a server that root started,", { tags: ["root"] }, () => {
  homeFilesStatements((args) => startLocalServer({ args }));
});

let mirrored: SandboxClient;
beforeAll(async () => {
  const directory = await homeDirectory();
  const server = await startLocalServer({ args: ["--pool", "0", "--home-files", directory] });
  mirrored = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  return async () => {
    await mirrored.close();
    await server.stop();
    await rm(directory, { recursive: true });
  };
});

test.for([
  ["pip", "pip3 config get global.index-url", "http://mirror.test/simple/\n"],
  ["npm", "npm config get registry", "http://mirror.test/npm/\n"],
  ["Go", "go env GOPROXY", "http://mirror.test/go\n"],
  [
    "Maven",
    "mvn --batch-mode help:help | grep -o 'm (http://mirror.test/maven' | head -n 1",
    "m (http://mirror.test/maven\n",
  ],
] as const)("%s takes packages from where the files say", async ([name, command, said], { skip }) => {
  skip(...needs("python3-pip", name === "pip"));
  const [program] = command.split(" ");
  const { stdout, stderr } = await mirrored.executeIsolated(
    `command -v ${program} >/dev/null || { echo none; exit; }; ${command}`,
    { language: "bash", timeoutSeconds: 60 },
  );
  skip(stdout === "none\n", `${program} is not in sandboxes here`);
  expect(stdout, stderr).toBe(said);
});

test("a build has the files, and sandboxes of its template have them as it left them", async () => {
  const directory = await homeDirectory();
  const server = await startLocalServer({
    args: ["--pool", "0"],
    env: { CLOUD_SANDBOX_HOME_FILES: directory },
  });
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  const definition = Template.from("base").run("grep mirror.test ~/.npmrc && echo built > ~/.npmrc");
  await client.templates.build(definition, { name: "with-home" });
  await using sandbox = await client.sandboxes.create({ template: "with-home" });
  const { stdout } = await sandbox.commands.run("cat ~/.npmrc ~/.config/pip/pip.conf");
  expect(stdout).toBe(`built\n${homeFiles[".config/pip/pip.conf"]}`);
});

describe.runIf(cannotStartAs("an ordinary user") === undefined)("on a server of an ordinary user,", () => {
  test("a sandbox begins with the files too", async () => {
    // A directory that every user can read, unlike this process's own.
    const server = await startLocalServer({
      who: "an ordinary user",
      args: ["--pool", "0", "--home-files", "/etc/python3"],
    });
    onTestFinished(() => void server.stop());
    await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
    await using sandbox = await client.sandboxes.create();
    const { stdout } = await sandbox.commands.run("ls ~");
    expect(stdout).toContain("debian_config");
  });
});

test("serve refuses --home-files that are not there, and names the option", async () => {
  const { code, stderr } = await runBuilt("local", ["serve", "--home-files", "/no-such-directory"]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^cloud-sandbox-local: Sandboxes cannot get the files of "\/no-such-directory": \/no-such-directory does not exist\. Give --home-files or /,
    ),
  });
});
