import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CommandError } from "../../errors/command-error.js";

/** How an image in a registry is named, as other tools do. */
export const registryScheme = "docker://";

export interface PulledImage extends AsyncDisposable {
  /** A file as `docker save` writes it. It is removed with this object. */
  readonly path: string;
}

/** Downloads an image from a registry with skopeo, which knows the credentials of `docker login`. */
export async function pulledImage(reference: string, signal: AbortSignal): Promise<PulledImage> {
  const directory = await mkdtemp(join(tmpdir(), "cloud-sandbox-image-"));
  const path = join(directory, "image.tar");
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  // As Docker does, without TLS only from a registry on this machine.
  const isHere = /^(localhost|127\.[\d.]+|\[::1\])(:\d+)?\//.test(reference);
  const source = [...(isHere ? ["--src-tls-verify=false"] : []), `${registryScheme}${reference}`];
  try {
    const args = ["copy", "--quiet", ...source, `docker-archive:${path}`];
    await promisify(execFile)("skopeo", args, { signal });
  } catch (error) {
    await remove();
    signal.throwIfAborted();
    throw refusal(reference, error as NodeJS.ErrnoException & { readonly stderr?: string });
  }
  return { path, [Symbol.asyncDispose]: remove };
}

function refusal(
  reference: string,
  { code, message, stderr = "" }: NodeJS.ErrnoException & { readonly stderr?: string },
): CommandError {
  if (code === "ENOENT")
    return new CommandError(
      "SKOPEO_MISSING",
      "Images are downloaded from registries with skopeo, which is not installed.",
      `Install it with "apt-get install skopeo", or import a file that "docker save ${reference}" has written.`,
    );
  const line = stderr.trim().split("\n").at(-1) ?? "";
  const [, said = line || message] = /msg="((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
  return new CommandError(
    "PULL_FAILED",
    `skopeo could not download ${reference}: ${said.replaceAll(/\\(.)/g, "$1")}.`,
    'Check the name, and log in with "docker login" or "skopeo login" if the image is private.',
  );
}
