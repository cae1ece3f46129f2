import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Serves the repositories below `root` to git, for reading and writing, with git's own CGI program. */
export function gitBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "https://any.test");
  const { headers, method = "GET" } = request;
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
      REMOTE_USER: "user",
      REQUEST_METHOD: method,
      PATH_INFO: pathname.replace(/^\/git/, ""),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(headers["git-protocol"] ?? ""),
      ...(headers["content-length"] !== undefined && { CONTENT_LENGTH: headers["content-length"] }),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => undefined);
  const pieces: Buffer[] = [];
  const readHead = (piece: Buffer): void => {
    pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) return;
    child.stdout.off("data", readHead);
    for (const line of bytes.subarray(0, end).toString().split("\r\n")) {
      const [name = "", value = ""] = line.split(": ");
      if (name.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(bytes.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on("data", readHead);
}
