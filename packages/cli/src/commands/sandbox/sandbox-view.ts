import type { Sandbox, SandboxRecord } from "cloud-sandbox";
import type { Output } from "../../output/output.js";
import type { Column } from "../../output/table.js";

/** The columns of a list of sandboxes. */
export const sandboxColumns: readonly Column<SandboxRecord>[] = [
  { title: "ID", value: ({ id }) => id, isWhole: true },
  { title: "STATUS", value: ({ status }) => status },
  { title: "TEMPLATE", value: ({ template }) => template },
  { title: "NAME", value: ({ name }) => name },
  { title: "ENDS", value: ({ expiresAt }) => timeUntil(expiresAt), isWhole: true },
];

/** Prints the fields of a sandbox. */
export async function showSandbox(sandbox: Sandbox, output: Output): Promise<void> {
  const record = sandbox.toJSON();
  const { metadata, resources } = record;
  const labels = Object.entries(metadata).map(([label, value]) => `${label}=${value}`);
  await output.record(record, [
    ["id", record.id],
    ["status", record.status],
    ["name", record.name],
    ["template", record.template],
    ["isolation", record.isolation],
    ["internet", { true: "on", false: "off" }[String(record.internetAccess)]],
    ["cpu", resources.vcpu],
    ["memory", resources.memoryMb === undefined ? undefined : `${resources.memoryMb} MiB`],
    ["labels", labels.length === 0 ? undefined : labels.join(" ")],
    ["created", moment(record.createdAt)],
    ["ends", moment(record.expiresAt)],
    ["at end", record.onTimeout],
    ["idle time", record.idleTimeoutSeconds === undefined ? undefined : `${record.idleTimeoutSeconds} s`],
    ["starts", record.autoStart ? "when used" : undefined],
    ["reason", record.stopReason],
    ["failure", record.failureReason],
  ]);
}

/** How long it is until a time, for people: `in 9 min`. */
function timeUntil(date: Date | undefined): string | undefined {
  if (date === undefined) return undefined;
  const seconds = Math.max(0, Math.round((date.getTime() - Date.now()) / 1000));
  const [unit, length] = units.find(([, each]) => seconds >= each) ?? ["s", 1];
  return `in ${Math.round(seconds / length)} ${unit}`;
}

/** The units of a time, and from how many seconds on they are used. */
const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
] as const;

/** Date and time in this machine's time zone, for people. */
export function moment(date: Date | undefined): string | undefined {
  if (date === undefined) return undefined;
  const part = (number: number): string => String(number).padStart(2, "0");
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(part).join("-");
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(part).join(":")}`;
}
