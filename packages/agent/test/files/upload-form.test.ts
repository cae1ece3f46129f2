import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { brokenOff, type IncomingFile, receiveForm } from "../../src/files/upload-form.js";

type Request = Parameters<typeof receiveForm>[0];

const boundary = "b0undary";
const contentType = `multipart/form-data; boundary=${boundary}`;
const part = (disposition: string, content: string, ...headers: string[]): string =>
  [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...headers, "", content, ""].join(
    "\r\n",
  );
const file = (name: string, content: string): string => part(`name="file"; filename="${name}"`, content);
const field = (name: string, value: string): string => part(`name="${name}"`, value);
const end = `--${boundary}--\r\n`;

/** A request with a form as its body. The test writes the body. */
function asking(type: string | undefined = contentType): PassThrough & Request {
  const stream = new PassThrough();
  return Object.assign(stream, { headers: type === undefined ? {} : { "content-type": type } }) as never;
}

function sent(...parts: string[]): PassThrough & Request {
  const request = asking();
  request.end(parts.join("") + end);
  return request;
}

const stored = async ({ name, path, bytes }: IncomingFile) => ({ name, path, content: await text(bytes) });

const malformed = expect.objectContaining({
  status: 400,
  code: "INVALID_REQUEST",
  message: expect.stringContaining("not a complete multipart/form-data form"),
});

describe("a form", () => {
  test.each([
    ["the path behind the file", [file("f.txt", "1"), field("path", "a/b")], undefined, "a/b"],
    ["the path before it", [field("path", "a/b"), file("f.txt", "1")], "a/b", "a/b"],
    ["no path", [file("f.txt", "1")], undefined, undefined],
    ["an empty path", [field("path", ""), file("f.txt", "1")], undefined, undefined],
    [
      "an empty path before another",
      [field("path", ""), file("f.txt", "1"), field("path", "a")],
      undefined,
      "a",
    ],
    [
      "two paths, of which the first counts",
      [field("path", "a"), field("path", "b"), file("f.txt", "1")],
      "a",
      "a",
    ],
    ["another field", [field("mode", "a"), file("f.txt", "1")], undefined, undefined],
  ])("with %s", async (_, parts, known, path) => {
    expect(await receiveForm(sent(...parts), stored)).toEqual({
      stored: { name: "f.txt", path: known, content: "1" },
      path,
    });
  });

  test.each([
    ["a file by the name of its field", part('name="file"', "1"), ""],
    ["a file by having a name", part('name="other"; filename="f.txt"', "1"), "f.txt"],
    ["a file that is text", part('name="file"; filename="f.txt"', "1", "Content-Type: text/plain"), "f.txt"],
  ])("has %s", async (_, one, name) => {
    expect(await receiveForm(sent(one), stored)).toMatchObject({ stored: { name, content: "1" } });
  });

  test("has one file, whatever comes behind it", async () => {
    const names: string[] = [];
    await receiveForm(sent(file("one", "1"), file("two", "2")), async (one) => {
      names.push(one.name);
      return stored(one);
    });
    expect(names).toEqual(["one"]);
  });

  test("may spell its type in capitals", async () => {
    const request = asking(contentType.replace("multipart/form-data", "Multipart/Form-Data"));
    request.end(file("f.txt", "1") + end);
    expect(await receiveForm(request, stored)).toMatchObject({ stored: { content: "1" } });
  });
});

describe("what is refused is", () => {
  test.each([
    ["no form", "text/plain"],
    ["a form of another kind", "application/x-www-form-urlencoded"],
    ["a type that begins like a form's", `multipart/form-database; boundary=${boundary}`],
    ["a type that holds a form's", `text/multipart/form-data; boundary=${boundary}`],
    ["a form without a boundary", "multipart/form-data"],
    ["nothing that says what it is", ""],
  ])("%s", async (_, type) => {
    const request = asking(type);
    request.end(file("f.txt", "1") + end);
    await expect(receiveForm(request, stored)).rejects.toEqual(malformed);
  });

  test("what says nothing of its type", async () => {
    const request = Object.assign(new PassThrough(), { headers: {} }) as never;
    await expect(receiveForm(request, stored)).rejects.toEqual(malformed);
  });

  test("a form without a file", async () => {
    await expect(receiveForm(sent(field("path", "a")), stored)).rejects.toMatchObject({
      status: 400,
      code: "MISSING_PARAMETER",
    });
  });

  test.each([
    ["in its file", file("f.txt", "1").slice(0, -2)],
    ["before its file", field("path", "a")],
  ])("a form that ends %s", async (_, text) => {
    const request = asking();
    request.end(text);
    await expect(receiveForm(request, stored)).rejects.toEqual(malformed);
  });

  test("a form whose connection breaks, and its file then ends in an error", async () => {
    const request = asking();
    request.write(file("f.txt", "x".repeat(1000)));
    let outcome: unknown;
    const received = receiveForm(request, async ({ bytes }) => {
      setImmediate(() => request.destroy(new Error("reset")));
      outcome = await text(bytes).catch((error: unknown) => error);
      throw outcome;
    });
    await expect(received).rejects.toEqual(malformed);
    expect(outcome).toEqual(malformed);
  });
});

describe("storing that fails", () => {
  const broken = new Error("full");

  test("ends the reading of the form, before its end has come", async () => {
    const request = asking();
    request.write(file("f.txt", "x".repeat(1000)).slice(0, -2));
    let bytes: IncomingFile["bytes"] | undefined;
    const received = receiveForm(request, async (one) => {
      bytes = one.bytes;
      throw broken;
    });
    await expect(received).rejects.toBe(broken);
    expect(bytes?.destroyed).toBe(true);
    expect(request.readableFlowing).toBe(false);
  });

  test("is waited for, also where the form is what failed first", async () => {
    const request = asking();
    request.write(file("f.txt", "x".repeat(1000)).slice(0, -2));
    let isCleanedUp = false;
    const received = receiveForm(request, async ({ bytes }) => {
      setImmediate(() => request.destroy(new Error("reset")));
      await text(bytes).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 30));
      isCleanedUp = true;
      throw broken;
    });
    await expect(received).rejects.toEqual(malformed);
    expect(isCleanedUp).toBe(true);
  });
});

test("a file that was still read when its form broke tells that to whoever comes later", async () => {
  const request = asking();
  request.write(file("f.txt", "x".repeat(10)).slice(0, -2));
  let later: Promise<unknown> | undefined;
  const received = receiveForm(request, async ({ bytes }) => {
    setImmediate(() => request.end());
    await new Promise((resolve) => bytes.once("close", resolve));
    later = text(bytes).catch((error: unknown) => error);
    return later;
  });
  await expect(received).rejects.toEqual(malformed);
  expect(await later).toBeInstanceOf(Error);
});

test("an upload that breaks off is told so", () => {
  expect(brokenOff()).toMatchObject({
    status: 400,
    code: "INVALID_REQUEST",
    message: expect.stringContaining("broke off"),
  });
});
