/** The numeric user and group ids that the sandbox's programs run as. */
export interface ProgramIdentity {
  readonly uid: number;
  readonly gid: number;
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
  process.setegid(identity.gid);
  process.seteuid(identity.uid);
  programs = identity;
}

/**
 * The user and group for `spawn`. Spread this into the options of every call: otherwise the program would have the
 * agent's privileges.
 */
export function programIdentity(): Partial<ProgramIdentity> {
  return programs ?? {};
}
