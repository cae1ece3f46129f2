import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { type MachineUids, rangeSize } from "../host/uid-lease.js";

const run = promisify(execFile);

/** The uids inside a machine: `agent` is that of the init and the agent, `code` that of the programs they start. */
const pairInside = { agent: 0, code: 1000 } as const;
/** The same where code is root inside. The agent has the last uid of the range, which no package gives to a user. */
const rangeInside = { agent: rangeSize - 1, code: 0 } as const;

/** The uids of a machine: that of the user who runs this process, two of its own, or a range of its own, in which code is root. */
export type Identities = "user" | "pair" | "range";

export function identitiesOf(uids: MachineUids | undefined): Identities {
  if (uids === undefined) return "user";
  return uids.isRange ? "range" : "pair";
}

export function uidsInside(identities: Identities): { readonly agent: number; readonly code: number } {
  return identities === "range" ? rangeInside : pairInside;
}

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
 * Maps a machine's uids and then lets bubblewrap, which waits at `gate`, continue as the agent's. All uids are mapped in
 * one write from outside the machine, because a process inside may map only its own uid.
 *
 * Resolves once the machine can make no further user namespaces. bubblewrap's own option for that would leave the machine
 * with one uid.
 */
export async function mapUids(init: number, uids: MachineUids, gate: Writable): Promise<void> {
  const map = uids.isRange
    ? `0 ${uids.code} ${rangeSize}\n`
    : `${pairInside.agent} ${uids.agent} 1\n${pairInside.code} ${uids.code} 1\n`;
  // Write synchronously, which is faster: bubblewrap waits for the mapping, and a write to /proc does not block.
  for (const name of ["uid_map", "gid_map"]) writeFileSync(`/proc/${init}/${name}`, map);
  gate.end("\n");
  const inside = ["--target", String(init), "--user"];
  const close = "echo 0 > /proc/sys/user/max_user_namespaces";
  await run("nsenter", [...inside, "/bin/sh", "-c", close], { cwd: "/" });
}

/**
 * The capabilities that code has where it is root inside: those with which package managers give files to users and start
 * services. They reach only files and processes of the machine's own uids, and the machine's own ports. Whatever else root
 * may do (mount, networks, devices, tracing, modules) is left out.
 */
export const rootCapabilities: readonly string[] = [
  ...["chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "net_bind_service"],
];

/**
 * Options of `setpriv`: the command after them may start programs as another uid, and those programs inherit no capability.
 * Only uid 0 keeps capabilities when it executes a program, and inside a machine only the init and the agent have uid 0.
 */
export const separation: readonly string[] = [
  ...["--securebits", "+no_setuid_fixup,+no_setuid_fixup_locked"],
  ...["--inh-caps", "-all", "--ambient-caps", "-all", "--bounding-set", "-all,+setuid,+setgid"],
];
