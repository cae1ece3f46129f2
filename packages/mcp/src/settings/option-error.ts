/** An option of the command line or of the environment has a wrong value. The message says what to give. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}
