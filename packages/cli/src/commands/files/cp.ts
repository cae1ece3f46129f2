import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { examples } from "../../command-line/subcommand.js";
import { CommandError } from "../../errors/command-error.js";
import { Copying } from "./copy.js";
import { type PathArgument, pathArgument } from "./path-argument.js";

export function define(command: Command): void {
  command
    .usage("[options] <source...> <target>")
    .argument("<source...>", "paths on this machine, or ID:path in a sandbox; - is standard input or output")
    .action(
      action<object, [string[]]>(async ({ output, signal, ...call }, paths) => {
        const sources = paths.slice(0, -1);
        const target = paths.at(-1);
        if (target === undefined || sources.length === 0)
          throw new CommandError("USAGE", "There is no target.", "Give what to copy, and where to.");
        const to = pathArgument(target);
        const from = sources.map(pathArgument);
        const ids = new Set([...from, to].flatMap((each) => ("sandbox" in each ? [each.sandbox] : [])));
        const [id] = ids;
        const isUpload = "sandbox" in to;
        if (id === undefined || ids.size > 1 || from.some((each) => "sandbox" in each === isUpload))
          throw new CommandError(
            "USAGE",
            "One side must be in a sandbox, and the other on this machine.",
            "Write the sandbox's side as ID:path.",
          );
        const sandbox = await call.sandbox(id);
        const copying = new Copying(sandbox, output, signal);
        let isWhole = true;
        for (const [index, each] of from.entries()) {
          const source = sources[index] ?? "";
          const destination = several(from, to, isUpload);
          const { path, skipped } = isUpload
            ? await copying.upload(localOf(each), destination)
            : await copying.download(remoteOf(each), destination);
          for (const entry of skipped)
            output.warn(`${source}/${entry.path} was not copied: ${entry.reason}.`);
          isWhole &&= skipped.every(({ isLink }) => isLink);
          const left = skipped.length > 0 && { skipped };
          if (path !== "-")
            output.done(`${source} → ${isUpload ? `${id}:` : ""}${path}`, { source, path, ...left });
        }
        return isWhole ? 0 : incomplete;
      }),
    );
  examples(
    command,
    "cloud-sandbox cp data.csv ID:/workspace/",
    "cloud-sandbox cp ID:/workspace/results ./results",
    "pg_dump db | cloud-sandbox cp - ID:/workspace/dump.sql",
  );
}

/** Exit code when some content of a directory could not be copied, as that of cp(1). */
const incomplete = 1;

/** The target. Several sources need a directory. */
function several(from: readonly PathArgument[], to: PathArgument, isUpload: boolean): string {
  const path = isUpload ? remoteOf(to) : localOf(to);
  return from.length > 1 && path !== "-" && !path.endsWith("/") ? `${path}/` : path;
}

function localOf(at: PathArgument): string {
  return "local" in at ? at.local : "";
}

function remoteOf(at: PathArgument): string {
  return "sandbox" in at ? at.path : "";
}
