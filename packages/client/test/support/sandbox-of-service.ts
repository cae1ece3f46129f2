import type { Sandbox, SandboxClient } from "../../src/index.js";
import { testClient } from "./clients.js";
import { sandboxService } from "./sandbox-service.js";
import { type Handler, json, type ScriptedServer } from "./scripted-server.js";

/** Answers with status 200 and a body. */
export const ok =
  (body: unknown): Handler =>
  (_, response) =>
    json(response, 200, body);

/** A sandbox of the service in sandbox-service.ts, with the servers and the client. */
export async function sandboxWith(
  overrides: Record<string, Handler>,
  options = {},
  fields: Record<string, unknown> = {},
): Promise<{ sandbox: Sandbox; agent: ScriptedServer; client: SandboxClient; controlPlane: ScriptedServer }> {
  const { agent, controlPlane } = await sandboxService(overrides, fields);
  const client = testClient(controlPlane.url, options);
  return { sandbox: await client.sandboxes.get("abc"), agent, client, controlPlane };
}
