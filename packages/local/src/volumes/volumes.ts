import { randomBytes } from "node:crypto";
import { readdir, realpath, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "@cloud-sandbox/server-kit";
import type { CreateRequest } from "@cloud-sandbox/server-kit/handlers";
import pLimit from "p-limit";
import { CopiedDirectories } from "../changes/copied-directories.js";
import type { MachineMount } from "../runtime/sandbox-runtime.js";
import { makeDirectories } from "../store/data-directory.js";
import { LazyDirectory } from "../store/lazy-directory.js";
import type { SandboxMount } from "../store/sandbox-repository.js";
import type { Volume, VolumeRepository } from "../store/volume-repository.js";
import type { HostDirectories, OpenDirectory } from "./host-directories.js";
import { attachImage, createImage, detachImage } from "./volume-image.js";

const mebibyte = 1024 * 1024;
/** Most volumes that a server keeps, and most of one API key. */
const mostVolumes = 1000;
const mostOfKey = 100;
/** The share of the disk that the volumes of one API key may have together. The server's own key has no limit. */
const shareOfKey = 1 / 4;

/** A sandbox that mounts a volume. */
export interface VolumeUser {
  /** Its name, or else its id, with which anybody can open its previews. */
  readonly title: string;
  readonly keyId: string | undefined;
}

interface VolumesParts {
  /** Finds the directory with the volumes' images, when it is first needed. */
  readonly directory: () => Promise<string>;
  /** The same for what is known of directories that sandboxes have a copy of. */
  readonly copiesDirectory: () => Promise<string>;
  /** Undefined if volumes end with this process. */
  readonly repository: VolumeRepository | undefined;
  /** Why this server has no volumes, and how to get them. Undefined if it has volumes. */
  readonly lack: string | undefined;
  /** Undefined if the runtime can mount no directories of this machine. */
  readonly directories: HostDirectories | undefined;
  /** Why it cannot, and what to do instead. */
  readonly withoutDirectories: string | undefined;
  /** The sandboxes that mount a volume. */
  readonly usersOf: (volumeId: string) => readonly VolumeUser[];
}

/**
 * Directories that outlive sandboxes, and that several sandboxes may mount at a time. Each is a file system of a fixed size in a
 * file, so that the kernel limits what is written to it.
 */
export class Volumes {
  readonly #volumes = new Map<string, Volume>();
  /** By id of a volume: how many sandboxes that will mount it are being created. */
  readonly #held = new Map<string, number>();
  /** Creates and attaches one image at a time. */
  readonly #exclusively = pLimit(1);
  readonly #directory: LazyDirectory;
  readonly copies: CopiedDirectories;

  constructor(private readonly parts: VolumesParts) {
    this.#directory = new LazyDirectory(parts.directory, async (path) => {
      await makeDirectories(path, 0o700);
      return realpath(path);
    });
    this.copies = new CopiedDirectories(parts.copiesDirectory, (host) => this.#openCopied(host));
  }

  /** Loads the volumes of the previous server, and removes images that it did not record. */
  async restore(): Promise<void> {
    for (const volume of this.parts.repository?.list() ?? []) this.#volumes.set(volume.id, volume);
    const directory = await this.#directory.ready();
    for (const name of await readdir(directory))
      if (![...this.#volumes.keys()].some((id) => name === fileName(id)))
        await rm(join(directory, name), { force: true });
    for (const id of this.#volumes.keys()) await this.#detach(id);
  }

  async #detach(id: string): Promise<void> {
    if (this.parts.lack !== undefined) return;
    // Without the program that attaches images, none is attached.
    await this.#exclusively(async () => detachImage(await this.#image(id)).catch(() => undefined));
  }

  /** Why this server has no volumes, and how to get them. Undefined if it has volumes. */
  get lack(): string | undefined {
    return this.parts.lack === undefined ? undefined : sentenceOf(this.parts.lack);
  }

  /** The volumes that an API key sees: its own. The server's own key, undefined, sees all. */
  list(keyId: string | undefined): readonly Volume[] {
    const all = [...this.#volumes.values()];
    return keyId === undefined ? all : all.filter((volume) => volume.keyId === keyId);
  }

  /** The volume with this id or name. Throws the 404 problem if there is none. */
  get(idOrName: string, keyId: string | undefined): Volume {
    const found = this.#named(idOrName, keyId) ?? this.list(keyId).find((volume) => volume.id === idOrName);
    if (found) return found;
    throw new Problem(404, "VOLUME_NOT_FOUND", `Volume ${JSON.stringify(idOrName.slice(0, 80))} not found.`, {
      hint: "List the volumes to see those that exist, or create one.",
    });
  }

  /** The sandboxes that mount a volume, as far as an API key sees them: their names, or else their ids. */
  usersOf(volume: Volume, keyId: string | undefined): readonly string[] {
    const users = this.parts.usersOf(volume.id);
    return users.filter((user) => keyId === undefined || user.keyId === keyId).map(({ title }) => title);
  }

  /** The bytes that a volume takes on the disk. */
  async usedBytes({ id }: Volume): Promise<number> {
    const { blocks } = await stat(await this.#image(id));
    return blocks * 512;
  }

  async create(name: string, sizeMb: number, keyId: string | undefined): Promise<Volume> {
    const { lack, repository } = this.parts;
    if (lack !== undefined) throw unavailable(lack);
    return this.#exclusively(async () => {
      if (this.#named(name, keyId))
        throw new Problem(409, "CONFLICT", `A volume named ${name} exists already.`, {
          hint: "Use that volume, or choose another name.",
        });
      if (this.#volumes.size >= mostVolumes)
        throw tooMany(`This server has ${mostVolumes} volumes, the most it keeps.`, mostVolumes);
      if (keyId !== undefined && this.list(keyId).length >= mostOfKey)
        throw tooMany(`This API key has ${mostOfKey} volumes, the most it may have.`, mostOfKey);
      await this.#requireSpace(sizeMb, keyId);
      const id = `vol_${randomBytes(8).toString("hex")}`;
      const volume: Volume = { id, name, sizeMb, createdAt: new Date(), keyId };
      const image = await this.#image(id);
      await createImage(image, sizeMb).catch((error: unknown) => {
        throw unavailable(
          `an image for the volume could not be made (${reasonOf(error)}); it needs mkfs.ext4, which the package e2fsprogs has`,
        );
      });
      try {
        repository?.add(volume);
      } catch (error) {
        await rm(image, { force: true });
        throw error;
      }
      this.#volumes.set(id, volume);
      return volume;
    });
  }

  /** Deletes a volume and its files. Throws the 409 problem with the names of sandboxes that mount it. */
  async delete(volume: Volume, keyId: string | undefined): Promise<void> {
    const isMounted = this.parts.usersOf(volume.id).length > 0;
    if (isMounted || this.#held.has(volume.id)) {
      const users = this.usersOf(volume, keyId);
      const known = users.length > 0 ? users.join(", ") : "a sandbox of another API key";
      const by = isMounted ? `mounted by ${known}` : "being mounted by a new sandbox";
      throw new Problem(409, "VOLUME_IN_USE", `Volume ${volume.name} is ${by}.`, {
        hint: "Delete these sandboxes first; stopped ones use it too.",
        details: { sandboxes: users },
      });
    }
    this.parts.repository?.remove(volume.id);
    this.#volumes.delete(volume.id);
    await this.#detach(volume.id);
    await rm(await this.#image(volume.id), { force: true });
  }

  /** What a create request asks to mount. Throws a problem if that cannot be mounted. */
  requested(mounts: CreateRequest["mounts"], keyId: string | undefined): readonly SandboxMount[] {
    const entries = Object.entries(mounts);
    checkTargets(entries.map(([target]) => target));
    const mounted = entries.map(([target, mount]): SandboxMount => {
      const { volume, host, read_only: readOnly = false, mode } = mount;
      if (mode === "copy") this.#requireCopies(mount);
      if (host !== undefined) {
        this.#requireDirectories(keyId);
        return { target, source: { host }, readOnly, ...(mode === "copy" && { isCopy: true }) };
      }
      if (this.parts.lack !== undefined) throw unavailable(this.parts.lack);
      const { id, name } = this.get(volume ?? "", keyId);
      return { target, source: { volume: name }, volumeId: id, readOnly };
    });
    const ids = mounted.flatMap(({ volumeId }) => volumeId ?? []);
    if (new Set(ids).size < ids.length) throw invalidMount("A sandbox can mount a volume once only.");
    return mounted;
  }

  /** Keeps these volumes from being deleted until the returned function is called. */
  hold(mounts: readonly SandboxMount[]): () => void {
    const ids = mounts.flatMap(({ volumeId }) => volumeId ?? []);
    for (const volumeId of ids) this.#held.set(volumeId, (this.#held.get(volumeId) ?? 0) + 1);
    return () => {
      for (const volumeId of ids) {
        const rest = (this.#held.get(volumeId) ?? 1) - 1;
        if (rest > 0) this.#held.set(volumeId, rest);
        else this.#held.delete(volumeId);
      }
    };
  }

  /** What a machine mounts. Call `release` when the machine has started, or did not start. */
  async open(mounts: readonly SandboxMount[]): Promise<OpenMounts> {
    const opened: { release(): Promise<void> }[] = [];
    const release = async (): Promise<void> => {
      for (const each of opened) await each.release();
    };
    try {
      const machineMounts: MachineMount[] = [];
      for (const mount of mounts) {
        const each = await this.#open(mount);
        opened.push(each);
        const { target, readOnly, isCopy = false } = mount;
        machineMounts.push({ source: each.source, target, readOnly, isCopy });
      }
      return { mounts: machineMounts, release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  #openCopied(host: string): Promise<OpenDirectory> {
    return this.#requireDirectories(undefined).open(host, false);
  }

  async #open({ source, volumeId, readOnly, isCopy = false }: SandboxMount): Promise<OpenSource> {
    if ("host" in source) {
      const directories = this.#requireDirectories(undefined);
      const { directory, release } = await directories.open(source.host, !readOnly && !isCopy);
      return { source: directory, release };
    }
    try {
      const image = await this.#image(volumeId ?? "");
      const { device, release } = await this.#exclusively(() => attachImage(image));
      return { source: { device }, release };
    } catch (error) {
      throw new Error(`volume ${source.volume} could not be attached: ${reasonOf(error)}`, { cause: error });
    }
  }

  #requireCopies({ host, read_only: readOnly }: CreateRequest["mounts"][string]): void {
    const withoutCopies = this.parts.directories?.withoutCopies;
    if (host === undefined || readOnly === true)
      throw invalidMount("A mount with mode copy is a directory of the server's machine, and not read-only.");
    if (withoutCopies === undefined) return;
    const message = `This server gives sandboxes no copies of directories: ${withoutCopies}.`;
    throw new Problem(400, "MOUNT_NOT_ALLOWED", message, {
      hint: "Copy the files, or ask whoever runs the server.",
    });
  }

  #requireDirectories(keyId: string | undefined): HostDirectories {
    const { directories, withoutDirectories } = this.parts;
    if (directories === undefined)
      throw new Problem(
        400,
        "MOUNT_NOT_ALLOWED",
        `This server mounts no directories of its machine: ${withoutDirectories}.`,
        { hint: "Copy the files, or ask whoever runs the server." },
      );
    if (keyId !== undefined)
      throw new Problem(
        400,
        "MOUNT_NOT_ALLOWED",
        "Only the server's own API key may mount directories of its machine.",
        {
          hint: "Mount a volume, or ask whoever runs the server.",
        },
      );
    return directories;
  }

  #named(name: string, keyId: string | undefined): Volume | undefined {
    return [...this.#volumes.values()].find((volume) => volume.name === name && volume.keyId === keyId);
  }

  /** Throws the 507 problem if the disk has less space than all volumes may take. */
  async #requireSpace(sizeMb: number, keyId: string | undefined): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(await this.#directory.ready());
    if (keyId !== undefined) {
      const limit = Math.floor((blocks * bsize * shareOfKey) / mebibyte);
      const current = this.list(keyId).reduce((sum, volume) => sum + volume.sizeMb, 0);
      if (current + sizeMb > limit)
        throw overQuota({ limit, current, available: Math.max(0, limit - current) });
    }
    let promised = sizeMb * mebibyte;
    for (const volume of this.#volumes.values())
      promised += Math.max(0, volume.sizeMb * mebibyte - (await this.usedBytes(volume).catch(() => 0)));
    if (promised <= bavail * bsize) return;
    const message = `The server's disk has too little space for a volume of ${sizeMb} MiB beside the other volumes.`;
    throw new Problem(507, "STORAGE_FULL", message, {
      hint: "Ask for less with size_mb, or delete volumes that are no longer needed.",
    });
  }

  async #image(id: string): Promise<string> {
    return join(await this.#directory.ready(), fileName(id));
  }
}

interface OpenMounts {
  readonly mounts: readonly MachineMount[];
  release(): Promise<void>;
}

interface OpenSource {
  readonly source: MachineMount["source"];
  release(): Promise<void>;
}

const tooMany = (message: string, limit: number): Problem =>
  new Problem(429, "RESOURCE_LIMIT_ERROR", message, {
    hint: "Delete volumes that are no longer needed.",
    details: { limit, current: limit, available: 0 },
  });

function overQuota(details: { limit: number; current: number; available: number }): Problem {
  const message = `The volumes of one API key may have ${details.limit} MiB together on this server, a quarter of its disk, and this key's have ${details.current} MiB.`;
  return new Problem(429, "RESOURCE_LIMIT_ERROR", message, {
    hint: "Ask for less with size_mb, or delete volumes that are no longer needed.",
    details,
  });
}

const fileName = (id: string): string => `${id}.ext4`;

function reasonOf(error: unknown): string {
  const { stderr, message } = error as Error & { readonly stderr?: string };
  return (stderr?.trim() || message).replace(/\.$/, "");
}

const sentenceOf = (lack: string): string => `This server has no volumes: ${lack}.`;

const unavailable = (lack: string): Problem => new Problem(400, "VOLUMES_UNAVAILABLE", sentenceOf(lack));

/** Directories of the root that the system needs as they are. */
const systemDirectories =
  /^\/(bin|boot|dev|etc|lib[^/]*|proc|root|run|sbin|sys|tmp|usr|var|opt\/(cloud-sandbox|node))(\/|$)/;
/** Directories below which volumes can be mounted, but not at them. */
const parents = ["/home", "/home/sandbox", "/mnt", "/opt", "/srv"];
const longestTarget = 256;

/** Throws a 400 problem unless volumes can be mounted at these paths of a sandbox. */
function checkTargets(targets: readonly string[]): void {
  for (const target of targets) {
    const reason = refusal(target);
    if (reason !== undefined)
      throw invalidMount(`${JSON.stringify(target.slice(0, 80))} cannot be mounted: ${reason}.`);
    const outer = targets.find((other) => target.startsWith(`${other}/`));
    if (outer !== undefined) throw invalidMount(`The mount ${target} lies in another one, ${outer}.`);
  }
}

function refusal(target: string): string | undefined {
  if (!/^(\/[\w.@+-]+)+$/.test(target) || target.length > longestTarget)
    return "the path must begin with a slash, end without one, and have letters, digits and . _ - + @ only";
  if (/\/\.\.?(\/|$)/.test(target)) return "it must not lead through the directories . and ..";
  if (systemDirectories.test(target)) return "the system of the sandbox uses this directory";
  if (parents.includes(target)) return "only directories below it can be mounted";
  if (target.startsWith("/home/") && !target.startsWith("/home/sandbox/"))
    return "the home directory is /home/sandbox";
  return undefined;
}

function invalidMount(message: string): Problem {
  return new Problem(400, "INVALID_REQUEST", message, {
    hint: "Mount at a path such as /data, /workspace/data or /home/sandbox/.cache.",
  });
}
