import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { needs } from "../support/needs.js";
import { createTemplate, Sandbox, Template, waitForPort } from "../support/vendor-sdk.js";

/** Every method of the vendor's Node.js SDK, unmodified, that begins a template, used with the local server. */
describe("the vendor's template builder", () => {
  let server: LocalServer;
  let node: string;
  beforeAll(async () => {
    server = await startLocalServer({ args: ["--pool", "0"] });
    const { features } = await Sandbox.getTemplate("base", account());
    node = features?.find((feature) => feature.startsWith("javascript "))?.split(/[ .]/)[1] ?? "";
  });
  afterAll(() => server?.stop());

  const account = () => ({ apiKey: server.apiKey, baseURL: server.url });

  async function build(name: string, template: Template): Promise<{ id: string; log: string }> {
    const log: string[] = [];
    const onLog = ({ message }: { message: string }) => log.push(message);
    const built = await Template.build(template, { ...account(), name, onLog });
    return { id: built.templateID, log: log.join("\n") };
  }

  async function run(templateId: string, command: string): Promise<string> {
    const sandbox = await Sandbox.create({ ...account(), templateId });
    try {
      const { stdout, stderr } = await sandbox.commands.run(command);
      return stdout + stderr;
    } finally {
      await sandbox.kill();
    }
  }

  const wheel = `python - <<'END'
import zipfile
with zipfile.ZipFile("/tmp/greeting-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("greeting.py", "print('hello from a wheel')")
    info = "greeting-1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
END`;
  const npmPackage = `mkdir -p /opt/greeter && cd /opt/greeter
echo '{"name":"greeter","version":"1.0.0","bin":{"greeter":"cli.js"}}' > package.json
printf '#!/usr/bin/env node\\nconsole.log("hello from a package")\\n' > cli.js && chmod +x cli.js`;

  test.concurrent.for([
    [
      "fromPythonImage, and pipInstall",
      () =>
        new Template()
          .fromPythonImage("3.0")
          .runCmd(wheel)
          .pipInstall("--no-index", "/tmp/greeting-1.0-py3-none-any.whl"),
      "python -m greeting",
      "hello from a wheel\n",
      /python:3\.0 asks for Python 3\.0/,
    ],
    [
      "fromNodeImage, and npmInstall",
      () => new Template().fromNodeImage(node).runCmd(npmPackage).npmInstall("--offline", "/opt/greeter"),
      "greeter",
      "hello from a package\n",
      /asks for ubuntu 22\.04|Step 1/,
    ],
    [
      "fromUbuntuImage, and a start command",
      () =>
        new Template()
          .fromUbuntuImage("22.04")
          .setWorkdir("/app")
          .runCmd("echo served > index.html")
          .setEnvs({ GREETING: "hello" })
          .setStartCmd("python -m http.server 8123", waitForPort(8123)),
      'python3 -c \'import urllib.request as u; print(u.urlopen("http://127.0.0.1:8123/index.html").read().decode(), end="")\'; echo $GREETING',
      "served\nhello\n",
      /asks for ubuntu 22\.04|Step 1/,
    ],
    [
      "the constructor",
      () => new Template("python:3-slim").runCmd("echo made > /workspace/made"),
      "cat /workspace/made",
      "made\n",
      /Step 1/,
    ],
    [
      "createTemplate with the name of a template",
      () => createTemplate("code-interpreter").gitClone("/workspace/origin", "/workspace/clone || true"),
      "ls /workspace",
      "",
      /Step 1/,
    ],
  ] as const)(
    "begins by %s",
    { timeout: 300_000 },
    async ([what, template, command, printed, logged], { skip }) => {
      skip(...needs("python3-pip", what.includes("pipInstall")));
      const { id, log } = await build(what.replace(/\W+/g, "-").toLowerCase(), template());
      expect(log).toMatch(logged);
      expect(await run(id, command)).toBe(printed);
    },
  );

  test.for([
    [
      "fromPrivateImage",
      () =>
        new Template().fromPrivateImage("registry.example.com/app:v1", {
          username: "someone",
          password: "hidden-1",
        }),
    ],
    [
      "fromGCPPrivateImage",
      () =>
        new Template().fromGCPPrivateImage("gcr.io/project/app:v1", {
          serviceAccountJSON: { private_key: "hidden-2" },
        }),
    ],
    [
      "fromAWSPrivateImage",
      () =>
        new Template().fromAWSPrivateImage("123456789012.dkr.ecr.us-west-2.amazonaws.com/app:v1", {
          accessKeyId: "AKIA",
          secretAccessKey: "hidden-3",
          region: "us-west-2",
        }),
    ],
  ] as const)("is refused at %s, by a list of what can be built from", async ([what, template]) => {
    const refused = build(what.toLowerCase(), template().runCmd("true"));
    await expect(refused).rejects.toThrow(
      /is not available on this machine.*Build from one of .*python:3\./s,
    );
    await expect(refused).rejects.not.toThrow(/hidden/);
    const names = (await Sandbox.listTemplates(account())).map(({ name }) => name);
    expect(names).not.toContain(what.toLowerCase());
  });
});
