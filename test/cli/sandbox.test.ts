import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { on, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runBuilt } from "../support/built-program.js";
import { type CommandLine, startCommandLine } from "../support/command-line.js";
import { root } from "../support/documents/code-blocks.js";
import { processCount } from "../support/process-count.js";

const main = join(root, "packages/cli/dist/main.js");
let line: CommandLine;
let id: string;

beforeAll(async () => {
  line = await startCommandLine();
  id = (await line.output("sandbox", "create", "-q", "--name", "mine", "--label", "job=nightly")).trim();
});
afterAll(() => line?.stop());

describe("cloud-sandbox sandbox", () => {
  test("lists and shows sandboxes, for people and for programs", async () => {
    expect(await line.output("sandbox", "list")).toMatch(
      new RegExp(`^ID +STATUS +TEMPLATE +NAME +ENDS\n${id} +running +code-interpreter +mine +in \\d+ min\n$`),
    );
    expect(await line.output("sandbox", "list", "-q", "--label", "job=nightly")).toBe(`${id}\n`);
    expect(await line.json("sandbox", "list", "--name", "another")).toEqual([]);
    expect(await line.json("sandbox", "get", id)).toMatchObject({ id, status: "running", name: "mine" });
    expect(await line.output("sandbox", "get", id)).toContain("labels     job=nightly\n");
  });

  test("takes a name in place of an id", async () => {
    expect(await line.output("sandbox", "exec", "mine", "echo here > note")).toBe("");
    expect(await line.output("cat", "mine:note")).toBe("here\n");
    expect(await line.json("sandbox", "get", "mine")).toMatchObject({ id });
    expect(await line.json("egress", "mine")).toEqual([]);
    const taken = await line.run(["sandbox", "create", "--name", "mine"]);
    expect(taken).toMatchObject({
      code: 125,
      stderr: expect.stringContaining('"cloud-sandbox sandbox get mine"'),
    });
    expect(await line.json("sandbox", "pause", "mine")).toEqual({ id, status: "paused" });
    expect(await line.json("sandbox", "resume", "mine")).toEqual({ id, status: "running" });
  });

  test("changes labels and when a sandbox sleeps, and starts one that does by using it", async () => {
    const sleeping = ["--idle-timeout", "1h", "--on-timeout", "stop", "--auto-start"];
    const made = (await line.output("sandbox", "create", "-q", ...sleeping)).trim();
    const changed = await line.json("sandbox", "update", made, "--idle-timeout", "0", "--label", "a=1");
    expect(changed).toMatchObject({ metadata: { a: "1" }, onTimeout: "stop", autoStart: true });
    expect(changed).not.toHaveProperty("idleTimeoutSeconds");
    await line.output("sandbox", "exec", made, "echo kept > note");
    await line.output("sandbox", "stop", made);
    expect(await line.output("sandbox", "get", made)).toMatch(/^reason +requested$/m);
    expect(await line.output("cat", `${made}:note`)).toBe("kept\n");
    expect(await line.run(["sandbox", "update", made])).toMatchObject({ code: 125 });
    expect(await line.json("sandbox", "update", made, "--no-auto-start")).toMatchObject({ autoStart: false });
    await line.output("sandbox", "delete", made);
  });

  test("says which sandboxes have a name, at a server that lets several have it", async () => {
    const data = ["one", "two"].map((each) => ({ id: each, status: "running", name: "twin" }));
    const server = createServer(({ url }, response) => {
      const isList = url?.startsWith("/v1/sandboxes?") === true;
      response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
      response.end(
        JSON.stringify(isList ? { data } : { code: "SANDBOX_NOT_FOUND", message: "No such sandbox." }),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const ended = await runBuilt("cli", ["sandbox", "delete", "twin"], {
      env: { ...line.env, CLOUD_SANDBOX_BASE_URL: `http://127.0.0.1:${port}` },
    });
    server.close();
    const stderr = 'cloud-sandbox: 2 sandboxes have the name "twin": one, two. Give the id of one of them.\n';
    expect(ended).toEqual({ code: 125, stdout: "", stderr });
  });

  test("creates sandboxes with limits, labels, variables and a lifetime, and deletes them", async () => {
    const wanted = ["--memory", "256", "--cpu", "0.5", "--internet", "off", "-e", "A=1", "--timeout", "15m"];
    const made = (await line.json("sandbox", "create", ...wanted)) as { id: string };
    expect(made).toMatchObject({
      internetAccess: false,
      resources: { memoryMb: 256, vcpu: 0.5 },
      timeoutSeconds: 900,
    });
    expect(await line.json("env", "list", made.id)).toEqual({ A: "1" });
    expect(await line.json("sandbox", "delete", made.id)).toEqual({ id: made.id, status: "deleted" });
  });

  test("deletes the other sandboxes when one that is named does not exist", async () => {
    const made = (await line.json("sandbox", "create")) as { id: string };
    const { code, stderr, stdout } = await line.run(["sandbox", "delete", "nope", made.id, "neither"]);
    expect({ code, stdout }).toEqual({ code: 125, stdout: `${made.id} is deleted.\n` });
    expect(stderr.match(/Sandbox "\w+" not found/g)).toEqual([
      'Sandbox "nope" not found',
      'Sandbox "neither" not found',
    ]);
  });

  test("pauses, resumes, stops and starts sandboxes, and moves their deadline", async () => {
    for (const [turn, status] of [
      ["pause", "paused"],
      ["resume", "running"],
      ["stop", "stopped"],
      ["start", "running"],
    ] as const)
      expect(await line.json("sandbox", turn, id)).toEqual({ id, status });
    expect(await line.output("sandbox", "timeout", id, "2h")).toMatch(`${id} ends at `);
  });

  test("runs commands: a line, a program with arguments, with input, in the background", async () => {
    expect(await line.run(["sandbox", "exec", id, "echo out; echo err >&2; exit 7"])).toEqual({
      code: 7,
      stdout: "out\n",
      stderr: "err\n",
    });
    expect(await line.output("sandbox", "exec", id, "printf", "%s,", "$HOME", "-l")).toBe("$HOME,-l,");
    const sorted = await line.run(["sandbox", "exec", "-i", id, "--", "sort", "-n"], "3\n1\n2\n");
    expect(sorted).toEqual({ code: 0, stdout: "1\n2\n3\n", stderr: "" });
    const job = (await line.output("sandbox", "exec", "-q", "-d", id, "echo later")).trim();
    expect(await line.output("sandbox", "logs", "-f", id, job)).toBe("later\n");
    expect(await line.output("sandbox", "logs", id)).toMatch(new RegExp(`^${job} .* echo later$`, "m"));
  });

  test.each([
    ["is not there", ["no-such-program", "x"], 127, /^no-such-program: command not found$/m],
    ["is not there, as a path", ["./no-such", "x"], 127, /no-such: command not found/],
    ["is no program", ["/etc/passwd", "x"], 126, /^\/etc\/passwd: cannot be executed$/m],
    ["is a directory", ["/workspace", "x"], 126, /^\/workspace: cannot be executed$/m],
    ["is a line for the shell", ["/etc/passwd"], 126, /Permission denied/i],
  ])("ends as a shell does with a program that %s", async (_, words, code, said) => {
    const ended = await line.run(["sandbox", "exec", id, "--", ...words]);
    expect(ended).toEqual({ code, stdout: "", stderr: expect.stringMatching(said) });
    const [, last] = (await line.run(["sandbox", "exec", "--json", id, "--", ...words])).stdout
      .trim()
      .split("\n");
    expect(JSON.parse(last ?? "")).toMatchObject({ type: "result", exitCode: code, success: false });
  });

  test("passes bytes on as they are: of both streams, of input, and of a background process", async () => {
    const bytes = randomBytes(300_000);
    const copied = ["sandbox", "exec", "-i", id, "tee /dev/stderr"];
    expect(await line.bytes(copied, bytes)).toEqual({ code: 0, stdout: bytes, stderr: bytes });
    await line.client.sandboxes.connect(id).then(({ files }) => files.write("bytes", bytes));
    const job = (await line.output("sandbox", "exec", "-q", "-d", id, "cat bytes; cat bytes >&2")).trim();
    for (const follow of [["-f"], []]) {
      const logs = await line.bytes(["sandbox", "logs", ...follow, id, job]);
      expect(logs).toEqual({ code: 0, stdout: bytes, stderr: bytes });
    }
    const { stdout } = await line.run(["sandbox", "exec", "--json", id, "printf 'a\\377b'"]);
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toEqual({
      type: "stdout",
      text: "a\ufffdb",
      base64: "Yf9i",
    });
  });

  test("loses nothing of a long output, and fails where that cannot be", { timeout: 120_000 }, async () => {
    const size = 90_000_000;
    const written = `head -c ${size} /dev/zero | tr '\\0' a`;
    const ended = await line.bytes(["sandbox", "exec", "-t", "100", id, written]);
    expect(ended.code).toBe(0);
    expect(ended.stdout.equals(Buffer.alloc(size, "a"))).toBe(true);
    const job = (await line.output("sandbox", "exec", "-q", "-d", id, written)).trim();
    await line.client.sandboxes.connect(id).then(({ processes }) => processes.get(job).wait());
    const logs = await line.bytes(["sandbox", "logs", id, job]);
    expect(logs.code).toBe(125);
    expect(logs.stderr.toString()).toMatch(/bytes of stdout were left out here\.\n.*lost.*cloud-sandbox cp/);
  });

  test("ends a command when it is interrupted, with what the command has printed", async () => {
    const child = spawn(process.execPath, [main, "sandbox", "exec", id, "echo begun; exec sleep 4321"], {
      env: { PATH: process.env.PATH, ...line.env },
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(await once(child.stdout.setEncoding("utf8"), "data")).toEqual(["begun\n"]);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    const sandbox = await line.client.sandboxes.get(id);
    await expect
      .poll(async () => (await sandbox.commands.run(processCount("sleep 4321"))).stdout)
      .toBe("0\n");
  });

  test("prints the metrics of a sandbox, and the URL of a port", async () => {
    expect(await line.output("sandbox", "metrics", id)).toMatch(/^memory +\d+ of 1024 MiB$/m);
    const sandbox = await line.client.sandboxes.get(id);
    await sandbox.commands.runBackground("python3 -m http.server 8000");
    const url = await line.output("sandbox", "port", id, "8000", "--path", "--wait", "30");
    expect((await fetch(url.trim())).status).toBe(200);
  });

  test("forwards ports of this machine until it is interrupted", async () => {
    const sandbox = await line.client.sandboxes.get(id);
    await sandbox.commands.runBackground("python3 -m http.server 8001");
    await sandbox.ports.waitForPort(8001);
    const child = spawn(process.execPath, [main, "sandbox", "forward", "--json", id, "0:8001", "0:4444"], {
      env: { PATH: process.env.PATH, ...line.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const told = on(createInterface(child.stdout), "line");
    const localPorts: number[] = [];
    for (const port of [8001, 4444]) {
      const forwarded = JSON.parse((await told.next()).value[0]);
      expect(forwarded).toEqual({ id, port, localHost: "127.0.0.1", localPort: expect.any(Number) });
      localPorts.push(forwarded.localPort);
    }
    expect((await fetch(`http://127.0.0.1:${localPorts[0]}/`)).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${localPorts[1]}/`)).rejects.toThrow();
    const [said] = await once(child.stderr.setEncoding("utf8"), "data");
    expect(said).toContain("Nothing listens on port 4444");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
  });

  test("ends when a forwarded port's sandbox has ended", async () => {
    const other = await line.client.sandboxes.create({ template: "base" });
    const child = spawn(process.execPath, [main, "sandbox", "forward", other.id, "0:8001"], {
      env: { PATH: process.env.PATH, ...line.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [told] = await once(child.stdout.setEncoding("utf8"), "data");
    const [, address] = /^(127\.0\.0\.1:\d+) leads to port 8001 of /.exec(told) ?? [];
    await other.delete();
    await expect(fetch(`http://${address}/`)).rejects.toThrow();
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect([code, said]).toEqual([125, expect.stringContaining("sandbox list")]);
  });

  test("follows the log of connections that code opens", { tags: ["curl"] }, async () => {
    const child = spawn(process.execPath, [main, "egress", "-f", "--json", id], {
      env: { PATH: process.env.PATH, ...line.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const told = once(child.stdout.setEncoding("utf8"), "data");
    const sandbox = await line.client.sandboxes.get(id);
    await sandbox.commands.run("curl -s http://10.1.2.3:81/");
    expect(JSON.parse((await told)[0])).toMatchObject({ host: "10.1.2.3", port: 81, decision: "refused" });
    child.kill("SIGINT");
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
    expect(await line.output("egress", id)).toMatch(/refused +10\.1\.2\.3:81/);
  });

  test("sets variables, also from its own environment, and lists deliveries", async () => {
    await line.output("env", "set", id, "MODE=fast", "XDG_CONFIG_HOME");
    expect(await line.json("env", "list", id)).toEqual({ MODE: "fast", XDG_CONFIG_HOME: line.directory });
    await line.output("env", "unset", id, "MODE", "XDG_CONFIG_HOME");
    expect(await line.run(["env", "list", id])).toEqual({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("no variables"),
    });
    expect(await line.json("webhooks", "list", "--sandbox", id)).toEqual([]);
  });
});

describe("one line says what is wrong, for", () => {
  const cases: [string, (known: string) => string[], RegExp][] = [
    ["an unknown command", () => ["sandbx", "list"], /Did you mean sandbox\?/],
    ["an unknown option", () => ["sandbox", "list", "--jsn"], /Did you mean --json\?/],
    ["a command of another group", () => ["exec", "ls"], /Did you mean "cloud-sandbox sandbox exec"\?/],
    ["a command as docker names it", () => ["sandbox", "ps"], /Did you mean "cloud-sandbox sandbox list"\?/],
    ["a command like no other", () => ["sandbox", "wxyz"], /"cloud-sandbox sandbox --help" lists/],
    [
      "an option like no other",
      () => ["sandbox", "list", "--wxyz"],
      /"cloud-sandbox sandbox list --help" lists/,
    ],
    [
      "an option before the command",
      () => ["sandbox", "-q", "list"],
      /after the command, as in "cloud-sandbox sandbox list -q"/,
    ],
    [
      "an option before all",
      () => ["--url", "http://127.0.0.1:1", "egress", "x"],
      /as in "cloud-sandbox egress --url"/,
    ],
    [
      "an option after the sandbox",
      (known) => ["sandbox", "exec", known, "-w", "/tmp", "pwd"],
      /^cloud-sandbox: -w is no command\. Give options before the sandbox's id\.$/m,
    ],
    ["no argument", () => ["sandbox", "exec"], /Usage: cloud-sandbox sandbox exec .*<id> <command\.\.\.>/],
    ["text in place of a file", () => ["run", "print(1)"], /--code/],
    ["an unknown sandbox", () => ["sandbox", "get", "nope"], /"cloud-sandbox sandbox list"/],
    ["a delete of an unknown one", () => ["sandbox", "delete", "nope"], /not found/],
    ["no sandbox to delete", () => ["sandbox", "delete"], /--all/],
    ["no port to forward", () => ["sandbox", "forward", "mine", "http"], /must be PORT or LOCAL:PORT/],
    [
      "an address that is not of this machine",
      (known) => ["sandbox", "forward", known, "0:80", "--address", "192.0.2.1"],
      /Cannot listen on 192\.0\.2\.1: .*--address/,
    ],
    ["connections of an unknown one", () => ["egress", "nope"], /"cloud-sandbox sandbox list"/],
    ["an unknown delivery", () => ["webhooks", "get", "nope"], /"cloud-sandbox webhooks list"/],
    [
      "an unknown template",
      () => ["sandbox", "create", "--template", "nope"],
      /"cloud-sandbox template list"/,
    ],
    [
      "an unknown process",
      (known) => ["sandbox", "logs", known, "nope"],
      /no background execution nope\. "cloud-sandbox sandbox logs" [^.]*\.$/m,
    ],
    [
      "a delete of the server's own",
      () => ["template", "delete", "base"],
      /deleted\. Build a template with another name\.$/m,
    ],
    ["a label without a name", () => ["sandbox", "create", "--label", "=x"], /NAME=value/],
    ["a variable without a value", (known) => ["env", "set", known, "NO_SUCH"], /NAME=value/],
    ["a time that is none", (known) => ["sandbox", "timeout", known, "2x"], /15m/],
    ["a port that is none", (known) => ["sandbox", "port", known, "0"], /1 to 65535/],
    ["too long a command", (known) => ["sandbox", "exec", "-t", "301", known, "ls"], /--detach/],
    ["a shell without a terminal", (known) => ["sandbox", "shell", known], /sandbox exec/],
    [
      "an isolation that is not had",
      () => ["sandbox", "create", "--min-isolation", "microvm"],
      /--min-isolation/,
    ],
  ];
  test.each(cases)("%s", async (_, args, hint) => {
    const words = args(id);
    const [{ code, stderr, stdout }, asJson] = await Promise.all([
      line.run(words),
      line.run(words.toSpliced(words[0] === "sandbox" ? 2 : 1, 0, "--json")),
    ]);
    expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
    expect(stderr).toMatch(hint);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(asJson.code).toBe(125);
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
    });
  });

  test("a sandbox that would end with the command", async () => {
    const env = { XDG_CONFIG_HOME: line.directory };
    const { code, stderr } = await runBuilt("cli", ["sandbox", "create"], { env });
    expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringContaining('"cloud-sandbox serve"') });
  });
});

test("a table of sandboxes fits the terminal, however narrow", async () => {
  for (const columns of [20, 50]) {
    const command = `stty cols ${columns}; ${process.execPath} ${main} sandbox list`;
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      env: { PATH: process.env.PATH, TERM: "xterm", NO_COLOR: "1", ...line.env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = (await text(child.stdout)).trimEnd().split("\r\n");
    // An id is of no use in part: it is longer than a line of the narrowest terminal.
    const cut = lines.filter((each) => each !== `ID: ${id}`);
    expect(Math.max(...cut.map((each) => each.length))).toBeLessThanOrEqual(columns);
    expect(lines.join("\n")).toContain(id);
    expect(lines.join("\n")).toMatch(
      columns === 20 ? /STATUS: running/ : /^\w+ +running +code-i\S*… .* in \d+ (min|h)$/m,
    );
  }
});
