import { describe, expect, test } from "vitest";
import { parseCallback } from "../../src/webhooks/callback.js";

const url = "https://example.com/hook?a=b";

describe("a callback", () => {
  test("is accepted as it was given", () => {
    const asked = {
      callback_url: `${url}#fragment`,
      callback_headers: { Authorization: "Bearer x", "x-own": "1" },
      callback_signature_secret: "s",
    };
    expect(parseCallback(asked, false)).toEqual({ url, headers: asked.callback_headers, secret: "s" });
    expect(parseCallback({ callback_url: url }, false)).toEqual({ url, headers: {}, secret: undefined });
  });

  test.each([
    ["a file", "file:///etc/passwd"],
    ["another scheme", "ftp://example.com/"],
    ["no URL", "example.com/hook"],
    ["a private address", "http://10.0.0.1/"],
    ["loopback", "http://127.0.0.1:8080/"],
    ["loopback in another spelling", "http://0x7f.1/"],
    ["loopback in IPv6", "http://[::1]/"],
    ["an IPv4 address in IPv6", "http://[::ffff:10.0.0.1]/"],
    ["the metadata service", "http://169.254.169.254/latest/"],
    ["this machine by name", "http://localhost/"],
    ["this machine by a longer name", "http://a.localhost./"],
    ["a user name that cannot be sent", "https://50%:x@example.com/"],
    ["a password that cannot be sent", "https://user:100%@example.com/"],
  ])("to %s is refused", (_, callback_url) => {
    expect(() => parseCallback({ callback_url }, false)).toThrow(/callback_url/);
  });

  test("to a private address is accepted if that is allowed", () => {
    expect(parseCallback({ callback_url: "http://127.0.0.1:1/" }, true).url).toBe("http://127.0.0.1:1/");
    expect(() => parseCallback({ callback_url: "file:///etc/passwd" }, true)).toThrow(/http or https/);
  });

  test.each([
    ["Connection", "close"],
    ["Transfer-Encoding", "chunked"],
    ["content-length", "1"],
    ["HOST", "example.org"],
    ["Expect", "100-continue"],
    ["X-HOPX-Signature", "sha256=forged"],
    ["x-hopx-timestamp", "0"],
    ["bad name", "1"],
    ["", "1"],
    ["x-smuggled", "1\r\nx-other: 2"],
    ["x-not-ascii", "\u{1F600}"],
    ["x-large", "x".repeat(20_000)],
  ])("with the header %s is refused, in words that do not repeat its value", (name, value) => {
    const refused = () => parseCallback({ callback_url: url, callback_headers: { [name]: value } }, false);
    expect(refused).toThrow(/callback_headers/);
    expect(refused).not.toThrow(value);
  });

  test("is refused with the name of the invalid field", () => {
    const refused = (asked: object): unknown => parseCallback({ callback_url: url, ...asked }, false);
    const field = (name: string): unknown =>
      expect.objectContaining({ status: 400, code: "INVALID_REQUEST", details: { field: name } });
    expect(() => refused({ callback_url: "nonsense" })).toThrow(field("callback_url"));
    expect(() => refused({ callback_headers: { Host: "a" } })).toThrow(field('callback_headers."Host"'));
    const long = "x".repeat(100);
    expect(() => refused({ callback_headers: { [long]: "\n" } })).toThrow(
      field(`callback_headers."${long.slice(0, 80)}"`),
    );
  });

  test("may have headers of 16 KiB in all, and no more", () => {
    const headers = (bytes: number) => ({ a: "x".repeat(100), b: "x".repeat(bytes - 102) });
    const parsed = (bytes: number): unknown =>
      parseCallback({ callback_url: url, callback_headers: headers(bytes) }, false);
    expect(parsed(16 * 1024)).toMatchObject({ headers: headers(16 * 1024) });
    expect(() => parsed(16 * 1024 + 1)).toThrow(/16384 bytes/);
  });

  test.each([
    ...["connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"],
    ...["transfer-encoding", "content-length", "content-encoding", "expect", "host"],
    ...["x-hopx-signature", "x-hopx-timestamp", "x-hopx-delivery"],
  ])("may not set the header %s, which the sender sets", (name) => {
    const refused = (): unknown =>
      parseCallback({ callback_url: url, callback_headers: { [name]: "1" } }, false);
    expect(refused).toThrow(/set by the control plane/);
  });

  test.each([
    "http://localhost.example/",
    "http://notlocalhost/",
    "http://1.1.1.1/",
    "http://[2606:4700::1]/",
    "https://example.com./",
  ])("may go to %s", (callback_url) => {
    expect(parseCallback({ callback_url }, false).url).toBe(callback_url);
  });
});
