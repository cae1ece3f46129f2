import { type OutputEvent, type SandboxClient, Template } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

async function outputOf(
  stream: AsyncIterable<OutputEvent | { type: "result" | "error" }>,
): Promise<{ stdout: string }> {
  let stdout = "";
  for await (const event of stream) if (event.type === "stdout") stdout += event.text;
  return { stdout };
}

/** What every backend that builds templates must do with them. */
export function templateSuite(client: () => SandboxClient): void {
  describe("a template with a WORKDIR", () => {
    const size = { cpu: 1, memoryMb: 512, diskGb: 1 };
    beforeAll(async () => {
      const template = Template.from("base").workdir("/srv").workdir("app/../site/");
      await client().templates.build(template, { ...size, name: "with-workdir" });
    });
    afterAll(() => client().templates.delete("with-workdir"));

    test("has its programs start there, however they are started", async () => {
      await using sandbox = await client().sandboxes.create({ template: "with-workdir" });
      const job = await sandbox.executeBackground("pwd", { language: "bash" });
      await job.wait();
      await using terminal = await sandbox.terminal.open();
      await terminal.write("pwd; exit\r");
      let shown = "";
      for await (const text of terminal) shown += text;
      expect(shown).toContain("/srv/site\r\n");
      const python = "import os; print(os.getcwd())";
      const answers = await Promise.all([
        sandbox.execute("pwd", { language: "bash" }),
        sandbox.execute(python),
        sandbox.execute(python, { context: "another" }),
        outputOf(sandbox.executeStream(python)),
        sandbox.commands.run("pwd"),
        sandbox.commands.run(["pwd"]),
        outputOf(sandbox.commands.stream("pwd")),
        job.output(),
        client().executeIsolated(python, { template: "with-workdir" }),
      ]);
      expect(answers.map(({ stdout }) => stdout)).toEqual(answers.map(() => "/srv/site\n"));
    });

    test.each([
      ["nothing", undefined, "/srv/site"],
      ["/workspace, as HOPX's clients always send it", "/workspace", "/srv/site"],
      ["a relative path", ".", "/srv/site"],
      ["the workspace itself", "/workspace/", "/workspace"],
      ["another directory", "/tmp", "/tmp"],
    ])("has them start where a request with %s says", async (_, workdir, expected) => {
      await using sandbox = await client().sandboxes.create({ template: "with-workdir" });
      const place = workdir === undefined ? {} : { workdir };
      const command = await sandbox.agent.POST("/commands/run", {
        body: { command: "pwd", timeout: 30, ...place },
      });
      const code = await sandbox.agent.POST("/execute", {
        body: { code: "pwd", language: "bash", timeout: 30, capture_rich: false, cache: false, ...place },
      });
      expect([command.data?.stdout, code.data?.stdout]).toEqual([`${expected}\n`, `${expected}\n`]);
    });

    test("hands it on to templates that are built on it, until these name another", async () => {
      const template = Template.from("with-workdir").run("pwd").workdir("/workspace").run("pwd");
      const log: string[] = [];
      await client().templates.build(template, {
        ...size,
        name: "on-workdir",
        onLog: (line) => log.push(line),
      });
      expect(log.filter((line) => line.startsWith("/"))).toEqual(["/srv/site", "/workspace"]);
      await using sandbox = await client().sandboxes.create({ template: "on-workdir" });
      expect((await sandbox.commands.run("pwd")).stdout).toBe("/workspace\n");
      await sandbox.delete();
      await client().templates.delete("on-workdir");
    });
  });

  test("a template with stored secrets gives them to its sandboxes, and says so", async () => {
    const { secrets, sandboxes, templates } = client();
    const name = "with-secrets";
    await secrets.set("of-template", { value: "credential-of-the-template", hosts: ["api.example.com"] });
    const options = { cpu: 1, memoryMb: 512, diskGb: 1, secrets: { TOKEN: { from: "of-template" } } };
    const built = await templates.build(Template.from("base"), { ...options, name });
    expect(built.secrets).toEqual([{ name: "TOKEN", from: "of-template" }]);
    const made = await sandboxes.create({ template: name, internetAccess: true });
    const [secret] = await made.secrets.list();
    expect(secret).toMatchObject({ name: "TOKEN", from: "of-template", state: "ready" });
    expect((await made.commands.run("echo $TOKEN")).stdout).toBe(`${secret?.placeholder}\n`);
    await made.delete();
    const offline = await sandboxes.create({ template: name, internetAccess: false });
    expect((await offline.commands.run("echo [$TOKEN]")).stdout).toBe("[]\n");
    await offline.delete();
    await secrets.delete("of-template");
    await expect(sandboxes.create({ template: name, internetAccess: true })).rejects.toMatchObject({
      code: "SECRET_NOT_FOUND",
    });
    await templates.delete(name);
  });
}
