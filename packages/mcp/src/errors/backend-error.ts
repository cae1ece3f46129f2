/** There is no backend to work with; the message says why and what to do. */
export class BackendError extends Error {
  override readonly name = "BackendError";
}
