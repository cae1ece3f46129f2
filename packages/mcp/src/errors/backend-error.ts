/** The backend cannot be opened or is closing. The message says why and what to do. */
export class BackendError extends Error {
  override readonly name = "BackendError";
}
