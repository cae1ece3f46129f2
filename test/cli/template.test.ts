import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";
import { type CommandLine, startCommandLine } from "../support/command-line.js";

let line: CommandLine;
let data: string;
const main = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
const here = (path: string): string => join(line.directory, path);

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "template-data-"));
  line = await startCommandLine(["--data-dir", data]);
  await mkdir(here("app"));
  await writeFile(here("app/greeting"), "hello");
});
afterAll(async () => {
  await line?.stop();
  await rm(data, { recursive: true, force: true });
});

describe("cloud-sandbox template", () => {
  test("builds a template of a Dockerfile, shows its log, and deletes it", { timeout: 60_000 }, async () => {
    const dockerfile = [
      "FROM base",
      "LABEL maintainer=nobody",
      'ENV MODE=fast WHAT="a b"',
      "# What the program reads",
      "COPY app /workspace/app",
      "RUN echo begun && \\",
      '    echo "$WHAT" > /workspace/what',
      'RUN ["sh", "-c", "echo a b > \'/workspace/c d\'"]',
    ];
    await writeFile(here("Dockerfile"), `${dockerfile.join("\n")}\n`);
    const build = ["template", "build", "mine", "--file", here("Dockerfile"), "--context", line.directory];
    const log = await line.output(...build);
    expect(log).toMatch(/^begun$(.|\n)*^Template mine is active\.$/m);
    expect(log.match(/is active/g)).toHaveLength(1);
    const id = (await line.output("sandbox", "create", "-q", "--template", "mine")).trim();
    const made = await line.output("sandbox", "exec", id, 'echo $MODE; cat app/greeting what "c d"');
    expect(made).toBe("fast\nhelloa b\na b\n");

    const again = await line.run(build);
    expect(again).toMatchObject({ code: 125, stderr: expect.stringContaining("--update") });
    const events = (await line.output(...build, "--update", "--json")).trim().split("\n");
    expect(events.map((event) => JSON.parse(event).type)).toEqual(
      expect.arrayContaining(["log", "progress"]),
    );
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "result", template: { name: "mine" } });

    expect(await line.output("template", "list", "-q")).toContain("mine\n");
    expect(await line.json("template", "get", "mine")).toMatchObject({ name: "mine", status: "active" });
    expect(await line.output("template", "delete", "mine")).toBe("mine is deleted.\n");
    expect((await line.run(["template", "delete", "mine"])).code).toBe(125);
  });

  test("says once which step of a build has failed", async () => {
    await writeFile(here("Failing"), "FROM base\nRUN exit 3\n");
    const { code, stderr, stdout } = await line.run(["template", "build", "failing", "-f", here("Failing")]);
    expect({ code, stdout }).toEqual({ code: 125, stdout: "Step 1/1: RUN exit 3\n" });
    expect(stderr).toMatch(/^cloud-sandbox: Step 1\/1: RUN exit 3 failed: exit code 3\. .*\n$/);
  });

  test("leaves no template if it is interrupted while the server starts the build", async () => {
    await writeFile(here("Long"), "FROM base\nRUN sleep 60\n");
    await using relay = await startRelay(line.env.CLOUD_SANDBOX_BASE_URL ?? "", (path) => {
      if (path === "/v1/templates/build") child.kill("SIGINT");
    });
    const child = spawn(process.execPath, [main, "template", "build", "interrupted", "-f", here("Long")], {
      env: { PATH: process.env.PATH, ...line.env, CLOUD_SANDBOX_BASE_URL: relay.url },
      stdio: "ignore",
    });
    expect(await once(child, "exit")).toEqual([130, null]);
    expect(relay.paths).toContain("/v1/templates/build");
    await expect(line.client.templates.get("interrupted")).rejects.toMatchObject({ status: 404 });
  });

  test("imports a container image, and says what a name that is taken needs", async () => {
    await writeFile(here("image.tar"), savedImage({ layers: [tarOf([])], config: { Cmd: ["sh"] } }));
    const imported = await line.run(["template", "import", here("image.tar"), "--name", "imported"]);
    expect(imported).toMatchObject({ code: 0, stdout: "Template imported is active.\n" });
    expect(imported.stderr).toContain("command are not started");
    const again = await line.run(["template", "import", here("image.tar"), "--name", "imported"]);
    expect(again).toMatchObject({ code: 125, stderr: expect.stringMatching(/exists already.*--update/s) });
    expect(await line.json("template", "import", here("image.tar"))).toMatchObject({ name: "made:1" });
    const id = (await line.output("sandbox", "create", "-q", "--image", "made:1")).trim();
    expect(await line.json("sandbox", "get", id)).toMatchObject({ template: "made:1" });
    const none = await line.run(["template", "import", "-", "--name", "none"], "no image");
    expect(none).toMatchObject({ code: 125, stderr: expect.stringContaining("not a tar") });
  });

  test("leaves nothing of an import that is interrupted, neither while it is sent nor while it is unpacked", async () => {
    const layers = async (): Promise<string[]> => readdir(join(data, "layers")).catch(() => []);
    const before = await layers();
    const files = Array.from({ length: 5000 }, (_, index) => ({ path: `many/${index}`, text: "x" }));
    const image = savedImage({ layers: [tarOf(files)], config: { Cmd: ["sh"] } });
    for (const part of [image.subarray(0, image.length / 2), image]) {
      const child = spawn(process.execPath, [main, "template", "import", "-", "--name", "broken-off"], {
        env: { PATH: process.env.PATH, ...line.env },
        stdio: ["pipe", "ignore", "ignore"],
      });
      child.stdin.on("error", () => undefined);
      child.stdin.write(part);
      if (part === image) child.stdin.end();
      await expect.poll(layers, { interval: 5 }).toHaveLength(before.length + 1);
      const [made = ""] = (await layers()).filter((name) => !before.includes(name));
      const unpacked = () => readdir(join(data, "layers", made, "root/many")).catch(() => []);
      if (part === image) await expect.poll(unpacked, { interval: 5 }).not.toEqual([]);
      child.kill("SIGINT");
      expect(await once(child, "exit")).toEqual([130, null]);
      await expect.poll(layers).toEqual(before);
      await expect(line.client.templates.get("broken-off")).rejects.toMatchObject({ status: 404 });
    }
  });

  test.each([
    ["template.mjs", ""],
    ["template.ts", ": Template"],
  ])(
    "builds what %s exports, without anything installed beside it",
    { timeout: 60_000 },
    async (name, type) => {
      const code = `import { Template } from "cloud-sandbox";
const made${type} = Template.from("base").run("echo made by ${name}");
export default made;
`;
      await writeFile(here(name), code);
      const built = await line.output("template", "build", name.replace(".", "-"), "-f", here(name));
      expect(built).toContain(`made by ${name}\n`);
    },
  );

  test.each([
    ["that is not there", undefined, /nope does not exist.*--file/],
    ["without FROM", "RUN ls", /line 1: RUN comes before FROM/],
    ["with an instruction that templates lack", "FROM base\nVOLUME /x", /line 2: VOLUME is not supported/],
    ["with two stages", "FROM base\nFROM base", /line 2: .*one stage/],
    ["with an option that templates lack", "FROM base\nRUN --mount=type=cache,target=/x ls", /--mount/],
    ["with a step that fails", "FROM base\nRUN echo told && exit 3", /exit code 3/],
    ["from an image that is not had", "FROM nope:9", /nope:9/],
  ])("says in one line what is wrong with a definition %s", async (_, text, hint) => {
    const file = here(text === undefined ? "nope" : "Wrong");
    if (text !== undefined) await writeFile(file, text);
    const { code, stderr } = await line.run(["template", "build", "wrong", "-f", file]);
    expect({ code, lines: stderr.trim().split("\n").length }).toEqual({ code: 125, lines: 1 });
    expect(stderr).toMatch(hint);
  });

  test.each([
    ["exports none", "export default 1", /does not export a Template/],
    ["fails", "throw new Error('its own')", /its own/],
    ["is not there", undefined, /does not exist/],
  ])("says what is wrong with a module that %s", async (name, text, hint) => {
    const file = here(`${name.replaceAll(" ", "-")}.mjs`);
    if (text !== undefined) await writeFile(file, text);
    expect(await line.run(["template", "build", "wrong", "-f", file])).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(hint),
    });
  });
});

/** A server that passes requests on to another one, and calls `before` with the path of each. */
async function startRelay(to: string, before: (path: string) => void) {
  const paths: string[] = [];
  const server = createServer(async (request, response) => {
    const { headers, method = "GET", url = "/" } = request;
    paths.push(url);
    before(url);
    const body = method === "POST" ? await buffer(request) : null;
    const { "x-api-key": key, "content-type": type } = headers;
    const sent = { "x-api-key": String(key), ...(type !== undefined && { "content-type": type }) };
    const answer = await fetch(to + url, { method, headers: sent, body });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
