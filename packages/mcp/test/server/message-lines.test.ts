import { describe, expect, it } from "vitest";
import { MessageLines } from "../../src/server/stdio.js";

const message = (size: number): string =>
  `${JSON.stringify({ jsonrpc: "2.0", method: "a".repeat(size - 30) })}\n`;

/** What MessageLines makes of these chunks, and its answers to what is no message: ids and codes. */
async function read(chunks: string[], longest?: number): Promise<{ text: string; answers: unknown[] }> {
  const answers: unknown[] = [];
  const lines = new MessageLines({
    ...(longest !== undefined && { longest }),
    onRefused: (answer) => answers.push(answer === undefined ? undefined : [answer.id, answer.error.code]),
  });
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  const received: Buffer[] = await lines.toArray();
  return { text: Buffer.concat(received).toString(), answers };
}

describe("messages on stdin", () => {
  it.each<[string, string[]]>([
    ["one a chunk", [message(40), message(50)]],
    ["several in a chunk", [message(40) + message(50)]],
    ["one in many chunks", [...message(40)]],
    ["ends and beginnings together", [`${message(40)}{"json`, 'rpc":"2.0","method":"a"}\n']],
    ["carriage returns", ['{"jsonrpc":"2.0","method":"a"}\r\n']],
    ["answers", ['{"jsonrpc":"2.0","id":1,"result":{}}\n']],
  ])("are passed on: %s", async (_, chunks) => {
    expect(await read(chunks)).toEqual({ text: chunks.join(""), answers: [] });
  });

  it.each<[string, string, unknown[]]>([
    ["words", "hello", [[null, -32_700]]],
    ["half a message", '{"jsonrpc":', [[null, -32_700]]],
    ["an object of another protocol", "{}", [[null, -32_600]]],
    ["a list of no messages", "[1]", [[null, -32_600]]],
    ["an empty list", "[]", [[null, -32_600]]],
    ["null", "null", [[null, -32_600]]],
    ["an empty line", " ", []],
    ["parameters that are text", '{"jsonrpc":"2.0","id":7,"method":"a","params":"b"}', [[7, -32_600]]],
    ["parameters that are a list", '{"jsonrpc":"2.0","id":7,"method":"a","params":[]}', [[7, -32_600]]],
    ["a method that is a number", '{"jsonrpc":"2.0","id":"x","method":5}', [["x", -32_600]]],
    ["a request without a method", '{"jsonrpc":"2.0","id":7}', [[7, -32_600]]],
    ["no version of JSON-RPC", '{"id":7,"method":"ping"}', [[7, -32_600]]],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":7,"method":"ping"}', [[7, -32_600]]],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', [[null, -32_600]]],
    ["an id with a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [[1.5, -32_600]]],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', [[null, -32_600]]],
    ["a notification that is none", '{"jsonrpc":"2.0","method":"a","params":5}', [undefined]],
    ["an answer that is none", '{"jsonrpc":"2.0","id":1,"error":5}', [undefined]],
  ])("are told apart from %s", async (_, line, answers) => {
    expect(await read([message(40), `${line}\n`, message(50)])).toEqual({
      text: message(40) + message(50),
      answers,
    });
  });

  it.each([
    ["null for the parameters", { id: 1, method: "a", params: null }, { id: 1, method: "a" }],
    [
      "null for a parameter",
      { method: "a", params: { b: null, c: [null] } },
      { method: "a", params: { c: [null] } },
    ],
    [
      "null for a member of _meta",
      { id: 1, method: "a", params: { _meta: { progressToken: null, b: 1 } } },
      { id: 1, method: "a", params: { _meta: { b: 1 } } },
    ],
    [
      "arguments that are null",
      { id: 1, method: "tools/call", params: { name: "a", arguments: null } },
      { id: 1, method: "tools/call", params: { name: "a" } },
    ],
  ])("count %s as absent", async (_, given, expected) => {
    const { text, answers } = await read([`${JSON.stringify({ jsonrpc: "2.0", ...given })}\n`]);
    expect({ message: JSON.parse(text), answers }).toEqual({
      message: { jsonrpc: "2.0", ...expected },
      answers: [],
    });
  });

  it.each([
    ['{"b":1}', { b: 1 }],
    ["", {}],
    ["[1]", "[1]"],
    ["words", "words"],
  ])("may have the arguments of a tool as text: %j", async (text, expected) => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "a", arguments: text } };
    const sent = JSON.parse((await read([`${JSON.stringify(message)}\n`])).text);
    expect(sent.params).toEqual({ name: "a", arguments: expected });
  });

  it("may begin with a byte order mark", async () => {
    expect(await read([`\ufeff${message(40)}`])).toEqual({ text: message(40), answers: [] });
  });

  it("may come in a batch, of which each gets what it would get alone", async () => {
    const [one, two] = [message(40), message(50)].map((line) => line.trimEnd());
    expect(await read([`[${one},5,${two}]\n`])).toEqual({
      text: `${one}\n${two}\n`,
      answers: [[null, -32_600]],
    });
  });

  it("may be as long as the limit", async () => {
    expect(await read([message(100), message(100)], 100)).toMatchObject({ answers: [] });
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

  it("say that an id is too large to be kept exactly", async () => {
    const answers: unknown[] = [];
    const lines = new MessageLines({ onRefused: (answer) => answers.push(answer?.error.message) });
    lines.end('{"jsonrpc":"2.0","id":1152921504606846976,"method":"ping"}\n');
    await lines.toArray();
    expect(answers).toEqual([expect.stringContaining("at most 9007199254740991, or text")]);
  });
});
