import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What sandboxes of the tests use. Node.js comes with the agent. */
const packages = [
  ...["bash", "coreutils", "dash", "findutils", "grep", "sed", "tar", "gzip", "procps", "util-linux"],
  ...["bsdutils", "python3", "python3-pip", "curl", "libstdc++6"],
];

const roots = ["bin", "sbin", "lib", "lib64"];

/** The files of packages of this machine and what they depend on, as a tar, because tests reach no registry. `more`: packages besides. */
export async function baseFiles(more: readonly string[] = []): Promise<Readable> {
  const names = await filesOf(await withDependencies([...packages, ...more]));
  const tar = spawn("tar", ["--create", "--directory=/", "--no-recursion", "--null", "--files-from=-"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  tar.stdin.end(names.join("\0"));
  return tar.stdout;
}

/** The files of installed packages, and the links with which every image begins, as paths below the root. */
export async function filesOf(installed: readonly string[]): Promise<string[]> {
  const listed = (await run("dpkg", ["--listfiles", ...installed], { maxBuffer: 64 * 1024 * 1024 })).stdout;
  const files = new Set(
    listed
      .split("\n")
      .filter((path) => path.startsWith("/") && !/^\/usr\/share\/(doc|man|locale|info)\//.test(path))
      // Packages name some files by the old places, which are links.
      .map((path) => path.replace(/^\/(bin|sbin|lib|lib64)\//, "/usr/$1/").slice(1))
      .filter((path) => path !== "" && path !== "." && !roots.includes(path)),
  );
  return [...roots, "usr/local", ...files, "etc/ld.so.cache"].filter(
    (path) => existsSync(`/${path}`) || lstatSync(`/${path}`, { throwIfNoEntry: false }) !== undefined,
  );
}

/** Gives a daemon an image of {@link baseFiles}. Returns its name. */
export async function importBaseImage(host: string): Promise<string> {
  const image = "cloud-sandbox-test";
  const importing = spawn("docker", ["--host", host, "import", "-", image], {
    stdio: [await baseFiles(), "ignore", "pipe"],
  });
  const said = text(importing.stderr as NodeJS.ReadableStream);
  const [code] = await once(importing, "exit");
  if (code !== 0) throw new Error(`The image of the tests could not be made: ${await said}`);
  return image;
}

/** These packages and those that they depend on, as far as they are installed. */
export async function withDependencies(wanted: readonly string[]): Promise<string[]> {
  const fields = ["Package", "Provides", "Pre-Depends", "Depends"].map((name) => `\${${name}}`).join("\t");
  const { stdout } = await run("dpkg-query", ["--show", `--showformat=${fields}\n`], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const needs = new Map<string, string[][]>();
  const providers = new Map<string, string[]>();
  for (const line of stdout.split("\n")) {
    const [name = "", provided = "", first = "", others = ""] = line.split("\t");
    // Each requirement is fulfilled by any of several packages.
    needs.set(name, `${first}, ${others}`.split(",").map(namesIn));
    for (const other of namesIn(provided.replaceAll(",", "|")))
      providers.set(other, [...(providers.get(other) ?? []), name]);
  }
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name) || !needs.has(name)) return;
    found.add(name);
    for (const choices of needs.get(name) ?? []) {
      const installed = choices.filter((choice) => needs.has(choice));
      const chosen =
        installed.length > 0 ? installed : choices.flatMap((choice) => providers.get(choice) ?? []);
      for (const other of chosen.slice(0, 1)) add(other);
    }
  };
  for (const name of wanted) add(name);
  return [...found];
}

/** The names in `a (>= 1) | b:any`. */
function namesIn(alternatives: string): string[] {
  return alternatives.split("|").flatMap((one) => /^\s*([\w.+-]+)/.exec(one)?.[1] ?? []);
}
