/** Why there is no connection, in a sentence for whoever asked for it. */
export class EgressProblem extends Error {
  override readonly name = "EgressProblem";

  constructor(
    readonly kind: "malformed" | "refused" | "unresolvable" | "unreachable" | "timeout" | "exhausted",
    message: string,
  ) {
    super(message);
  }
}
