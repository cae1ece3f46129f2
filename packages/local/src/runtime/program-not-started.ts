/** Thrown when a program was not started: it has done nothing, and can be run in another way. */
export class ProgramNotStarted extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`The program was not started: ${reason}`, options);
    this.name = "ProgramNotStarted";
  }
}
