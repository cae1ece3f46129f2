/** How this process uses a runtime. */
export interface RuntimeOptions {
  /** Whether machines may be started on a CPU that there is no system call filter for. Default: no. */
  readonly withoutSystemCallFilter?: boolean;
  /** Whether code is root inside its machine. Only bubblewrap has this, and only when root started this process. Default: no. */
  readonly rootInside?: boolean;
  /** Whether machines that run keep this process from ending. Default: yes. */
  readonly holdsProcess?: boolean;
  /** The images of the docker runtime's machines; the first is the default. Default: see `docker-probe.ts`. */
  readonly dockerImages?: readonly string[] | undefined;
  /** Receives lines for people to read. Default: nothing is logged. */
  readonly log?: ((message: string) => void) | undefined;
}
