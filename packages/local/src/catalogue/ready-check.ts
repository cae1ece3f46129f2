import type { ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import { invalidBuild } from "@cloud-sandbox/server-kit/handlers";

/** How to find out, inside a machine, whether the program started by a template is ready. */
export interface ReadyCheck {
  /** Name of the check for people, for example `port 8000`. */
  readonly description: string;
  /** A bash script that exits with 0 once the program is ready. {@link value} is in its `$CHECK`. */
  readonly script: string;
  readonly value: string;
  readonly timeoutMs: number;
  readonly intervalMs: number;
}

const defaultTimeoutMs = 30_000;
const defaultIntervalMs = 500;
const longestTimeoutMs = 10 * 60_000;

type WireCheck = ControlPlaneSchemas["ReadyCheck"];

const scripts: Readonly<Record<WireCheck["type"], string>> = {
  port: '(exec 3<>"/dev/tcp/127.0.0.1/$CHECK") 2>/dev/null',
  url: `node -e 'fetch(process.env.CHECK, { signal: AbortSignal.timeout(5000) }).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))'`,
  file: 'test -e "$CHECK"',
  process: 'grep -lsxF -- "$(printf %.15s "$CHECK")" /proc/[0-9]*/comm >/dev/null',
  command: 'bash -c "$CHECK" >/dev/null 2>&1',
};

export function readyCheck(check: WireCheck): ReadyCheck {
  const value = {
    port: check.port?.toString(),
    url: check.url,
    file: check.path,
    process: check.name ?? check.processName,
    command: check.command,
  }[check.type];
  if (value === undefined || value === null || value === "")
    throw invalidBuild(
      `readyCmd of type ${check.type} needs the field ${check.type}, which names what to check.`,
    );
  return {
    description: `${check.type} ${value}`,
    script: scripts[check.type],
    value,
    timeoutMs: Math.min(check.timeout ?? defaultTimeoutMs, longestTimeoutMs),
    intervalMs: check.interval ?? defaultIntervalMs,
  };
}
