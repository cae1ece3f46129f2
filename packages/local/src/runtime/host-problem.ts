interface HostProblem {
  readonly reason: string;
  readonly fix: string;
}

/** Thrown when no machine can be started because of something on the host, whatever machine is asked for. */
export class HostProblemError extends Error {
  override readonly name = "HostProblemError";

  constructor({ reason, fix }: HostProblem) {
    super(`${reason}: ${fix}`);
  }
}

/** Recognizes a problem of the host in the error output of bubblewrap. Undefined if it is none that is known. */
export function hostProblemIn(errorOutput: string): HostProblem | undefined {
  // ENOTSUPP, which the C library has no text for: the filter could not be compiled.
  if (!/PR_SET_SECCOMP.*\b524\b/.test(errorOutput)) return undefined;
  return {
    reason:
      "this machine's kernel has no memory left for filters of system calls, of which it has one for all programs",
    fix: 'end the program that has installed very many of them, or raise the limit with "sysctl -w net.core.bpf_jit_limit=1073741824"',
  };
}

/** Thrown when a program was not started: it has done nothing, and can be run in a machine instead. */
export class ProgramNotStarted extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The program was not started: ${reason}`, options);
    this.name = "ProgramNotStarted";
  }
}

/** Thrown for a program that needs an agent. Nothing is wrong: the program has to be run in a machine. */
export class ProgramNeedsAgent extends ProgramNotStarted {
  constructor(reason: string) {
    super(reason);
    this.name = "ProgramNeedsAgent";
  }
}
