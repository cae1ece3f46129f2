/** An option that cannot be honoured, on the command line or in the environment; the message says what to give. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}
