/** Thrown when a program was not started: it has done nothing, and can be run in another way. */
export class ProgramNotStarted extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The program was not started: ${reason}`, options);
    this.name = "ProgramNotStarted";
  }
}

/** Thrown for a program that cannot be run without an agent here, though nothing is wrong. */
export class ProgramNeedsAgent extends ProgramNotStarted {
  constructor(reason: string) {
    super(reason);
    this.name = "ProgramNeedsAgent";
  }
}
