/** Passes the log messages of another MCP server on to the client, while a call to that server runs. */
import type { ServerContext } from "@modelcontextprotocol/server";
import { cutMiddle } from "../results/output-limit.js";
import type { LogMessage } from "../servers/running-server.js";

/** Messages of one call, and bytes of one message: a server may send any number. */
const mostMessages = 500;
const mostBytes = 10_000;

/** Sends messages to the client that made the call, if it asked for messages of their level. */
export function relayedLog({ mcpReq }: ServerContext): (message: LogMessage) => void {
  let count = 0;
  return ({ data, level, logger }) => {
    count += 1;
    if (count > mostMessages + 1) return;
    const sent =
      count > mostMessages
        ? mcpReq.log("warning", "Further messages are left out.")
        : mcpReq.log(level, shown(data), logger);
    // Ignore an error: the client may have disconnected, and the call must not fail because of that.
    sent.catch(() => undefined);
  };
}

function shown(data: unknown): unknown {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  const { text: cut } = cutMiddle(text, mostBytes);
  return cut === text ? data : cut;
}
