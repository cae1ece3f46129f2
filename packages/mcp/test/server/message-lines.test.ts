import { describe, expect, it } from "vitest";
import { MessageLines } from "../../src/server/message-lines.js";

const message = (size: number): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method: "a".repeat(size - 30) })}\n`;

/** What MessageLines makes of these chunks, and how many lines it has ignored. */
async function read(chunks: string[], longest?: number): Promise<{ text: string; ignored: number }> {
  let ignored = 0;
  const lines = new MessageLines({ ...(longest !== undefined && { longest }), onIgnored: () => ignored++ });
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  const received: Buffer[] = await lines.toArray();
  return { text: Buffer.concat(received).toString(), ignored };
}

describe("messages on stdin", () => {
  it.each([
    ["one a chunk", [message(40), message(50)]],
    ["several in a chunk", [message(40) + message(50)]],
    ["one in many chunks", [...message(40)]],
    ["ends and beginnings together", [`${message(40)}{"json`, 'rpc":"2.0"}\n']],
    ["carriage returns", ['{"jsonrpc":"2.0"}\r\n']],
  ])("are passed on: %s", async (_, chunks) => {
    expect(await read(chunks)).toEqual({ text: chunks.join(""), ignored: 0 });
  });

  it.each([
    ["words", "hello", 1],
    ["half a message", '{"jsonrpc":', 1],
    ["an object of another protocol", "{}", 1],
    ["a list", "[1]", 1],
    ["null", "null", 1],
    ["an empty line", " ", 0],
  ])("are told apart from %s", async (_, line, ignored) => {
    expect(await read([message(40), `${line}\n`, message(50)])).toEqual({
      text: message(40) + message(50),
      ignored,
    });
  });

  it("may be as long as the limit", async () => {
    expect(await read([message(100), message(100)], 100)).toMatchObject({ ignored: 0 });
  });

  it.each([
    ["one", [message(101)]],
    ["one that never ends", ["x".repeat(60), "x".repeat(60)]],
  ])("may not be longer: %s", async (_, chunks) => {
    await expect(read(chunks, 100)).rejects.toMatchObject({
      name: "MessageTooLongError",
      message: "a message on stdin is longer than 100 bytes",
    });
  });
});
