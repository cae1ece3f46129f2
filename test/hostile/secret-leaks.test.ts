// @module-tag openssl
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { expect, onTestFinished, test } from "vitest";
import { CredentialLeaks } from "../support/credential-leaks.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { startSecretSite } from "../support/secret-site.js";

const credential = "credential-that-must-not-leak-0123456789";
const searched = new CredentialLeaks(credential);

/** Looks for the credential from inside: in variables, files, processes and the memory of the program's own processes. */
const search = `import glob, os, re
needles = [part.encode() for part in os.environ["PARTS"].split(",")]
def has(content): return any(content.find(needle[:9] + needle[9:]) >= 0 for needle in needles)
found = []
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        content = open(path, "rb").read()
        content = re.sub(rb"PARTS=[^\\0]*", b"", content)
        if has(content): found.append(path)
    except OSError: pass
for top in ["/workspace", "/tmp", "/home", "/opt", "/etc", "/run", "/var"]:
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 1 << 22 and has(open(path, "rb").read()): found.append(path)
            except OSError: pass
print("found:", found)`;

test("a credential is in no file, process, environment, log, record or answer, before and after restarts", async ({
  skip,
}) => {
  skip(process.getuid?.() !== 0, "only root can give a server a hosts file of its own");
  await using site = await startSecretSite("api.secret.test", (request, response) => {
    // It repeats what it got.
    response.setHeader("x-echo", request.headers.authorization ?? "");
    response.end(JSON.stringify(request.headers));
  });
  const directory = await mkdtemp(join(tmpdir(), "secret-leaks-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const start = (): Promise<LocalServer> =>
    startLocalServer({
      args: [
        "--pool",
        "1",
        "--data-dir",
        directory,
        "--trust-ca",
        site.authority,
        "--egress-allow-private",
        site.at,
      ],
      through: site.through,
    });
  const answers: string[] = [];
  const clientOf = (server: LocalServer): SandboxClient =>
    new SandboxClient({
      baseUrl: server.url,
      apiKey: server.apiKey,
      fetch: async (request) => {
        const response = await fetch(request);
        answers.push(await response.clone().text());
        return response;
      },
    });
  const curl = `curl -sS -i -H "authorization: Bearer $TOKEN" https://${site.at}/`;
  let server = await start();
  onTestFinished(() => void server.stop("SIGKILL"));
  let client = clientOf(server);
  const sandbox = await client.sandboxes.create({
    name: "leaks",
    secrets: {
      TOKEN: { value: credential, hosts: [site.at] },
      SET: { value: `${credential}-set`, hosts: [site.at], headers: { "x-set": "{value}" } },
    },
  });
  const said = await sandbox.commands.run(curl);
  expect(site.asked.at(-1)?.authorization).toBe(`Bearer ${credential}`);
  expect(said.stdout).toContain("*".repeat(credential.length));
  const parts = searched.needles.join(",");
  const inside = await sandbox.commands.run(`PARTS=${parts} python3 - <<'END'\n${search}\nEND`);
  expect(inside.stdout).toContain("found: []");
  await client.controlPlane.GET("/v1/sandboxes/{id}/egress", { params: { path: { id: sandbox.id } } });
  await client.controlPlane.GET("/v1/sandboxes", {});
  await sandbox.secrets.list();
  await sandbox.env.effective();
  await expect(sandbox.secrets.set("TOKEN", { value: credential, hosts: ["10.0.0.1"] })).rejects.toSatisfy(
    (error) => searched.in("error", String(error)).length === 0,
  );
  await expect(
    sandbox.secrets.set("TOKEN", { value: `${credential}\r\nx: y`, hosts: [site.at] }),
  ).rejects.toSatisfy((error) => searched.in("error", JSON.stringify(error) + String(error)).length === 0);

  const leaks = async (): Promise<string[]> => [
    ...(await searched.below(directory)),
    ...(await searched.inProcesses()),
    ...searched.in("log", server.log()),
    ...answers.flatMap((answer, index) => searched.in(`answer ${index}: ${answer.slice(0, 100)}`, answer)),
    ...searched.in("program", said.stdout + said.stderr),
  ];
  expect(await leaks()).toEqual([]);

  // A sandbox that was stopped has its secrets again, as long as the server runs.
  await sandbox.stop();
  expect(await leaks()).toEqual([]);
  await sandbox.start();
  await sandbox.commands.run(curl);
  expect(site.asked.at(-1)?.authorization).toBe(`Bearer ${credential}`);

  // A server that is started again has no values, and says so.
  await client.close();
  await server.stop();
  expect(await leaks()).toEqual([]);
  server = await start();
  client = clientOf(server);
  const again = await client.sandboxes.connect(sandbox.id, { start: true });
  expect(await again.secrets.list()).toMatchObject([
    { name: "TOKEN", state: "lost" },
    { name: "SET", state: "lost" },
  ]);
  const lost = await again.commands.run(curl);
  expect(lost.stdout).toMatch(/HTTP\/1\.1 502 [\s\S]*was lost with a restart of the server\. Set it again\./);
  await again.secrets.set("SET", {
    value: `${credential}-set`,
    hosts: [site.at],
    headers: { "x-set": "{value}" },
  });
  await again.secrets.set("TOKEN", { value: credential, hosts: [site.at] });
  await again.commands.run(curl);
  expect(site.asked.at(-1)?.authorization).toBe(`Bearer ${credential}`);

  await server.stop("SIGKILL");
  expect(await leaks()).toEqual([]);
  await client.close();
});
