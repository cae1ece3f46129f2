import type { SandboxClient } from "cloud-sandbox";
import { type Command, Option } from "commander";
import { action } from "../../command-line/action.js";
import { wholeNumber } from "../../command-line/option-values.js";
import { subcommand } from "../../command-line/subcommand.js";
import { answered } from "../../connection/answered.js";
import type { Output } from "../../output/output.js";
import type { Column } from "../../output/table.js";
import { moment } from "./sandbox-view.js";

interface ListOptions {
  readonly sandbox?: string | undefined;
  readonly status?: Status | undefined;
  readonly limit: number;
}

const statuses = ["waiting", "pending", "delivered", "failed"] as const;
type Status = (typeof statuses)[number];
const columns: readonly Column<Delivery>[] = [
  { title: "ID", value: ({ id }) => id, isWhole: true },
  { title: "STATUS", value: ({ status }) => status },
  { title: "ATTEMPTS", value: ({ attempts }) => attempts },
  { title: "SANDBOX", value: ({ sandbox_id }) => sandbox_id },
  { title: "URL", value: ({ callback_url }) => callback_url },
  { title: "ERROR", value: ({ error }) => error },
];

export function define(command: Command): void {
  subcommand(command, "list", "list the deliveries of reports on executions, newest first")
    .option("--sandbox <id>", "only those of this sandbox")
    .addOption(new Option("--status <status>", "only those in this state").choices(statuses))
    .option("--limit <count>", "how many to show, the latest", wholeNumber(1, 1000), 100)
    .action(
      action<ListOptions>(async ({ options, output, server, signal }) => {
        const { limit, sandbox, status } = options;
        await output.table(
          await deliveries(await server(), { limit, sandbox, status }, signal),
          columns,
          "no deliveries.",
        );
      }),
    );
  subcommand(command, "get <id>", "show a delivery").action(
    action<object, [string]>(async ({ output, server, signal }, id) => {
      const { controlPlane } = await server();
      const init = { params: { path: { id } }, signal };
      await show(answered(await controlPlane.GET("/v1/webhook-deliveries/{id}", init)), output);
    }),
  );
  subcommand(command, "redeliver <id>", "deliver a report again, after a delivery or a failure").action(
    action<object, [string]>(async ({ output, server, signal }, id) => {
      const { controlPlane } = await server();
      const init = { params: { path: { id } }, signal };
      await show(answered(await controlPlane.POST("/v1/webhook-deliveries/{id}/redeliver", init)), output);
    }),
  );
}

async function deliveries(
  client: SandboxClient,
  { limit, sandbox, status }: ListOptions,
  signal: AbortSignal,
) {
  const query = { limit, ...(sandbox && { sandbox_id: sandbox }), ...(status && { status }) };
  return answered(await client.controlPlane.GET("/v1/webhook-deliveries", { params: { query }, signal }))
    .data;
}

type Delivery = Awaited<ReturnType<typeof deliveries>>[number];

async function show(delivery: Delivery, output: Output): Promise<void> {
  const at = (time: string | undefined): string | undefined => time && moment(new Date(time));
  await output.record(delivery, [
    ["id", delivery.id],
    ["status", delivery.status],
    ["attempts", delivery.attempts],
    ["sandbox", delivery.sandbox_id],
    ["execution", delivery.execution_id],
    ["url", delivery.callback_url],
    ["answer", delivery.response_status],
    ["error", delivery.error],
    ["created", at(delivery.created_at)],
    ["next attempt", at(delivery.next_attempt_at)],
  ]);
}
