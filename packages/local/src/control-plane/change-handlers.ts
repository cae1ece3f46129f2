import { setImmediate } from "node:timers/promises";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { type Handlers, Problem } from "@cloud-sandbox/server-kit";
import { changeOnWire, requireWholePath, sinceTemplate } from "@cloud-sandbox/server-kit/changes";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { bytePathOf, textOf } from "../changes/byte-path.js";
import { type CopiedDirectories, copyOf, copyWith, hasCopy } from "../changes/copied-directories.js";
import type { Change } from "../changes/tree-comparison.js";
import type { KeyFleet } from "../sandboxes/key-fleet.js";
import type { SandboxFleet } from "../sandboxes/sandbox-fleet.js";
import type { SandboxRecord } from "../sandboxes/sandbox-record.js";

/** The operations on what code has changed in sandboxes, for one API key. */
export function changeHandlers(
  fleet: KeyFleet,
  copies: CopiedDirectories,
  { baselines, between }: Pick<SandboxFleet, "baselines" | "between">,
) {
  return {
    listChanges: async ({ params, query, requestId, signal }) => {
      const sandbox = fleet.get(params.id);
      const since = query.since ?? (hasCopy(sandbox) ? undefined : sinceTemplate);
      if (since !== undefined && !since.startsWith("/")) {
        const compared = await baselines.changes(sandbox, { since, signal });
        const data = await changesOnWire(compared.changes, "");
        return { object: "list", data, since: compared.since, compared: "times", request_id: requestId };
      }
      const mount = copyOf(sandbox, since);
      const { target } = mount;
      const changes = await copies.changes(sandbox, mount, signal);
      const data = await changesOnWire(changes, `${target}/`);
      return { object: "list", data, since: target, compared: "content", request_id: requestId };
    },

    getDiff: async ({ params, query, requestId, signal }) => {
      const sandbox = fleet.get(params.id);
      const { path } = query;
      requireWholePath(path);
      const since = query.since ?? copyWith(sandbox, path)?.target ?? sinceTemplate;
      const mount = since.startsWith("/") ? copyOf(sandbox, since) : undefined;
      if (mount && !path.startsWith(`${mount.target}/`)) throw notBelow(mount.target);
      if (!mount) requireUnmounted(sandbox, path);
      const { diff, omitted } = mount
        ? await copies.diff(sandbox, mount, bytePathOf(path.slice(mount.target.length + 1)))
        : await baselines.diff(sandbox, bytePathOf(path), { since, signal });
      return { path, diff, ...(omitted && { omitted }), request_id: requestId };
    },

    applyChanges: async ({ params, body, requestId, signal }) => {
      const sandbox = fleet.get(params.id);
      const mount = copyOf(sandbox, body.since);
      const { target } = mount;
      const refused: ControlPlaneSchemas["Applied"][] = [];
      const accepted = body.paths?.flatMap(({ path, ...reviewed }) => {
        if (path.startsWith(`${target}/`))
          return { ...reviewed, path: bytePathOf(path.slice(target.length + 1)) };
        refused.push({ path, status: "refused", reason: `it is not below ${target}` });
        return [];
      });
      // Callers ask with no paths whether there is a copy to apply to.
      const results =
        accepted?.length === 0
          ? []
          : await between(sandbox, () =>
              copies.apply(sandbox, mount, { accepted, check: body.check ?? false, signal }),
            );
      const applied = results.map((result) => ({ ...result, path: `${target}/${textOf(result.path)}` }));
      const data = [...applied, ...refused].sort((one, other) => (one.path < other.path ? -1 : 1));
      return { object: "list", data, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown>;
}

async function changesOnWire(
  changes: readonly Change[],
  prefix: string,
): Promise<ControlPlaneSchemas["Change"][]> {
  const data: ControlPlaneSchemas["Change"][] = [];
  for (const [index, { target, ...change }] of changes.entries()) {
    // Code decides how many and how long they are: let other requests in between.
    if (index % 500 === 499) await setImmediate();
    const link = target !== undefined && { target: textOf(target) };
    data.push(changeOnWire({ ...change, ...link, path: textOf(change.path) }, prefix));
  }
  return data;
}

const notBelow = (target: string): Problem =>
  new Problem(400, "INVALID_REQUEST", `The path is not below ${target}.`, {
    hint: `Name a file below ${target}, or leave since out.`,
  });

/** Throws a 400 problem if something is mounted at or above a path: it is no part of the sandbox. */
function requireUnmounted({ mounted }: SandboxRecord, path: string): void {
  const mount = mounted.find(({ target }) => `${path}/`.startsWith(`${target}/`));
  if (!mount) return;
  throw new Problem(400, "INVALID_REQUEST", `${mount.target} is mounted, and not part of what is compared.`, {
    hint: "Name a file elsewhere, or one below a copy of a directory without since.",
  });
}
