import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { exchange, type HttpServer, startHttpServer, statelessRequest } from "../support/http-server.js";
import { serverFile } from "../support/mcp-connection.js";

// These tests send requests themselves, because the client that other tests use knows only protocol versions with
// sessions.
describe("a client without sessions that listens gets a notification when a sandbox comes and when it goes", () => {
  const listen = statelessRequest("subscriptions/listen", { notifications: { resourcesListChanged: true } });
  let server: HttpServer | undefined;
  let child: ChildProcess | undefined;
  afterEach(async () => {
    await server?.stop();
    child?.kill();
  });
  const changesIn = (text: string): number =>
    text.match(/notifications\/resources\/list_changed/g)?.length ?? 0;
  const idIn = (text: string): string => /"structuredContent":\{"id":"([^"]+)"/.exec(text)?.[1] ?? "";

  it("over HTTP", async () => {
    server = await startHttpServer(["--no-token"]);
    const { url } = server;
    const stream = request(url, { method: "POST", headers: listen.headers });
    stream.on("error", () => undefined).end(listen.body);
    const [response] = await once(stream, "response");
    let heard = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
    });
    response.on("error", () => undefined);
    await expect.poll(() => heard).toContain("notifications/subscriptions/acknowledged");
    const call = (name: string, given: object) =>
      exchange(url, statelessRequest("tools/call", { name, arguments: given }));

    const created = await call("create_sandbox", {});
    await expect.poll(() => changesIn(heard)).toBe(1);
    await call("delete_sandbox", { id: idIn(created.body) });
    await expect.poll(() => changesIn(heard)).toBe(2);
    stream.destroy();
  });

  it("over stdin and stdout", async () => {
    const env = { ...process.env, CLOUD_SANDBOX_BACKEND: "local" };
    const started = spawn(process.execPath, [serverFile], { env, stdio: ["pipe", "pipe", "ignore"] });
    child = started;
    let heard = "";
    started.stdout.setEncoding("utf8").on("data", (text: string) => {
      heard += text;
    });
    let last = 0;
    const send = (message: { body: string }): void => {
      last += 1;
      started.stdin.write(`${JSON.stringify({ ...JSON.parse(message.body), id: last })}\n`);
    };
    send(listen);
    send(statelessRequest("tools/call", { name: "create_sandbox", arguments: {} }));
    await expect.poll(() => changesIn(heard)).toBe(1);
    await expect.poll(() => idIn(heard)).not.toBe("");
    send(statelessRequest("tools/call", { name: "delete_sandbox", arguments: { id: idIn(heard) } }));
    await expect.poll(() => changesIn(heard)).toBe(2);
    started.stdin.end();
    await once(started, "exit");
  });
});
