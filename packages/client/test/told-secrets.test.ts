import { expect, test } from "vitest";
import type { SandboxClient } from "../src/index.js";
import { apiKey, rejection, testClient } from "./support/clients.js";
import { recording, recordingLogger } from "./support/recorders.js";
import { tokenFor, wireSandbox } from "./support/sandbox-service.js";
import { type Handler, json, type ScriptedServer, scriptedServer } from "./support/scripted-server.js";

/** Everything that anybody is told while a client does what involves secrets. */
async function everythingTold(
  use: (client: SandboxClient, agent: ScriptedServer) => Promise<void>,
  agentHandler: Handler,
): Promise<string> {
  const agent = await scriptedServer(agentHandler);
  const server = await scriptedServer((request, response) =>
    request.path.startsWith("/v1/sandboxes/abc") || request.path === "/v1/sandboxes"
      ? json(response, 200, wireSandbox(agent.url, { auth_token: tokenFor("abc") }))
      : agentHandler(request, response),
  );
  const { hooks, seen } = recording();
  const { logger, lines } = recordingLogger();
  const client = testClient(server.url, {
    hooks,
    logger,
    logLevel: "debug",
    bearerToken: "bearer-of-nobody",
    retry: { attempts: 2, baseDelay: 0.001 },
  });
  await use(client, agent);
  expect(seen.some(({ kind }) => kind === "error")).toBe(true);
  const told = seen.map(({ error, ...event }) => [
    event,
    error,
    error instanceof Error && { ...error, message: error.message, stack: error.stack },
  ]);
  return JSON.stringify([told, lines]);
}

test("nobody is told a secret, also when the server repeats it", async () => {
  const secrets = {
    key: apiKey,
    bearer: "bearer-of-nobody",
    token: tokenFor("abc"),
    variable: "value-of-a-variable",
    content: "content-of-a-file",
    callback: "secret-of-a-callback",
    header: "header-of-a-callback",
  };
  const repeats: Handler = ({ headers, text }, response) =>
    json(
      response,
      500,
      {
        error: `Bad request: ${text.replace(secrets.content, "")} from ${headers.authorization} ${headers["x-api-key"]}`,
        details: { request: text.replace(secrets.content, "") },
      },
      { "x-echo": `${headers.authorization}`, "set-cookie": "a=secret-of-a-callback" },
    );
  const told = await everythingTold(async (client) => {
    const sandbox = await client.sandboxes.get("abc");
    const env = { NAME: secrets.variable };
    await rejection(sandbox.env.merge(env));
    await rejection(sandbox.execute("1", { env }));
    await rejection(sandbox.commands.run("ls", { env }));
    await rejection(sandbox.files.write("/tmp/a", secrets.content));
    const callback = { env, callbackSecret: secrets.callback, callbackHeaders: { "x-a": secrets.header } };
    await rejection(sandbox.executeAsync("1", "https://a.example", callback));
    await rejection(client.health());
  }, repeats);
  for (const secret of Object.values(secrets)) expect(told).not.toContain(secret);
});
