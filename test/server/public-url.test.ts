import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { certificates } from "../../packages/client/test/support/certificates.js";
import { runBuilt } from "../support/built-program.js";
import { startLocalServer } from "../support/local-server.js";

test("through a proxy with TLS, a client reaches the server, its sandboxes and their previews", async () => {
  const directory = await mkdtemp(join(tmpdir(), "public-url-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  let target = 0;
  const { authority, issued } = await certificates();
  const proxy = createServer(issued, (caller) => {
    const server = connect(target, "127.0.0.1");
    for (const socket of [caller, server])
      socket.on("error", () => [caller, server].map((each) => each.destroy()));
    caller.pipe(server).pipe(caller);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const url = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const server = await startLocalServer({ args: ["--pool", "0", "--public-url", url] });
  target = Number(new URL(server.url).port);

  const trusted = join(directory, "ca.pem");
  await writeFile(trusted, authority);
  const env = {
    CLOUD_SANDBOX_API_KEY: server.apiKey,
    CLOUD_SANDBOX_BASE_URL: url,
    NODE_EXTRA_CA_CERTS: trusted,
    XDG_CONFIG_HOME: directory,
  };
  const output = async (...words: string[]): Promise<string> => {
    const { code, stderr, stdout } = await runBuilt("cli", words, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const id = (await output("sandbox", "create", "-q")).trim();
  expect(await output("sandbox", "exec", id, "echo through")).toBe("through\n");
  expect(JSON.parse(await output("sandbox", "get", id, "--json"))).toMatchObject({
    publicHost: `${url}/agent/${id}`,
  });
  expect((await output("sandbox", "port", id, "8000")).trim()).toBe(`${url}/preview/${id}/8000/`);
  await output("sandbox", "delete", id);

  // A caller on the machine itself goes on without the proxy.
  const headers = { "x-api-key": server.apiKey };
  const created = await fetch(`${server.url}/v1/sandboxes`, {
    method: "POST",
    headers,
    body: JSON.stringify({ template_name: "base" }),
  });
  const { public_host } = (await created.json()) as { public_host: string };
  expect(public_host).toContain(server.url);
  await server.stop();
});

test.each(["sandboxes.example", "https://a.example/path", "ftp://a.example", "https://u:p@a.example"])(
  "%s is no public address, and the error names what is",
  async (url) => {
    const { code, stderr } = await runBuilt("local", ["serve", "--public-url", url]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("https://sandboxes.example"),
    });
  },
);
