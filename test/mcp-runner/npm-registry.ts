import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

/** An npm registry on loopback. */
export interface NpmRegistry extends AsyncDisposable {
  readonly port: number;
  /** The paths of all requests so far. */
  readonly asked: readonly string[];
}

interface Installed {
  readonly directory: string;
  readonly manifest: { name: string; version: string };
}

/** Starts an npm registry that offers the packages in a project's node_modules. */
export async function startNpmRegistry(project: string): Promise<NpmRegistry> {
  const packages = new Map<string, Installed[]>();
  for await (const installed of installedIn(join(project, "node_modules"))) {
    const { name } = installed.manifest;
    packages.set(name, [...(packages.get(name) ?? []), installed]);
  }
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent((request.url ?? "").replace(/\?.*$/s, "")).slice(1);
    asked.push(path);
    const [name = "", version] = path.split("/-/");
    const found = packages.get(name);
    if (found === undefined) return void response.writeHead(404).end("{}");
    if (version !== undefined) {
      const directory = found.find(({ manifest }) => manifest.version === version)?.directory ?? "";
      const tar = [
        "-czf",
        "-",
        "--exclude=./node_modules",
        "--transform=s,^\\.,package,",
        "-C",
        directory,
        ".",
      ];
      return void spawn("tar", tar, { stdio: ["ignore", "pipe", "inherit"] }).stdout.pipe(response);
    }
    const versions = Object.fromEntries(
      found.map(({ manifest }) => {
        const tarball = `http://${request.headers.host}/${name}/-/${manifest.version}`;
        return [manifest.version, { ...manifest, dist: { tarball } }];
      }),
    );
    const latest = found[0]?.manifest.version;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest }, versions }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** All packages in a node_modules directory, and in node_modules directories below it. */
async function* installedIn(folder: string): AsyncGenerator<Installed> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const directory = join(folder, name);
    if (name.startsWith("@")) yield* installedIn(directory);
    else if (!name.startsWith(".")) {
      yield* installedIn(join(directory, "node_modules"));
      const text = await readFile(join(directory, "package.json"), "utf8").catch(() => undefined);
      if (text !== undefined) yield { directory, manifest: JSON.parse(text) };
    }
  }
}
