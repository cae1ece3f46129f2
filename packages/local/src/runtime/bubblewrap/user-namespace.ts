import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { MachineUids } from "../host/uid-lease.js";

const run = promisify(execFile);

/** The uids inside a machine: `agent` is that of the init and the agent, `code` that of the programs they start. */
export const uidInside = { agent: 0, code: 1000 } as const;

/** Process 1 of a machine or program. */
export interface Init {
  /** Its process id on the host. */
  readonly pid: number;
  /** The inode of its network namespace. */
  readonly network: number | undefined;
}

/** Reads what bubblewrap reports about process 1. Undefined if bubblewrap ended before it started process 1. */
export async function readInit(information: Readable): Promise<Init | undefined> {
  return initIn(await text(information).catch(() => ""));
}

/** Process 1 as a text of bubblewrap names it. Undefined if the text does not. */
export function initIn(report: string): Init | undefined {
  try {
    const reported = JSON.parse(report) as Record<string, number | undefined>;
    const { "child-pid": pid, "net-namespace": network } = reported;
    return pid === undefined ? undefined : { pid, network };
  } catch {
    // The pipe closed without a pid: bubblewrap ended before it had started anything.
    return undefined;
  }
}

/** The host's process id of a machine's process 1. Undefined if bubblewrap ended before it started process 1. */
export const readInitPid = async (information: Readable) => (await readInit(information))?.pid;

/**
 * Maps a machine's two uids and then lets bubblewrap, which waits at `gate`, continue as the first of them. Both uids are
 * mapped in one write from outside the machine, because a process inside may map only its own uid.
 *
 * Resolves once the machine can make no further user namespaces. bubblewrap's own option for that would leave the machine
 * with one uid.
 */
export async function mapUids(init: number, uids: MachineUids, gate: Writable): Promise<void> {
  const map = `${uidInside.agent} ${uids.agent} 1\n${uidInside.code} ${uids.code} 1\n`;
  // Write synchronously, which is faster: bubblewrap waits for the mapping, and a write to /proc does not block.
  for (const name of ["uid_map", "gid_map"]) writeFileSync(`/proc/${init}/${name}`, map);
  gate.end("\n");
  const inside = ["--target", String(init), "--user"];
  const close = "echo 0 > /proc/sys/user/max_user_namespaces";
  await run("nsenter", [...inside, "/bin/sh", "-c", close], { cwd: "/" });
}

/**
 * Options of `setpriv`: the command after them may start programs as another uid, and those programs inherit no capability.
 * Only uid 0 keeps capabilities when it executes a program, and inside a machine only the init and the agent have uid 0.
 */
export const separation: readonly string[] = [
  ...["--securebits", "+no_setuid_fixup,+no_setuid_fixup_locked"],
  ...["--inh-caps", "-all", "--ambient-caps", "-all", "--bounding-set", "-all,+setuid,+setgid"],
];
