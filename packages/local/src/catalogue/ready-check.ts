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

/**
 * A process has the name of its program's file, that of its first argument, and that of a script. What starts as `python` may be
 * called `python3.11`. The agent and what it has started are left out: this check, and an interpreter that waits for code, which may
 * start others before.
 */
const processScript = `exec 2>/dev/null
is_own() {
  local pid=$1 key value
  until [ "$pid" = "$PPID" ]; do
    [ "$pid" -gt 1 ] || return 1
    value=
    while read -r key value _ && [ "$key" != PPid: ]; do :; done <"/proc/$pid/status"
    pid=$value
    [ -n "$pid" ] || return 0
  done
}
for process in /proc/[0-9]*; do
  is_own "\${process#/proc/}" && continue
  [ "$(cat "$process/comm")" = "$(printf %.15s "$CHECK")" ] && exit 0
  for name in "$(tr '\\0' '\\n' <"$process/cmdline" | head -n 1)" "$(readlink "$process/exe")"; do
    name=\${name##*/}
    name=\${name%% *}
    case $name in
      "$CHECK"*) case \${name#"$CHECK"} in *[!0-9.]*) ;; *) exit 0 ;; esac ;;
    esac
  done
done
exit 1`;

const scripts: Readonly<Record<WireCheck["type"], string>> = {
  port: '(exec 3<>"/dev/tcp/127.0.0.1/$CHECK") 2>/dev/null',
  url: `node -e 'fetch(process.env.CHECK, { signal: AbortSignal.timeout(5000) }).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))'`,
  file: 'test -e "$CHECK"',
  process: processScript,
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
