import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { filesOf, withDependencies } from "./base-image.js";

const run = promisify(execFile);

/** The packages that Debian's own base images have, so that Dockerfiles can begin with this one. */
const system = [
  "apt",
  "base-files",
  "base-passwd",
  "bash",
  "coreutils",
  "dash",
  "debianutils",
  "dpkg",
  "findutils",
];
const programs = ["grep", "gzip", "init-system-helpers", "login", "passwd", "perl-base", "sed", "tar"];

/**
 * Gives a daemon an image of Debian in which `packages` of this machine are installed already, and this Node.js. There `apt-get
 * install` finds nothing to do, because tests reach no mirror.
 */
export async function importDebianImage(
  host: string,
  image: string,
  packages: readonly string[],
): Promise<void> {
  const names = await withDependencies([...system, ...programs, "libstdc++6", ...packages]);
  const stage = await mkdtemp(join(tmpdir(), "debian-image-"));
  try {
    await writeStage(stage, names);
    const listed = join(stage, "files");
    const ownNode = process.execPath.slice(1);
    const files = (await filesOf(names)).filter((file) => file !== ownNode && !staged.includes(file));
    await writeFile(listed, [...files, ownNode].join("\0"));
    const make = ["--create", "--no-recursion", `--transform=s,^${ownNode}$,usr/local/bin/node,`];
    const tar = spawn(
      "tar",
      [...make, "--directory=/", "--null", `--files-from=${listed}`, `--directory=${stage}/root`, ...staged],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const importing = spawn("docker", ["--host", host, "import", "-", image], {
      stdio: [tar.stdout, "ignore", "pipe"],
    });
    const said = text(importing.stderr as Readable);
    const [code] = await once(importing, "exit");
    if (code !== 0) throw new Error(`The image ${image} could not be made: ${await said}`);
  } finally {
    await rm(stage, { recursive: true });
  }
}

/** What packages create during their installation, so that it is not listed among their files. */
const staged = [
  ...["etc/passwd", "etc/group", "etc/shadow", "etc/gshadow", "tmp", "root"],
  ...["var/lib/dpkg/status", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"],
  ...["var/lib/apt/lists/partial", "var/cache/apt/archives/partial"],
];

async function writeStage(stage: string, names: readonly string[]): Promise<void> {
  const at = (path: string): string => join(stage, "root", path);
  for (const directory of staged.filter((path) => !/^etc|status$/.test(path)))
    await mkdir(at(directory), { recursive: true });
  await mkdir(at("etc"), { recursive: true });
  await chmod(at("tmp"), 0o1777);
  await copyFile("/usr/share/base-passwd/passwd.master", at("etc/passwd"));
  await copyFile("/usr/share/base-passwd/group.master", at("etc/group"));
  await writeFile(at("etc/shadow"), "root:*:19000:0:99999:7:::\n");
  await writeFile(at("etc/gshadow"), "");
  const { stdout } = await run("dpkg", ["--status", ...names], { maxBuffer: 64 * 1024 * 1024 });
  await writeFile(at("var/lib/dpkg/status"), stdout);
}
