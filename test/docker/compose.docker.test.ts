/** Runs the page's commands for Docker Compose, with images that are made here from this machine's packages. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Agent, fetch as undiciFetch } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importDebianImage } from "../support/docker/debian-image.js";
import { dockerEnvironment, withoutDocker } from "../support/docker/docker-server.js";
import { codeBlocks, root } from "../support/documents/code-blocks.js";

const run = promisify(execFile);

/** The packages of each image: those of the Dockerfile that machines have on which these tests run. */
const packages = {
  BASE_PACKAGES: "bash bsdutils curl procps python3 util-linux",
  CODE_PACKAGES: "make",
  SERVER_PACKAGES: "bubblewrap mount perl-base tini",
  PROXY_PACKAGES: "caddy",
};

/** Milliseconds. Files of hundreds of megabytes are packed, and removed at the end. */
const hookTimeout = 240_000;

const project = `cloud-sandbox-test-${process.pid}`;
const baseImage = `${project}-base`;
const label = `label=com.docker.compose.project=${project}`;

function obstacle(): string | undefined {
  if (spawnSync("docker", ["compose", "version"]).status !== 0)
    return "Docker Compose 2 is not installed (Debian 13 has it in the package docker-compose)";
  for (const name of ["caddy", "bwrap", "tini"])
    if (!existsSync(`/usr/bin/${name}`)) return `${name} is not installed ("apt-get install ${name}")`;
  return withoutDocker();
}

const [start = "", keys = "", certificate = ""] = codeBlocks()
  .filter(({ file, code }) => file === "docs/guides/self-hosting.md" && code.includes("docker compose"))
  .map(({ code }) => code);

const missing = obstacle();
if (missing !== undefined) test("the files for Docker Compose", ({ skip }) => skip(missing));
else {
  let checkout: string;
  let environment: Record<string, string>;
  let origin: string;
  let agent: Agent | undefined;

  beforeAll(async () => {
    checkout = await mkdtemp(join(tmpdir(), "compose-"));
    const { DOCKER_HOST = "" } = dockerEnvironment();
    const [http, https] = await freePorts();
    origin = `https://localhost:${https}`;
    environment = {
      ...{ PATH: process.env.PATH ?? "", HOME: checkout, DOCKER_HOST },
      ...{ COMPOSE_PROJECT_NAME: project, HTTP_PORT: String(http), HTTPS_PORT: String(https) },
    };
    const built = ["local", "mcp", "cli"].flatMap((name) =>
      ["dist", "package.json"].map((file) => `packages/${name}/${file}`),
    );
    for (const path of ["images", "deploy", "LICENSE", ...built]) {
      await mkdir(dirname(join(checkout, path)), { recursive: true });
      await cp(join(root, path), join(checkout, path), { recursive: true });
    }
    // There is no registry and no mirror, and so no need for a network.
    const build = { network: "none", args: { BASE_IMAGE: baseImage, ...packages } };
    const override = { services: { server: { build }, proxy: { build } } };
    await writeFile(join(checkout, "deploy/compose.override.yaml"), JSON.stringify(override));
    await importDebianImage(DOCKER_HOST, baseImage, Object.values(packages).join(" ").split(" "));
  }, hookTimeout);

  afterAll(async () => {
    // A client that a failed test has left open would hold up a close.
    await agent?.destroy();
    await inDeploy("docker compose down --volumes --timeout 30");
    const left = ["ps --all", "network ls", "volume ls"].map((list) =>
      inDeploy(`docker ${list} --quiet --filter ${label}`),
    );
    expect(await Promise.all(left)).toEqual(["", "", ""]);
    await inDeploy(`docker image rm --force cloud-sandbox cloud-sandbox-proxy ${baseImage}`);
    await rm(checkout, { recursive: true });
  }, hookTimeout);

  test("serve MCP over HTTPS to those who have a key, until it is revoked", {
    timeout: 240_000,
  }, async () => {
    await inShell(start, checkout);
    await expect.poll(healthyServices, { timeout: 120_000, interval: 500 }).toBe(3);
    agent = new Agent({ connect: { ca: await inDeploy(certificate) } });

    const [create = "", revoke = ""] = keys.split("\n");
    const key = (await inDeploy(create)).trim();
    const client = await connect(key);
    const code = "import os; print(6 * 7, os.path.exists('/var/lib/cloud-sandbox'))";
    const ran = await client.callTool({ name: "execute_code_isolated", arguments: { code } });
    expect(ran.structuredContent).toMatchObject({ stdout: "42 False\n" });
    const created = await client.callTool({ name: "create_sandbox", arguments: {} });
    const { id: sandbox_id } = created.structuredContent as { id: string };
    // Nothing is mounted below /usr, so a sandbox has a copy of it that it may change.
    const command = "touch /usr/new && echo made";
    const changed = await client.callTool({ name: "run_command", arguments: { sandbox_id, command } });
    expect(changed.structuredContent).toMatchObject({ stdout: "made\n" });
    expect(await sandboxes(key)).toMatchObject({ status: 200, body: { data: [{ status: "running" }] } });

    await inDeploy(revoke);
    const listed = client.callTool({ name: "list_sandboxes", arguments: {} });
    await expect(listed).rejects.toThrow(/API_KEY_REVOKED/);
    await expect(connect(key)).rejects.toThrow(/API_KEY_REVOKED/);
    expect(await sandboxes(key)).toMatchObject({ status: 401 });
    await client.close();
  });

  test("make images with an ordinary user and a list of what they have", async () => {
    const inImage = "docker run --rm --network none cloud-sandbox";
    expect(await inDeploy(`${inImage} id -un`)).toBe("sandbox\n");
    const list = await inDeploy(`${inImage} cat /usr/local/share/sbom/image.cdx.json`);
    const { components } = JSON.parse(list) as { components: { name: string; purl: string }[] };
    const bubblewrap = components.find(({ name }) => name === "bubblewrap");
    expect(bubblewrap?.purl).toMatch(/^pkg:deb\/debian\/bubblewrap@\d[^?]*\?arch=\w+$/);
  });

  async function connect(key: string): Promise<Client> {
    const client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      fetch: (url, init) => overTls(String(url), init),
    });
    await client.connect(transport);
    return client;
  }

  async function sandboxes(key: string): Promise<{ status: number; body: unknown }> {
    const answer = await overTls(`${origin}/v1/sandboxes`, { headers: { "x-api-key": key } });
    return { status: answer.status, body: await answer.json() };
  }

  /** Trusts the proxy's own authority, and nobody else. */
  function overTls(url: string, init: RequestInit = {}): Promise<Response> {
    return undiciFetch(url, { ...init, dispatcher: agent } as never) as Promise<unknown> as Promise<Response>;
  }

  async function healthyServices(): Promise<number> {
    const healthy = await inDeploy(`docker ps --quiet --filter ${label} --filter health=healthy`);
    return healthy.split("\n").filter((id) => id !== "").length;
  }

  function inDeploy(script: string): Promise<string> {
    return inShell(script, join(checkout, "deploy"));
  }

  async function inShell(script: string, cwd: string): Promise<string> {
    const options = { cwd, env: environment, maxBuffer: 16 * 1024 * 1024 };
    return (await run("sh", ["-ec", script], options)).stdout;
  }
}

async function freePorts(): Promise<number[]> {
  const servers = [createServer(), createServer()];
  const ports = servers.map(
    (server) =>
      new Promise<number>((resolve) => {
        server.listen(0, () => resolve((server.address() as AddressInfo).port));
      }),
  );
  const found = await Promise.all(ports);
  for (const server of servers) server.close();
  return found;
}
