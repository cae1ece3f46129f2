/** Who the sandbox's programs are, as the kernel numbers them. */
export interface ProgramIdentity {
  readonly uid: number;
  readonly gid: number;
}

let programs: ProgramIdentity | undefined;

/**
 * Puts this process out of the reach of the programs that it starts. From here on it opens and makes files as they do,
 * but its real and saved ids stay what they were, and by those the kernel decides who may signal it. Its capabilities,
 * which let it start programs as somebody else, close the rest (renice, affinity, limits) to everybody who has fewer.
 */
export function separateFromPrograms(identity: ProgramIdentity): void {
  if (!process.setegid || !process.seteuid) throw new Error("runProgramsAs needs Linux.");
  process.setegid(identity.gid);
  process.seteuid(identity.uid);
  programs = identity;
}

/** To be spread into the options of every `spawn`: without it a program would have what the agent may. */
export function programIdentity(): Partial<ProgramIdentity> {
  return programs ?? {};
}
