import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { SnapshotFacts } from "../handlers/control-plane/snapshot-handlers.js";
import { Problem } from "../http/problem.js";
import type { FileChange } from "./file-change.js";
import { isVersionControl, mayRunByItself } from "./special-names.js";

/** What `since` is for a comparison with the sandbox's template. */
export const sinceTemplate = "template";

/** A change as callers see it, whose path and target are text. `prefix`: what comes before the path. */
export function changeOnWire(
  { hasVersionControl, ...change }: FileChange,
  prefix: string,
): ControlPlaneSchemas["Change"] {
  const { path } = change;
  return {
    ...change,
    path: prefix + path,
    ...(mayRunByItself(path) && { runs: true }),
    ...((hasVersionControl || isVersionControl(path)) && { version_control: true }),
  } as ControlPlaneSchemas["Change"];
}

/** The 404 problem of a diff. */
export const noFileToCompare = (): Problem =>
  new Problem(404, "FILE_NOT_FOUND", "There is no such file, in the sandbox or in what it is compared with.");

/** The refusal to apply changes, or to compare with a mount, of a sandbox that has no copy of a directory. */
export const hasNoCopy = (): Problem =>
  new Problem(400, "INVALID_REQUEST", "This sandbox has no copy of a directory.", {
    hint: 'Create the sandbox with a mount of mode "copy". Changes can be applied to such a directory only.',
  });

/** The refusal to compare a sandbox with a snapshot of another one. */
export const snapshotOfOtherSandbox = ({ id, sandboxId }: SnapshotFacts): Problem =>
  new Problem(409, "CONFLICT", `Snapshot ${id} was taken of the sandbox ${sandboxId}, and not of this one.`, {
    hint: 'Compare with a snapshot of this sandbox, or with "template".',
  });

/** The refusal to compare a path that leads somewhere else than it says. */
export const requireWholePath = (path: string): void => {
  const names = path.split("/").slice(1);
  if (path.startsWith("/") && !names.some((name) => name === "" || name === "." || name === "..")) return;
  throw new Problem(400, "INVALID_REQUEST", "The path is not the absolute path of a file.", {
    hint: "Name a file as changes list it, as /workspace/a.txt.",
  });
};
