import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { MachineUids } from "../host/uid-lease.js";

const run = promisify(execFile);

/** The numbers that they have inside: the init and the agent, and whose code runs. */
export const uidInside = { agent: 0, code: 1000 } as const;

/** The number on the host of a machine's process 1; nothing when there came to be none. */
export async function readInitPid(information: Readable): Promise<number | undefined> {
  try {
    const { "child-pid": pid } = JSON.parse(await text(information)) as { "child-pid"?: number };
    return pid;
  } catch {
    // bubblewrap ended before it had started anything.
    return undefined;
  }
}

/**
 * Gives a machine its two uids and then lets bubblewrap, which waits at `gate`, go on as the first of them. Both have to
 * be written at once, and from outside: inside, a process may map no uid but its own.
 *
 * Resolves when no further user namespace can be made in it. bubblewrap's own way to that would leave it one uid.
 */
export async function mapUids(init: number, uids: MachineUids, gate: Writable): Promise<void> {
  const map = `${uidInside.agent} ${uids.agent} 1\n${uidInside.code} ${uids.code} 1\n`;
  // At once: bubblewrap waits, and these are no files on a disk.
  for (const name of ["uid_map", "gid_map"]) writeFileSync(`/proc/${init}/${name}`, map);
  gate.end("\n");
  const inside = ["--target", String(init), "--user"];
  const close = "echo 0 > /proc/sys/user/max_user_namespaces";
  await run("nsenter", [...inside, "/bin/sh", "-c", close], { cwd: "/" });
}

/**
 * What follows is started as the agent's uid, with the capabilities to start programs as another, and with none that
 * these would inherit: only root has capabilities after it has become another program, and nothing but the agent and the
 * init is that inside.
 */
export const separation: readonly string[] = [
  ...["--securebits", "+no_setuid_fixup,+no_setuid_fixup_locked"],
  ...["--inh-caps", "-all", "--ambient-caps", "-all", "--bounding-set", "-all,+setuid,+setgid"],
];
