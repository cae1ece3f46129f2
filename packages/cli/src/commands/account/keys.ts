import type { Command } from "commander";
import { action } from "../../command-line/action.js";
import { keyLifetime, wholeNumber } from "../../command-line/option-values.js";
import { examples, subcommand } from "../../command-line/subcommand.js";
import { answered } from "../../connection/answered.js";
import { CommandError } from "../../errors/command-error.js";
import type { Column } from "../../output/table.js";
import { moment } from "../sandbox/sandbox-view.js";

interface CreateOptions {
  readonly name: string;
  readonly maxSandboxes?: number;
  readonly expires?: number;
  readonly priorityClass?: string;
}

interface Key {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly sandboxes: number;
  readonly programs: number;
  readonly max_sandboxes?: number;
  readonly priority_class?: string;
  readonly expires_at?: string;
  readonly last_used_at?: string;
}

const at = (time: string | undefined) => (time === undefined ? undefined : moment(new Date(time)));
const columns: readonly Column<Key>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "ID", value: ({ id }) => id, isWhole: true },
  { title: "STATUS", value: ({ status }) => status },
  { title: "SANDBOXES", value: ({ sandboxes }) => sandboxes },
  { title: "PROGRAMS", value: ({ programs }) => programs },
  { title: "LIMIT", value: ({ max_sandboxes }) => max_sandboxes },
  { title: "EXPIRES", value: ({ expires_at }) => at(expires_at) },
  { title: "LAST USED", value: ({ last_used_at }) => at(last_used_at) },
];
/** Only for servers on Kubernetes. */
const classColumn: Column<Key> = { title: "PRIORITY CLASS", value: ({ priority_class }) => priority_class };

export function define(command: Command): void {
  const create = subcommand(command, "create", "create a key of the server, which is shown this once")
    .requiredOption("--name <name>", "name of the key, for lists and logs")
    .option("--max-sandboxes <count>", "sandboxes and programs it may have at a time", wholeNumber(1, 10_000))
    .option("--expires <time>", "when it ends, as in 12h or 90d; default: never", keyLifetime)
    .option(
      "--priority-class <name>",
      "PriorityClass of its sandboxes' Pods, whose ResourceQuota then limits it; for servers on Kubernetes",
    )
    .action(
      action<CreateOptions>(async ({ options, output, server, signal }) => {
        const { name, maxSandboxes, expires, priorityClass } = options;
        const body = {
          name,
          ...(maxSandboxes !== undefined && { max_sandboxes: maxSandboxes }),
          ...(expires !== undefined && { expires_in_seconds: expires }),
          ...(priorityClass !== undefined && { priority_class: priorityClass }),
        };
        const key = answered(known(await (await server()).controlPlane.POST("/v1/keys", { body, signal })));
        if (output.isJson) return output.json(key);
        output.note("the server keeps only a hash of this key and does not show it again.");
        output.line(key.key);
      }),
    );
  examples(create, "cloud-sandbox keys create --name ci --max-sandboxes 20 --expires 90d");
  subcommand(command, "list", "list the server's keys and what they use, newest first")
    .option("--revoked", "revoked keys too")
    .action(
      action<{ readonly revoked?: boolean }>(async ({ options, output, server, signal }) => {
        const params = { query: { revoked: options.revoked ?? false } };
        const { data } = answered(
          known(await (await server()).controlPlane.GET("/v1/keys", { params, signal })),
        );
        const hasClasses = data.some(({ priority_class }) => priority_class !== undefined);
        const shown = hasClasses ? [...columns, classColumn] : columns;
        await output.table<Key>(data, shown, "no keys but the server's own.");
      }),
    );
  subcommand(command, "revoke <key>", "refuse a key, by its name or id, from now on").action(
    action<object, [string]>(async ({ output, server, signal }, id) => {
      const params = { path: { id } };
      const key = answered(
        known(await (await server()).controlPlane.DELETE("/v1/keys/{id}", { params, signal })),
      );
      const left = key.sandboxes === 0 ? "" : ` It has left ${key.sandboxes} sandboxes.`;
      output.done(`${key.name} (${key.id}) is revoked.${left}`, key);
    }),
  );
}

/** The answer, unless the server has no operations on keys. */
function known<Answer extends { readonly error?: unknown }>(answer: Answer): Answer {
  if (Object(answer.error).code !== "NOT_FOUND") return answer;
  throw new CommandError(
    "KEYS_UNAVAILABLE",
    "This server has no operations on keys.",
    "Use a server that is started with cloud-sandbox serve, or manage the keys on the cloud's own pages.",
  );
}
