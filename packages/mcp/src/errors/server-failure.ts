/** One of other people's MCP servers failed, or cannot be used. The message says what to do. */
export class ServerFailure extends Error {
  override readonly name = "ServerFailure";
}
