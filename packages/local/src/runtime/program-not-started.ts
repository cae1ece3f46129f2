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
