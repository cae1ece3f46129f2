import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Problem } from "@cloud-sandbox/server-kit";
import { removeTree } from "../runtime/host/remove-tree.js";
import { isUnwritable, storageFull } from "../store/storage-problem.js";
import { applyLayers } from "./apply-layers.js";
import { finishRoot, systemOf } from "./finish-root.js";
import { ImageArchive } from "./image-archive.js";
import { findImage, type ImageConfig } from "./image-manifest.js";
import { Allowance, type ImageLimits, invalidImage } from "./image-problems.js";
import { ImageRoot } from "./image-root.js";

/** An image whose files are a layer on this machine. */
export interface ImportedImage {
  /** The name that the archive has for the image. */
  readonly reference: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly system: ReturnType<typeof systemOf>;
  /** Sentences for people: what sandboxes do not take over from the image. */
  readonly differences: readonly string[];
}

/**
 * Reads an image's archive and unpacks it to `layer`, a directory that does not exist yet, in the form in which sandboxes
 * find the layers of templates. If it fails, the directory is removed.
 */
export async function importImage(
  body: Readable,
  layer: string,
  limits: ImageLimits,
  signal: AbortSignal,
): Promise<ImportedImage> {
  const stop = (): void => void body.destroy(new Error("The import was cancelled."));
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    const parts = { archive: join(layer, "archive"), root: join(layer, "root") };
    for (const path of [layer, parts.archive, parts.root]) await mkdir(path, { mode: 0o700 });
    const allowance = new Allowance(limits);
    const archive = await ImageArchive.receive(body, parts.archive, allowance);
    signal.throwIfAborted();
    const { config, layers, reference } = await findImage(archive);
    const root = new ImageRoot(parts.root);
    const leftOut = await applyLayers(archive, layers, root, allowance, signal);
    const { environment, workdir, differences } = configured(config, leftOut);
    const system = systemOf(root);
    finishRoot(root, layer, workdir);
    await removeTree(parts.archive);
    return { reference, environment, workdir, system, differences };
  } catch (error) {
    await removeTree(layer);
    throw importFailure(error);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function importFailure(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error;
  if (isUnwritable(error)) return storageFull(error);
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENAMETOOLONG" || code === "EILSEQ"
    ? invalidImage("The image has a file whose path is longer than this machine's file system takes.")
    : error;
}

const mostVariableBytes = 64 * 1024;

function configured({ config }: ImageConfig, leftOut: number) {
  const { Env, WorkingDir, User, Entrypoint, Cmd } = config ?? {};
  const pairs = (Env ?? []).map((text) => {
    const end = text.indexOf("=");
    return [text.slice(0, Math.max(end, 0)), text.slice(end + 1)] as const;
  });
  const valid = pairs.filter(([name, value]) => /^[A-Za-z_]\w*$/.test(name) && !value.includes("\0"));
  const environment = Object.fromEntries(valid);
  if (Buffer.byteLength(JSON.stringify(environment)) > mostVariableBytes)
    throw invalidImage(`The image's variables take more than ${mostVariableBytes / 1024} KiB.`);
  const parts = (WorkingDir ?? "").split("/").filter(Boolean);
  if (parts.includes("..") || WorkingDir?.includes("\0"))
    throw invalidImage("The image's working directory has an invalid path.");
  // An image that sets none has "/": its programs start where those of other sandboxes do.
  const workdir = parts.length === 0 ? "/workspace" : `/${parts.join("/")}`;
  const user = (User ?? "").split(":")[0] ?? "";
  const differences = [
    ...(user === "" || user === "root" || user === "0"
      ? []
      : [
          "The image's user is not taken over: a sandbox has one user, who may read and write all of its files.",
        ]),
    ...((Entrypoint ?? []).length + (Cmd ?? []).length > 0
      ? ["The image's entrypoint and command are not started."]
      : []),
    ...(valid.length === pairs.length
      ? []
      : ["Some of the image's variables have no valid name and are left out."]),
    ...(leftOut === 0 ? [] : [`${leftOut} device files and named pipes of the image are left out.`]),
  ];
  return { environment, workdir, differences };
}
