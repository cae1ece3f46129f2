import { expect, test } from "vitest";
import type { SandboxClient } from "../../src/index.js";
import { apiKey, rejection, testClient } from "../support/clients.js";
import { recording, recordingLogger } from "../support/recorders.js";
import { tokenFor, wireSandbox } from "../support/sandbox-service.js";
import { type Handler, json, type ScriptedServer, scriptedServer } from "../support/scripted-server.js";

/** Everything that hooks, logger and errors show while `use` works with a client, as one text. */
async function everythingTold(
  use: (client: SandboxClient, agent: ScriptedServer) => Promise<void>,
  agentHandler: Handler,
): Promise<string> {
  const agent = await scriptedServer(agentHandler);
  const server = await scriptedServer((request, response) =>
    /^\/v1\/sandboxes(\/abc(?!\/secrets).*)?$/.test(request.path)
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
    retry: { attempts: 2, baseDelaySeconds: 0.001 },
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

test("no secret is in hooks, logs or errors, even if the server repeats it", async () => {
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

test.each([
  ["with a quote", 'pass"word-12345'],
  ["of several lines", "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\n-----END KEY-----\n"],
])("a secret %s is in no hook, log or error, even if a server quotes the request", async (_, secret) => {
  const quoted = JSON.stringify(secret).slice(1, -1);
  const quotes: Handler = ({ text }, response) =>
    json(response, 400, {
      error: { code: "INVALID_REQUEST", message: `Cannot parse: ${text}`, details: { [text]: text } },
    });
  const told = await everythingTold(async (client) => {
    const sandbox = await client.sandboxes.get("abc");
    expect(await rejection(sandbox.env.merge({ A: secret }))).toMatchObject({
      message: expect.stringContaining("[redacted]"),
      details: expect.not.objectContaining({
        [`{"env_vars":{"A":"${quoted}"},"merge":true}`]: expect.anything(),
      }),
    });
    await rejection(sandbox.execute("1", { env: { A: secret } }));
    await rejection(sandbox.desktop.vnc.start({ password: secret }));
    await rejection(sandbox.secrets.set("A", { value: secret, hosts: ["a.example"] }));
  }, quotes);
  for (const text of [secret, quoted, JSON.stringify(quoted).slice(1, -1)]) expect(told).not.toContain(text);
});

test("a secret is in no hook, log or error as the id of a request or as a status either", async () => {
  const told = await everythingTold(
    async (client) => {
      await rejection(client.health());
      const sandbox = await client.sandboxes.get("abc");
      await rejection(sandbox.system.health());
    },
    ({ headers }, response) => {
      const key = `${headers["x-api-key"] ?? headers.authorization}`;
      response.writeHead(200, { "content-type": "text/html", "x-request-id": key }).end("<p>");
    },
  );
  expect(told).not.toContain(apiKey);
  expect(told).not.toContain(tokenFor("abc"));
  const server = await scriptedServer(({ headers }, response) =>
    json(response, 200, wireSandbox("http://127.0.0.1:1", { status: headers["x-api-key"] })),
  );
  const client = testClient(server.url);
  for (const thrown of [
    await rejection(client.sandboxes.connect("abc")),
    await rejection(client.sandboxes.create()),
  ])
    expect(thrown).toMatchObject({ message: expect.not.stringContaining(apiKey) });
});
