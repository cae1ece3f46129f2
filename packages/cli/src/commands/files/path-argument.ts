import { CommandError } from "../../errors/command-error.js";

/** A path in a sandbox. */
export interface RemotePath {
  readonly sandbox: string;
  readonly path: string;
}

/** A place that a person names: `ID:path` in a sandbox, a path on this machine, or `-`. */
export type PathArgument = RemotePath | { readonly local: string };

/** Reads a place. A local path with a colon is written as `./a:b`. */
export function pathArgument(text: string): PathArgument {
  const [, sandbox, path] = /^([^/:]+):(.*)$/s.exec(text) ?? [];
  if (sandbox === undefined || path === undefined) return { local: text };
  return { sandbox, path: path === "" ? "/workspace" : path };
}

/** Reads a place in a sandbox. The path may be left out: it is then /workspace. */
export function remotePath(text: string): RemotePath {
  const read = pathArgument(text.includes(":") ? text : `${text}:`);
  if ("sandbox" in read) return read;
  throw new CommandError("USAGE", `"${text}" is not a path in a sandbox.`, "Write it as ID:path.");
}
