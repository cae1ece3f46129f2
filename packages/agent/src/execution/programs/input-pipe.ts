import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { asProgram } from "../../machine/program-identity.js";

/** Milliseconds that the making of a pipe may take: the shell may be a program of the sandbox's that never ends. */
const makeLimit = 5000;

/** Tells its process id, with the read end of a pipe as its descriptor 4, and waits until the agent has opened that pipe. */
const holdPipe = `exec 3<&0; : | sh -c 'exec 4<&0; echo $$; read -r _ <&3'`;

/**
 * A pipe for the standard input of a program. Node connects its children with sockets instead, which cannot be opened again as
 * `/dev/stdin`, and for which bash reads `.bashrc`. A FIFO would not do: opening it again waits for a writer. Only a shell can make a
 * pipe here, and Linux lets others open that one while a process has it.
 */
export interface InputPipe {
  /** The descriptor for the program. The caller closes it. */
  readonly read: number;
  readonly write: Writable;
}

/** Makes a pipe. Undefined if that is not possible: a socket is then the next best. */
export async function makeInputPipe(): Promise<InputPipe | undefined> {
  let child: ReturnType<typeof start> | undefined;
  try {
    child = start();
    const [pid] = (await Promise.race([once(child.stdout, "data"), once(child, "close")])) as unknown[];
    return openPipe(`/proc/${Number(String(pid))}/fd/4`);
  } catch {
    return undefined;
  } finally {
    child?.stdin.destroy();
  }
}

function start() {
  const { file, args, identity } = asProgram("sh", ["-c", holdPipe]);
  const stdio: ["pipe", "pipe", "ignore"] = ["pipe", "pipe", "ignore"];
  const child = spawn(file, args, { ...identity, stdio, timeout: makeLimit, killSignal: "SIGKILL" });
  for (const each of [child, child.stdin, child.stdout]) each.on("error", () => undefined);
  return child;
}

function openPipe(path: string): InputPipe {
  const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
  const read = openSync(path, O_RDONLY);
  try {
    // The shell may be a program of the sandbox's that does something else, so check the result.
    if (!fstatSync(read).isFIFO()) throw new Error("not a pipe");
    const fd = openSync(`/proc/self/fd/${read}`, O_WRONLY | O_NONBLOCK);
    return { read, write: new Socket({ fd, readable: false, writable: true }) };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}
