import { CommandError } from "../../errors/command-error.js";

/** A path in a sandbox. */
export interface RemotePlace {
  readonly sandbox: string;
  readonly path: string;
}

/** A place that a person names: `ID:path` in a sandbox, a path on this machine, or `-`. */
export type Place = RemotePlace | { readonly local: string };

/** Reads a place. A local path with a colon is written as `./a:b`. */
export function place(text: string): Place {
  const [, sandbox, path] = /^([^/:]+):(.*)$/s.exec(text) ?? [];
  if (sandbox === undefined || path === undefined) return { local: text };
  return { sandbox, path: path === "" ? "/workspace" : path };
}

/** Reads a place in a sandbox. The path may be left out: it is then /workspace. */
export function remotePlace(text: string): RemotePlace {
  const read = place(text.includes(":") ? text : `${text}:`);
  if ("sandbox" in read) return read;
  throw new CommandError("USAGE", `"${text}" is not a path in a sandbox.`, "Write it as ID:path.");
}
