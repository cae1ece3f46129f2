/** The caller gave something this tool cannot work with; the message names it and the way out. */
export class InvalidArgumentsError extends Error {
  override readonly name = "InvalidArgumentsError";
}
