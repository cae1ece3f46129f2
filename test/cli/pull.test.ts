import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import { type AddressInfo, createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";
import { type Ended, runBuilt } from "../support/built-program.js";
import { type CommandLine, startCommandLine } from "../support/command-line.js";

const run = promisify(execFile);
const missing = ["skopeo", "docker-registry"].find((name) => !existsSync(`/usr/bin/${name}`));

if (missing !== undefined)
  test("images from a registry", ({ skip }) =>
    skip(`${missing} is not installed ("apt-get install ${missing}")`));
else
  describe("cloud-sandbox template import docker://", () => {
    let directory: string;
    let line: CommandLine;
    let registry: ReturnType<typeof spawn>;
    let door: Server;
    let address: string;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "registry-"));
      line = await startCommandLine();
      const port = await freePort();
      const storage = { filesystem: { rootdirectory: join(directory, "storage") } };
      const config = { version: "0.1", storage, http: { addr: `127.0.0.1:${port}` } };
      await writeFile(join(directory, "config.yml"), JSON.stringify(config));
      registry = spawn("docker-registry", ["serve", join(directory, "config.yml")], { stdio: "ignore" });
      const image = { layers: [tarOf([{ path: "greeting", text: "hello" }])], config: { Cmd: ["sh"] } };
      await writeFile(join(directory, "image.tar"), savedImage(image));
      const answers = (): Promise<boolean> =>
        fetch(`http://127.0.0.1:${port}/v2/`).then(
          ({ ok }) => ok,
          () => false,
        );
      while (!(await answers())) await sleep(50);
      const push = [
        "copy",
        "--quiet",
        "--dest-tls-verify=false",
        `docker-archive:${join(directory, "image.tar")}`,
      ];
      await run("skopeo", [...push, `docker://127.0.0.1:${port}/team/made:1`]);
      // A registry whose images are private.
      door = createServer((incoming, outgoing) => {
        if (incoming.headers.authorization !== `Basic ${Buffer.from("ann:secret-1").toString("base64")}`) {
          outgoing.writeHead(401, { "www-authenticate": 'Basic realm="registry"' }).end();
          return;
        }
        const { method, url: path, headers } = incoming;
        const call = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(outgoing);
        });
        incoming.pipe(call);
      });
      await once(door.listen(0, "127.0.0.1"), "listening");
      address = `127.0.0.1:${(door.address() as AddressInfo).port}`;
    });

    afterAll(async () => {
      door?.close();
      door?.closeAllConnections();
      if (registry) {
        registry.kill();
        await once(registry, "exit");
      }
      await line?.stop();
      await rm(directory, { recursive: true, force: true });
    });

    const imported = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> =>
      runBuilt("cli", ["template", "import", ...args], { env: { ...line.env, ...env } });

    test("downloads an image with the credentials of docker login", async () => {
      const image = `docker://${address}/team/made:1`;
      const refused = await imported([image], { HOME: directory });
      expect(refused).toMatchObject({ code: 125, stdout: "" });
      expect(refused.stderr).toMatch(
        /^cloud-sandbox: skopeo could not download .*team\/made:1: .*(unauthorized|authentication).*docker login.*\n$/,
      );

      const home = join(directory, "home");
      await mkdir(join(home, ".docker"), { recursive: true });
      const auths = { [address]: { auth: Buffer.from("ann:secret-1").toString("base64") } };
      await writeFile(join(home, ".docker", "config.json"), JSON.stringify({ auths }));
      const env = { HOME: home };
      expect(await imported([image, "--name", "made:1"], env)).toMatchObject({
        ...{ code: 0, stdout: "Template made:1 is active.\n" },
        stderr: expect.not.stringContaining("secret-1"),
      });
      const id = (await line.output("sandbox", "create", "-q", "--image", "made:1")).trim();
      expect(await line.json("sandbox", "get", id)).toMatchObject({ template: "made:1" });
      const unknown = await imported([`docker://${address}/team/other:1`], env);
      expect(unknown).toMatchObject({ code: 125, stderr: expect.stringMatching(/team\/other:1: .*unknown/) });
    });

    test("says what to install where there is no skopeo", async () => {
      const { code, stderr } = await imported(["docker://made:1"], { PATH: "/nowhere" });
      expect(code).toBe(125);
      expect(stderr).toMatch(/skopeo, which is not installed. .*apt-get install skopeo.*docker save made:1/);
    });
  });

async function freePort(): Promise<number> {
  const server = createSocket().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
