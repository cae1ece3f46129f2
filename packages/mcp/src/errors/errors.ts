/** The backend cannot be opened or is closing. The message says why and what to do. */
export class BackendError extends Error {
  override readonly name = "BackendError";
}

/** The tool cannot use an argument of the call. The message names the argument and says what to give. */
export class InvalidArgumentsError extends Error {
  override readonly name = "InvalidArgumentsError";
}

/** One of other people's MCP servers failed, or cannot be used. The message says what to do. */
export class ServerFailure extends Error {
  override readonly name = "ServerFailure";
}
