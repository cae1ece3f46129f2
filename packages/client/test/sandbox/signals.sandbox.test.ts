// @module-tag no-sandboxes
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { tokenFor, wireSandbox } from "../support/sandbox-service.js";
import { json, scriptedServer } from "../support/scripted-server.js";

describe("a signal", () => {
  const bundle = (name: string): string => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url));

  test.each([
    ["two copies of this package", ""],
    [
      "the package signal-exit beside it",
      `globalThis[Symbol.for("signal-exit emitter")] = { count: 1 };
      const polite = () => {
        if (process.listenerCount("SIGTERM") > 1) return;
        process.off("SIGTERM", polite);
        process.kill(process.pid, "SIGTERM");
      };
      process.on("SIGTERM", polite);`,
    ],
  ])("ends a process with %s, and leaves no sandbox of any", async (_, before) => {
    let serial = 0;
    const server = await scriptedServer(({ method }, response) => {
      if (method === "DELETE") return json(response, 200, {});
      const id = `s${++serial}`;
      return json(response, 201, wireSandbox(server.url, { id, auth_token: tokenFor(id) }));
    });
    const program = `${before}
      const options = { apiKey: "k", baseUrl: ${JSON.stringify(server.url)} };
      (async () => {
        const copies = [require(${JSON.stringify(bundle("index.cjs"))}), await import(${JSON.stringify(bundle("index.js"))})];
        for (const { SandboxClient } of copies) await new SandboxClient(options).sandboxes.create();
        console.log("made");
        setInterval(() => undefined, 1000);
      })();`;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
    expect(server.calls().slice(2).sort()).toEqual(["DELETE /v1/sandboxes/s1", "DELETE /v1/sandboxes/s2"]);
  });

  test("that comes while a sandbox is made waits for its id", async () => {
    const server = await scriptedServer(async ({ method }, response) => {
      if (method === "DELETE") return json(response, 200, {});
      child.kill("SIGINT");
      await new Promise((resolve) => setTimeout(resolve, 300));
      return json(response, 201, wireSandbox(server.url, { id: "late" }));
    });
    const program = `const { SandboxClient } = require(${JSON.stringify(bundle("index.cjs"))});
      new SandboxClient({ apiKey: "k", baseUrl: ${JSON.stringify(server.url)} }).sandboxes.create();`;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "inherit"] });
    expect(await once(child, "exit")).toEqual([null, "SIGINT"]);
    expect(server.calls()).toEqual(["POST /v1/sandboxes", "DELETE /v1/sandboxes/late"]);
  });

  test("ends a process also when nothing can be deleted", async () => {
    const server = await scriptedServer(({ method }, response) =>
      method === "DELETE" ? response.destroy() : json(response, 201, wireSandbox(server.url, { id: "left" })),
    );
    const program = `const { SandboxClient } = require(${JSON.stringify(bundle("index.cjs"))});
      new SandboxClient({ apiKey: "k", baseUrl: ${JSON.stringify(server.url)} }).sandboxes.create()
        .then(() => { console.log("made"); setInterval(() => undefined, 1000); });`;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([null, "SIGINT"]);
    expect(server.calls().at(-1)).toBe("DELETE /v1/sandboxes/left");
  });
});
