import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type Docker from "dockerode";
import { type DockerFailure, isMissing } from "../engine/docker-engine.js";
import { firstFileOfTar, packTar, type TarEntry } from "./tar-entries.js";
import { codeUid, inside, type Toolkit } from "./toolkit.js";

const repository = "cloud-sandbox-prepared";
const label = "dev.cloud-sandbox.prepared-from";

/** The image that machines are started from. */
export interface PreparedImage {
  /** Name and tag. Servers that prepare the same at the same time make several images, the last of which keeps the name. */
  readonly name: string;
  /** The variables that the original image sets for its programs. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The original image with one layer more, which holds the toolkit, the user `sandbox` and the directories of sandboxes. It
 * is made once and stays at the daemon for the next control plane. Nothing is built and no program of the image runs.
 */
export async function preparedImage(docker: Docker, name: string, toolkit: Toolkit): Promise<PreparedImage> {
  const original = await docker.getImage(name).inspect();
  const environment = Object.fromEntries(
    (original.Config.Env ?? []).map((line) => [
      line.split("=", 1)[0] ?? "",
      line.slice(line.indexOf("=") + 1),
    ]),
  );
  const tag = createHash("sha256").update(`${original.Id} ${toolkit.digest}`).digest("hex").slice(0, 24);
  const prepared = `${repository}:${tag}`;
  const known = await docker
    .getImage(prepared)
    .inspect()
    .catch((error: DockerFailure) => {
      if (!isMissing(error)) throw error;
      return undefined;
    });
  if (!known) {
    await addLayer(docker, original.Id, toolkit, tag);
    await removeOlder(docker, original.Id, prepared);
  }
  return { name: prepared, environment };
}

async function addLayer(docker: Docker, original: string, toolkit: Toolkit, tag: string): Promise<void> {
  const container = await docker.createContainer({
    Image: original,
    // It is never started, but an image may have no command, and then Docker wants one.
    Entrypoint: ["/none"],
    Labels: { [label]: original },
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
      changes: [`LABEL ${label}=${original}`, "ENTRYPOINT []", "CMD []", "USER 0", "WORKDIR /"].join("\n"),
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
