import { createHash, randomBytes } from "node:crypto";
import { resolve } from "node:path/posix";
import { buffer } from "node:stream/consumers";
import type Docker from "dockerode";
import { codeUid, inside } from "../../container/paths.js";
import { firstFileOfTar, packTar, type TarEntry } from "../../container/toolkit/tar-entries.js";
import { collectToolkit, type MachineCommands, type Toolkit } from "../../container/toolkit/toolkit.js";
import type { ImageContents } from "../../sandbox-runtime.js";
import type { DaemonAbilities } from "../container-options.js";
import { processLabels } from "../engine/container-owner.js";
import { type DockerFailure, isMissing } from "../engine/docker-engine.js";
import { type ImageFindings, trialVersion, tryImage } from "./image-trial.js";

const repository = "cloud-sandbox-prepared";
const label = "dev.cloud-sandbox.prepared-from";
/** Keeps what the trial of the original image found, so that the next control plane needs no trial. */
const findingsLabel = `dev.cloud-sandbox.found-${trialVersion}`;

/** The words of Docker for processors, and those of Node.js. */
const architectures: Readonly<Record<string, string>> = { amd64: "x64" };

/** The image that machines are started from. */
export interface PreparedImage {
  /** Name and tag. Servers that prepare the same at the same time make several images, the last of which keeps the name. */
  readonly name: string;
  /** The variables that the original image sets for its programs. */
  readonly environment: Readonly<Record<string, string>>;
  /** The directories that it names with VOLUME. */
  readonly volumes: readonly string[];
  readonly commands: MachineCommands;
  readonly contents: ImageContents;
}

/**
 * The original image with one layer more, which holds the toolkit, the user `sandbox` and the directories of sandboxes. It
 * is made once and stays at the daemon for the next control plane. The only program of the image that runs is its shell, once,
 * isolated as sandboxes are, which looks what the image has.
 */
export async function preparedImage(
  docker: Docker,
  name: string,
  daemon: DaemonAbilities,
  log: (message: string) => void,
): Promise<PreparedImage> {
  const original = await docker.getImage(name).inspect();
  const environment = Object.fromEntries(
    (original.Config.Env ?? []).map((line) => [
      line.split("=", 1)[0] ?? "",
      line.slice(line.indexOf("=") + 1),
    ]),
  );
  const { Id, Architecture } = original;
  const volumes = volumesOf(name, Object.keys(original.Config.Volumes ?? {}));
  const found =
    (await knownFindings(docker, Id)) ??
    (await tryImage(docker, {
      name: `cloud-sandbox-${randomBytes(8).toString("hex")}`,
      image: { name: Id, environment },
      daemon,
    }).catch((error: unknown) => {
      throw notUsable(name, Architecture, error);
    }));
  const arch = architectures[Architecture] ?? Architecture;
  const toolkit = await collectToolkit({ name, arch, found, log });
  const tag = createHash("sha256").update(`${Id} ${toolkit.digest}`).digest("hex").slice(0, 24);
  const prepared = `${repository}:${tag}`;
  const known = await docker
    .getImage(prepared)
    .inspect()
    .catch((error: DockerFailure) => {
      if (!isMissing(error)) throw error;
      return undefined;
    });
  if (!known) {
    await addLayer(docker, Id, toolkit, tag, found);
    await removeOlder(docker, Id, prepared);
  }
  return { name: prepared, environment, volumes, commands: toolkit, contents: contentsOf(found) };
}

/** The findings of an earlier control plane about the image of that name. Undefined if none has tried it. */
export async function recalledContents(docker: Docker, name: string): Promise<ImageContents | undefined> {
  const found = await knownFindings(docker, (await docker.getImage(name).inspect()).Id);
  return found && contentsOf(found);
}

/** The languages of the image's sandboxes. Programs use the agent's Node.js if the image has none. */
function contentsOf({ languages, system, runsForeignNode }: ImageFindings): ImageContents {
  const lacksNode = languages.every(({ language }) => language !== "javascript");
  const added = { language: "javascript", version: process.versions.node } as const;
  return { languages: lacksNode && runsForeignNode ? [...languages, added] : languages, system };
}

