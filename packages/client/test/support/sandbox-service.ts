import type { Sandbox, SandboxClientOptions } from "../../src/index.js";
import { testClient } from "./clients.js";
import { type Handler, json, type ScriptedServer, scriptedServer } from "./scripted-server.js";

/** A token with a life in seconds. Its signature is not valid, because the client does not check it. */
export function tokenFor(id: string, { life = 3600, serial = 1 } = {}): string {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const issued = 1_700_000_000;
  return `${encode({ alg: "EdDSA" })}.${encode({ sub: id, iat: issued, exp: issued + life, jti: serial })}.c2ln`;
}

/** A running sandbox as a control plane describes it. `fields` replace or add to what our contract says. */
export function wireSandbox(
  publicHost: string,
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id: "abc",
    status: "running",
    template_name: "code-interpreter",
    isolation: "namespace",
    public_host: publicHost,
    auth_token: tokenFor("abc"),
    token_expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    ...fields,
  };
}

/** Gets a sandbox whose agent is at `publicHost`, from a control plane that knows only this one. */
export async function withSandbox(
  publicHost: string,
  options: SandboxClientOptions = {},
  fields: Record<string, unknown> = {},
): Promise<Sandbox> {
  const controlPlane = await scriptedServer((_, response) =>
    json(response, 200, wireSandbox(publicHost, fields)),
  );
  return testClient(controlPlane.url, options).sandboxes.get("abc");
}

/** A control plane and an agent on two ports. `overrides` replace their usual answers, by `METHOD /path`. */
export async function sandboxService(
  overrides: Record<string, Handler> = {},
  fields: Record<string, unknown> = {},
): Promise<{ controlPlane: ScriptedServer; agent: ScriptedServer }> {
  const route =
    (usual: Record<string, Handler>): Handler =>
    (request, response) => {
      const key = `${request.method} ${request.path.split("?")[0]}`;
      const handler = overrides[key] ?? usual[key];
      if (handler === undefined) return json(response, 404, { error: `No ${key} here`, code: "NOT_FOUND" });
      return handler(request, response);
    };
  const agent = await scriptedServer(
    route({
      "POST /execute/rich": (_, response) => json(response, 200, finished()),
      "GET /files/exists": (_, response) => json(response, 200, { exists: true, path: "/workspace" }),
    }),
  );
  const controlPlane = await scriptedServer(
    route({
      "POST /v1/sandboxes": (_, response) => json(response, 201, wireSandbox(agent.url, fields)),
      "GET /v1/sandboxes/abc": (_, response) => json(response, 200, wireSandbox(agent.url, fields)),
      "DELETE /v1/sandboxes/abc": (_, response) => json(response, 200, { id: "abc", deleted: true }),
      "POST /v1/sandboxes/abc/token/refresh": (_, response) =>
        json(response, 200, { auth_token: tokenFor("abc", { serial: 2 }), token_expires_at: null }),
    }),
  );
  return { controlPlane, agent };
}

/** The answer to an execution that has succeeded. */
export function finished(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { success: true, stdout: "1\n", stderr: "", exit_code: 0, execution_time: 0.01, ...fields };
}
