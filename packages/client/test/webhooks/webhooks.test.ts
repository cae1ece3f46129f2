import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isSandboxError,
  ValidationError,
  verifyWebhook,
  WebhookVerificationError,
  webhookHandler,
} from "../../src/index.js";
import { rejection } from "../support/clients.js";

const secret = "a secret of ours";
const now = (): number => Math.floor(Date.now() / 1000);
const report = {
  execution_id: "exec_1",
  status: "failed",
  stdout: "grüße\n",
  stderr: "",
  exit_code: 3,
  execution_time: 1.5,
  timestamp: "2026-01-02T03:04:05Z",
};
const body = JSON.stringify(report);
const hmac = (text: string, key = secret): string => createHmac("sha256", key).update(text).digest("hex");

function signed(overrides: Record<string, string | undefined> = {}, text = body): Record<string, string> {
  const headers = {
    "X-HOPX-Signature": `sha256=${hmac(text)}`,
    "X-HOPX-Timestamp": String(now()),
    "X-HOPX-Delivery": "delivery_1",
    ...overrides,
  };
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

describe("a signed webhook", () => {
  test.each<[string, string | Uint8Array, () => Parameters<typeof verifyWebhook>[1]]>([
    ["as text", body, () => signed()],
    ["as bytes", new TextEncoder().encode(body), () => signed()],
    ["with headers of fetch", body, () => new Headers(signed())],
    [
      "with headers of Node.js",
      body,
      () => ({
        "x-hopx-signature": [signed()["X-HOPX-Signature"] ?? ""],
        "x-hopx-timestamp": String(now()),
        "x-hopx-delivery": "delivery_1",
      }),
    ],
    ["without the prefix", body, () => signed({ "X-HOPX-Signature": hmac(body).toUpperCase() })],
    [
      "with its timestamp before the body",
      body,
      () => {
        const sentAt = String(now());
        return signed({
          "X-HOPX-Signature": `sha256=${hmac(`${sentAt}${body}`)}`,
          "X-HOPX-Timestamp": sentAt,
        });
      },
    ],
  ])("is accepted %s", async (_, raw, headers) => {
    expect(await verifyWebhook(raw, headers(), secret)).toMatchObject({
      executionId: "exec_1",
      status: "failed",
      success: false,
      stdout: "grüße\n",
      exitCode: 3,
      executionTimeSeconds: 1.5,
      endedAt: new Date("2026-01-02T03:04:05Z"),
      deliveryId: "delivery_1",
    });
  });

  test.each<[string, string, Record<string, string | undefined>, string]>([
    ["without a signature", body, { "X-HOPX-Signature": undefined }, "WEBHOOK_SIGNATURE_MISSING"],
    [
      "signed by another",
      body,
      { "X-HOPX-Signature": `sha256=${hmac(body, "other")}` },
      "WEBHOOK_SIGNATURE_INVALID",
    ],
    ["of another kind of signature", body, { "X-HOPX-Signature": "sha1=abc" }, "WEBHOOK_SIGNATURE_INVALID"],
    [
      "with half a signature",
      body,
      { "X-HOPX-Signature": `sha256=${hmac(body).slice(0, 32)}` },
      "WEBHOOK_SIGNATURE_INVALID",
    ],
    [
      "whose body was changed",
      body.replace("3", "0"),
      { "X-HOPX-Signature": `sha256=${hmac(body)}` },
      "WEBHOOK_SIGNATURE_INVALID",
    ],
    ["of long ago", body, { "X-HOPX-Timestamp": String(now() - 400) }, "WEBHOOK_TIMESTAMP_REFUSED"],
    ["of the future", body, { "X-HOPX-Timestamp": String(now() + 4000) }, "WEBHOOK_TIMESTAMP_REFUSED"],
    ["without a time", body, { "X-HOPX-Timestamp": undefined }, "WEBHOOK_TIMESTAMP_INVALID"],
    ["with a time that is none", body, { "X-HOPX-Timestamp": "yesterday" }, "WEBHOOK_TIMESTAMP_INVALID"],
    [
      "of something else",
      '{"hello":1}',
      { "X-HOPX-Signature": `sha256=${hmac('{"hello":1}')}` },
      "WEBHOOK_PAYLOAD_INVALID",
    ],
    [
      "that is no JSON",
      "hello",
      { "X-HOPX-Signature": `sha256=${hmac("hello")}` },
      "WEBHOOK_PAYLOAD_INVALID",
    ],
  ])("is refused %s", async (_, text, headers, code) => {
    const error = await rejection(verifyWebhook(text, signed(headers), secret));
    expect(error).toBeInstanceOf(WebhookVerificationError);
    expect(error).toMatchObject({ code });
    expect(isSandboxError(error)).toBe(true);
    expect(String(error)).not.toContain(secret);
  });

  test("may be older if toleranceSeconds allows that", async () => {
    const headers = signed({ "X-HOPX-Timestamp": String(now() - 400) });
    expect((await verifyWebhook(body, headers, secret, { toleranceSeconds: 500 })).exitCode).toBe(3);
  });

  test.each([
    [body, "", {}],
    [body, undefined, {}],
    [report, secret, {}],
    [body, secret, { toleranceSeconds: 0 }],
    [body, secret, { toleranceSeconds: Number.NaN }],
  ])("is not checked with invalid arguments (%#)", async (raw, key, options) => {
    const call = Reflect.apply(verifyWebhook, undefined, [raw, signed(), key, options]);
    expect(await rejection(call)).toBeInstanceOf(ValidationError);
  });

  test("is refused, whatever other headers and bodies it has", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.dictionary(fc.string(), fc.string()),
        fc.string(),
        async (text, extra, signature) => {
          const headers = { ...extra, "x-hopx-signature": signature, "x-hopx-timestamp": String(now()) };
          expect(await rejection(verifyWebhook(text, headers, secret))).toBeInstanceOf(
            WebhookVerificationError,
          );
        },
      ),
    );
  });
});

describe("a handler of webhooks", () => {
  const post = (init: RequestInit): Request =>
    new Request("http://receiver/hook", { method: "POST", ...init });

  test("answers when the report was taken, and with the reason of a refusal", async () => {
    const taken: string[] = [];
    const handle = webhookHandler({ secret, onReport: ({ executionId }) => void taken.push(executionId) });
    expect((await handle(post({ body, headers: signed() }))).status).toBe(204);
    expect((await handle(post({ body, headers: signed({ "X-HOPX-Signature": "sha256=0" }) }))).status).toBe(
      401,
    );
    expect((await handle(new Request("http://receiver/hook"))).status).toBe(405);
    expect((await handle(post({}))).status).toBe(401);
    expect((await handle(post({ body: new Uint8Array(17 * 1024 * 1024) }))).status).toBe(413);
    expect(taken).toEqual(["exec_1"]);
  });

  test("throws the error of the caller's function, so that the report is sent again", async () => {
    const handle = webhookHandler({
      secret,
      onReport: () => {
        throw new Error("no room");
      },
    });
    expect(await rejection(handle(post({ body, headers: signed() })))).toMatchObject({ message: "no room" });
  });

  test("cannot be made without a secret", () => {
    expect(() => webhookHandler({ secret: "", onReport: () => undefined })).toThrow(ValidationError);
  });
});
