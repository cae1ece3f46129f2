import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SandboxClient } from "cloud-sandbox";
import { expect, it } from "vitest";
import { explainFailure } from "../../src/errors/tool-failure.js";
import { hopxAdvice } from "../../src/profiles/hopx/advice.js";

it.each([
  [
    410,
    "SANDBOX_EXPIRED",
    "Sandbox a expired at noon. | Create a new sandbox, with a longer timeout_seconds if needed.",
    /^Sandbox a expired at noon\. Create another sandbox with create_sandbox, or use execute_code_isolated\.$/,
  ],
  [
    401,
    "INVALID_API_KEY",
    "This API key is not known. | Check CLOUD_SANDBOX_API_KEY.",
    /^This API key is not known\. The user must correct CLOUD_SANDBOX_API_KEY[^.]*\.$/,
  ],
  [
    429,
    "RESOURCE_EXHAUSTED",
    "The sandbox has no free process slots. | Try again.",
    /^The sandbox has no free process slots\. Call again .*delete_sandbox .*create_sandbox\.$/,
  ],
  [
    409,
    "FILE_ALREADY_EXISTS",
    "/tmp/a exists already.",
    /^\/tmp\/a exists already\. Choose another path, .*file_list/,
  ],
  [
    413,
    "FILE_TOO_LARGE",
    "/tmp/a is too large. | Use /files/download.",
    /^\/tmp\/a is too large\. Use run_command/,
  ],
  [
    400,
    "INVALID_REQUEST",
    "/tmp/a is for /files/download.",
    /^\/tmp\/a is for run_command with base64\. Correct/,
  ],
  [
    400,
    "INVALID_REQUEST",
    "workdir /a does not exist. | Create it with /files/mkdir, or leave it out.",
    /^working_dir \/a does not exist\. Create it with file_mkdir, or leave it out\. Correct/,
  ],
])(
  "the failure of a %d %s says what to do once, with the names of tools",
  async (status, code, text, told) => {
    const [message, hint] = text.split(" | ");
    const server = createServer((_, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: text, code }, message, hint, code }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = new SandboxClient({ apiKey: "key", baseUrl: `http://127.0.0.1:${port}` });
    try {
      const failure: unknown = await client.sandboxes.get("a").catch((error: unknown) => error);
      expect(explainFailure(failure, hopxAdvice, { CLOUD_SANDBOX_API_KEY: "key" })).toMatch(told);
    } finally {
      await client.close();
      server.close();
    }
  },
);
