/** Why a connection could not be made. The message is sent to the program in the sandbox. */
export class EgressProblem extends Error {
  override readonly name = "EgressProblem";

  constructor(
    readonly kind: "malformed" | "refused" | "unresolvable" | "unreachable" | "timeout" | "exhausted",
    message: string,
  ) {
    super(message);
  }
}