async function knownFindings(docker: Docker, original: string): Promise<ImageFindings | undefined> {
  const prepared = await docker.listImages({ filters: JSON.stringify({ label: [`${label}=${original}`] }) });
  const kept = prepared.map(({ Labels }) => Labels?.[findingsLabel]).find((text) => text !== undefined);
  return kept === undefined ? undefined : JSON.parse(Buffer.from(kept, "base64url").toString("utf8"));
}

function notUsable(name: string, architecture: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(
    `The image ${name}, which is for ${architecture}, cannot be used: ${reason.replace(/\.?$/, "")}; sandboxes need an image for the daemon's processor with a shell and bash`,
    { cause: error },
  );
}

/** The directories of an image's VOLUME. The layer that is added has nothing of them, so they may not hold what sandboxes need. */
function volumesOf(name: string, declared: readonly string[]): string[] {
  const volumes = declared.map((path) => resolve("/", path));
  const hiding = volumes.find((path) => path === "/etc" || inside.run.startsWith(`${path}/`));
  if (hiding === undefined) return volumes;
  throw new Error(
    `The image ${name} cannot be used: its "VOLUME ${hiding}" hides files that sandboxes need there; name an image without it`,
  );
}

async function addLayer(
  docker: Docker,
  original: string,
  toolkit: Toolkit,
  tag: string,
  found: ImageFindings,
): Promise<void> {
  const container = await docker.createContainer({
    Image: original,
    // It is never started, but an image may have no command, and then Docker wants one.
    Entrypoint: ["/none"],
    Labels: { ...processLabels(), [label]: original },
    NetworkDisabled: true,
  });
  try {
    const accounts = await Promise.all([
      account(container, "passwd", `sandbox:x:${codeUid}:${codeUid}:sandbox:${inside.home}:/bin/bash`),
      account(container, "group", `sandbox:x:${codeUid}:`),
    ]);
    const entries = [...toolkit.entries, ...accounts, ...additions];
    await container.putArchive(packTar(entries), { path: "/" });
    await container.commit({
      repo: repository,
      tag,
      pause: false,
      changes: [
        `LABEL ${label}=${original}`,
        // Others may start containers of this image.
        ...Object.keys(processLabels()).map((name) => `LABEL ${name}=""`),
        `LABEL ${findingsLabel}=${Buffer.from(JSON.stringify(found)).toString("base64url")}`,
        "ENTRYPOINT []",
        "CMD []",
        "USER 0",
        "WORKDIR /",
      ].join("\n"),
    });
  } finally {
    await container.remove({ force: true, v: true });
  }
}

const additions: readonly TarEntry[] = [
  ...["workspace", inside.home.slice(1)].map((path) => ({ path, mode: 0o755, uid: codeUid })),
  // The agent's loader reads it too: an image must not load libraries into the agent.
  { path: "etc/ld.so.preload", mode: 0o644, file: "" },
];

/** The image's `/etc/passwd` or `/etc/group`, with the user of sandboxes unless the image has one of that uid. */
async function account(
  container: Docker.Container,
  name: "passwd" | "group",
  line: string,
): Promise<TarEntry> {
  const tar = await container
    .getArchive({ path: `/etc/${name}` })
    .then((stream) => buffer(stream))
    .catch((error: DockerFailure) => {
      if (!isMissing(error)) throw error;
      return Buffer.alloc(0);
    });
  const found = firstFileOfTar(tar)?.toString("utf8") ?? "root:x:0:0:root:/root:/bin/sh\n";
  const lines = found.split("\n").filter((known) => known !== "");
  const isThere = lines.some((known) => known.split(":")[2] === String(codeUid));
  const content = [...lines, ...(isThere ? [] : [line])].map((known) => `${known}\n`).join("");
  return { path: `etc/${name}`, mode: 0o644, file: content };
}

/** Removes what earlier versions made of the same original. Docker keeps those that containers use. */
async function removeOlder(docker: Docker, original: string, current: string): Promise<void> {
  const older = await docker.listImages({ filters: JSON.stringify({ label: [`${label}=${original}`] }) });
  for (const { Id, RepoTags } of older)
    if (!RepoTags?.includes(current))
      await docker
        .getImage(Id)
        .remove()
        .catch(() => undefined);
}
