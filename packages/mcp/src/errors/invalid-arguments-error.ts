/** The tool cannot use an argument of the call. The message names the argument and says what to give. */
export class InvalidArgumentsError extends Error {
  override readonly name = "InvalidArgumentsError";
}
