import { setImmediate } from "node:timers/promises";
import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { Handlers } from "@cloud-sandbox/server-kit";
import type { ControlPlaneContract } from "@cloud-sandbox/server-kit/control-plane-contract";
import { bytePathOf, textOf } from "../changes/byte-path.js";
import { type CopiedDirectories, copyOf, copyWith } from "../changes/copied-directories.js";
import { isVersionControl, mayRunByItself } from "../changes/special-names.js";
import type { Change } from "../changes/tree-comparison.js";
import type { KeyFleet } from "../sandboxes/key-fleet.js";
import type { SandboxFleet } from "../sandboxes/sandbox-fleet.js";

/** The operations on what code has changed in copies of directories, for one API key. */
export function changeHandlers(
  fleet: KeyFleet,
  copies: CopiedDirectories,
  { between }: Pick<SandboxFleet, "between">,
) {
  return {
    listChanges: async ({ params, query, requestId }) => {
      const sandbox = fleet.get(params.id);
      const mount = copyOf(sandbox, query.since);
      const changes = await copies.changes(sandbox, mount);
      const data: ControlPlaneSchemas["Change"][] = [];
      for (const [index, change] of changes.entries()) {
        // Code decides how many and how long they are: let other requests in between.
        if (index % 500 === 499) await setImmediate();
        data.push(changeOnWire(change, mount.target));
      }
      return { object: "list", data, since: mount.target, compared: "content", request_id: requestId };
    },

    getDiff: async ({ params, query, requestId }) => {
      const sandbox = fleet.get(params.id);
      const { mount, below } = copyWith(sandbox, query.path);
      const { diff, omitted } = await copies.diff(sandbox, mount, below);
      return { path: query.path, diff, ...(omitted && { omitted }), request_id: requestId };
    },

    applyChanges: async ({ params, body, requestId }) => {
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
      const results = await between(sandbox, () =>
        copies.apply(sandbox, mount, { accepted, check: body.check ?? false }),
      );
      const applied = results.map((result) => ({ ...result, path: `${target}/${textOf(result.path)}` }));
      const data = [...applied, ...refused].sort((one, other) => (one.path < other.path ? -1 : 1));
      return { object: "list", data, request_id: requestId };
    },
  } satisfies Handlers<ControlPlaneContract, unknown>;
}

function changeOnWire(change: Change, target: string): ControlPlaneSchemas["Change"] {
  const { path, target: link, hasVersionControl, ...rest } = change;
  return {
    ...rest,
    path: `${target}/${textOf(path)}`,
    ...(link !== undefined && { target: textOf(link) }),
    ...(mayRunByItself(path) && { runs: true }),
    ...((hasVersionControl || isVersionControl(path)) && { version_control: true }),
  } as ControlPlaneSchemas["Change"];
}
