import { executablePath } from "./executable.js";

/** The numeric user and group ids that the sandbox's programs run as. */
export interface ProgramIdentity {
  readonly uid: number;
  readonly gid: number;
  /**
   * Path of a program that takes on these ids and becomes the program of its first argument. Needed where the kernel has no
   * securebits: the agent then has no capability while its effective user is that of the programs.
   */
  readonly launcher?: string;
}

let programs: ProgramIdentity | undefined;

/**
 * Protects the agent from the programs it starts. The agent takes their effective user and group, so that it opens
 * and creates files as they do. Its real and saved ids stay, and by these the kernel decides who may send it signals.
 * The agent's capabilities, which let it start programs as another user, also deny processes with fewer capabilities
 * to change its priority, CPU affinity and limits.
 */
export function separateFromPrograms(identity: ProgramIdentity): void {
  if (!process.setegid || !process.seteuid) throw new Error("runProgramsAs needs Linux.");
  if (identity.launcher !== undefined) process.setgroups?.([]);
  process.setegid(identity.gid);
  process.seteuid(identity.uid);
  programs = identity;
}

/** A call of `spawn`, with the identity of the program among its options. */
interface ProgramCall {
  readonly file: string;
  readonly args: readonly string[];
  readonly identity: { readonly uid?: number; readonly gid?: number };
}

/**
 * Makes a call of `spawn` start a program as the programs' user. Use this for every call: otherwise the program would have the
 * agent's privileges. `env` and `cwd`: those of the call. Throws the error of `spawn` if the program does not exist.
 */
export function asProgram(
  command: string,
  args: readonly string[],
  {
    env = process.env,
    cwd = ".",
  }: { readonly env?: NodeJS.ProcessEnv | undefined; readonly cwd?: string } = {},
): ProgramCall {
  if (!programs) return { file: command, args, identity: {} };
  const { launcher, ...identity } = programs;
  if (launcher === undefined) return { file: command, args, identity };
  const path = executablePath(command, env.PATH ?? "", cwd);
  return { file: launcher, args: [path, command, ...args], identity: {} };
}
