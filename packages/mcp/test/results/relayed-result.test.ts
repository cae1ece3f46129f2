import { expect, it } from "vitest";
import { relayedContents, relayedResult } from "../../src/results/relayed-result.js";

const place = { server: "docs", isStructured: false };
const text = (value: string) => ({ type: "text" as const, text: value });

it("passes a result on as it is, marked as somebody else's words", () => {
  const given = {
    content: [
      text("one"),
      { type: "image" as const, data: "aGk=", mimeType: "image/png" },
      { type: "resource" as const, resource: { uri: "demo://1", text: "inside" } },
    ],
    structuredContent: { n: 1 },
    isError: true,
    _meta: { theirs: 1 },
  };
  expect(relayedResult(given, place)).toEqual({
    ...given,
    _meta: { theirs: 1, "io.github.cloud-sandbox/untrusted-content": true },
  });
});

it("makes links lead to this server, which asks theirs", () => {
  const link = { type: "resource_link" as const, name: "a", uri: "demo://x/1?y=2" };
  expect(relayedResult({ content: [link] }, place).content).toEqual([
    { ...link, uri: "mcp-server://docs/demo%3A%2F%2Fx%2F1%3Fy%3D2" },
  ]);
});

it("cuts long texts, and says of other parts that they are left out", () => {
  const content = [
    text("x".repeat(90_000)),
    text("y".repeat(90_000)),
    { type: "image" as const, data: "a".repeat(5_000_000), mimeType: "image/png" },
  ];
  const [first, second, third] = relayedResult({ content }, place).content;
  expect(first).toEqual(content[0]);
  expect(second).toMatchObject({ text: expect.stringMatching(/8\d{4} of 90000 bytes left out/) });
  expect(third).toEqual(text("[image of 5000000 characters is left out: ask for a smaller one]"));
});

it("leaves a structured result out that is too large, and fails where clients rely on it", () => {
  const given = { content: [text("short")], structuredContent: { data: "x".repeat(200_000) } };
  const shown = relayedResult(given, place);
  expect(shown.structuredContent).toBeUndefined();
  expect(shown.content).toEqual([
    text("short"),
    text(expect.stringMatching(/has 2\d{5} bytes.*ask for less/)),
  ]);
  expect(relayedResult(given, { ...place, isStructured: true })).toMatchObject({ isError: true });
});

it("leaves out what is hidden in names and notes", () => {
  const long = "x".repeat(200_000);
  const link = { type: "resource_link" as const, name: "a", uri: "demo://1", description: long };
  const noted = { ...text("short"), _meta: { text: long } };
  const shown = relayedResult({ content: [link, noted, text("kept")], _meta: { long } }, place);
  expect(shown._meta).toEqual({ "io.github.cloud-sandbox/untrusted-content": true });
  expect(shown.content).toEqual([
    text(expect.stringMatching(/^\[resource_link with 200\d{3} bytes of names and notes is left out\]$/)),
    text(expect.stringMatching(/^\[text with 200\d{3} bytes/)),
    text("kept"),
  ]);
});

it("cuts what a resource contains", () => {
  const contents = [
    { uri: "demo://1", text: "y".repeat(4_900_000) },
    { uri: "demo://2", blob: "a".repeat(5_000_000) },
    { uri: "demo://3", blob: "aGk=" },
  ];
  expect(relayedContents(contents, "docs")).toEqual([
    { uri: "demo://1", text: expect.stringMatching(/90\d{4} of 4900000 bytes left out/) },
    { uri: "demo://2", text: "[resource of 5000000 characters is left out: ask for a smaller one]" },
    contents[2],
  ]);
});
