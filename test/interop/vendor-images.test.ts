import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownArchitecture } from "../../packages/local/test/support/image-archives.js";
import { cannotStartAs, type LocalServer, startLocalServer } from "../support/local-server.js";
import { PackageRepository } from "../support/package-repository.js";
import { Sandbox, Template } from "../support/vendor-sdk.js";

const run = promisify(execFile);

/** Programs of the images. Debian's `npm` needs 400 packages more. */
const programs = "python3,python-is-python3,python3-pip,nodejs,adduser";

function obstacle(): string | undefined {
  if (!existsSync("/usr/bin/mmdebstrap")) return 'mmdebstrap is not installed ("apt-get install mmdebstrap")';
  const { status } = spawnSync("apt-get", ["download", "--print-uris", "hello"], { cwd: "/" });
  return status === 0 ? cannotStartAs("root") : "this machine has no packages of Debian to choose from";
}

const missing = obstacle();
if (missing !== undefined) test("the vendor's template builder, with images", ({ skip }) => skip(missing));
else
  describe("the vendor's template builder, with images that were imported", () => {
    let directory: string;
    let repository: PackageRepository;
    let server: LocalServer;
    let unmade: string | undefined;
    const images = ["python:3.11", "ubuntu/node:18-22.04_edge", "ubuntu:22.04"];

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "vendor-images-"));
      repository = await PackageRepository.start(join(directory, "packages"));
      const args = ["--root-inside", "--pool", "0", "--data-dir", join(directory, "data")];
      server = await startLocalServer({ args: [...args, "--egress-allow-private", repository.address] });
      await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
      const archive = await makeImage(directory).catch((error: Error) => {
        // Where no mirror of Debian answers.
        unmade = `mmdebstrap made no image: ${error.message.trim().split("\n").at(-1)}`;
      });
      if (archive) for (const name of images) await client.templates.import(archive, { name });
    }, 600_000);

    afterAll(async () => {
      if (server) expect(await server.stop()).toEqual({ code: 0, signal: null });
      repository?.close();
      if (directory) await rm(directory, { recursive: true, force: true });
    }, 60_000);

    const account = () => ({ apiKey: server.apiKey, baseURL: server.url });

    test.for([
      [
        "fromPythonImage, and pipInstall",
        () =>
          new Template()
            .fromPythonImage("3.11")
            .runCmd("mkdir /opt/greeter && cd /opt/greeter && echo 'print(\"hello\")' > greeter.py")
            .runCmd(
              "echo 'import setuptools; setuptools.setup(py_modules=[\"greeter\"])' > /opt/greeter/setup.py",
            )
            .pipInstall("--no-index", "--no-build-isolation", "--break-system-packages", "/opt/greeter"),
        "python --version; python -m greeter",
        /^Python 3\.11\.\d+\nhello\n$/,
      ],
      [
        "fromNodeImage",
        () => new Template().fromNodeImage("18").runCmd("node --print process.version > /opt/version"),
        "cat /opt/version; node --version",
        /^(v18\.\d+\.\d+)\n\1\n$/,
      ],
      [
        "fromUbuntuImage, and aptInstall",
        () =>
          new Template()
            .fromUbuntuImage("22.04")
            .setEnvs({ no_proxy: "", NO_PROXY: "" })
            .runCmd(repository.use)
            .aptInstall("greeting"),
        "greeting; stat --format '%U %a' /var/lib/greeting; grep ^VERSION_CODENAME /etc/os-release",
        /^hello\ngreeting 750\nVERSION_CODENAME=bookworm\n$/,
      ],
    ] as const)(
      "begins by %s",
      { timeout: 180_000 },
      async ([what, template, command, printed], { skip }) => {
        if (unmade !== undefined) skip(unmade);
        const log: string[] = [];
        const name = what.replace(/\W+/g, "-").toLowerCase();
        const { templateID } = await Template.build(template(), {
          ...account(),
          name,
          onLog: ({ message }) => log.push(message),
        }).catch((error: unknown) => {
          throw new Error(log.join("\n"), { cause: error });
        });
        const sandbox = await Sandbox.create({ ...account(), templateId: templateID });
        const { stdout, stderr } = await sandbox.commands.run(command);
        expect(stdout + stderr).toMatch(printed);
        await sandbox.kill();
      },
    );
  });

/** An image as `docker save` writes it, of a Debian that mmdebstrap has made. */
async function makeImage(directory: string): Promise<string> {
  const at = (name: string): string => join(directory, name);
  const packing = [
    "force-unsafe-io",
    "path-exclude=/usr/share/doc/*",
    "path-exclude=/usr/share/locale/*",
  ].map((option) => `--dpkgopt=${option}`);
  const options = ["--quiet", "--variant=minbase", `--include=${programs}`, ...packing];
  await run("mmdebstrap", [...options, "bookworm", at("layer.tar")], { maxBuffer: 16 * 1024 * 1024 });
  const digest = createHash("sha256");
  await pipeline(createReadStream(at("layer.tar")), digest);
  const config = {
    ...{ architecture: ownArchitecture, os: "linux", config: {} },
    rootfs: { type: "layers", diff_ids: [`sha256:${digest.digest("hex")}`] },
  };
  await writeFile(at("config.json"), JSON.stringify(config));
  const manifest = [{ Config: "config.json", RepoTags: ["debian:made"], Layers: ["layer.tar"] }];
  await writeFile(at("manifest.json"), JSON.stringify(manifest));
  const archive = at("image.tar");
  await run("tar", ["-cf", archive, "-C", directory, "manifest.json", "config.json", "layer.tar"]);
  return archive;
}
