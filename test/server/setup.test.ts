import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SandboxClient } from "cloud-sandbox";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { runBuilt, runProgram } from "../support/built-program.js";
import { startLocalServer } from "../support/local-server.js";
import { ordinaryUid } from "../support/ordinary-user-caches.js";
import { startPackageServer } from "../support/package-server.js";

describe("setup by root, on a machine without Python's packages", { tags: ["mount"] }, () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "setup-"));
    return () => rmSync(directory, { recursive: true });
  });
  const without = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /usr/lib/python3; exec "$@"', "sh"];
  const runs = (command: string) =>
    runBuilt("local", [command], { through: without, env: { PATH: `${directory}:${process.env.PATH}` } });
  /** An apt-get that writes down how it is called, and fails. */
  const apt = (): string => {
    const file = join(directory, "apt-get");
    writeFileSync(file, `#!/bin/sh\necho "$@" >> ${directory}/asked\necho no such mirror >&2\nexit 100\n`, {
      mode: 0o755,
    });
    return join(directory, "asked");
  };

  test("installs what is missing, and says what went wrong", async () => {
    const asked = apt();
    const { code, stderr } = await runs("setup");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Installing with apt-get, .*python3-pandas.*python3-scipy/m);
    expect(stderr).toMatch(/no such mirror\n.*run again: apt-get install .*python3-pandas/s);
    const steps = readFileSync(asked, "utf8").split("\n");
    expect(steps.map((line) => line.split(" ")[0])).toEqual(["install", "update", "install", ""]);
  });

  test("is named by doctor, with what it would install", async () => {
    expect((await runs("doctor")).stdout).toMatch(
      /^ {2}! missing: pandas, numpy, matplotlib.* \("cloud-sandbox-local setup" installs them\)$/m,
    );
  });
});

describe("setup by an ordinary user", { tags: ["mount", "python3-pip", "git", "openssl"] }, () => {
  /** Runs a command where Python has no packages but `kept`. */
  const withPackages = (kept: string) => [
    ...["unshare", "--mount", "sh", "-c"],
    `mount -t tmpfs none /mnt
mkdir /mnt/upper /mnt/work
mount -t overlay -o lowerdir=/usr,upperdir=/mnt/upper,workdir=/mnt/work overlay /usr
for place in /usr/lib/python3/dist-packages /usr/local/lib/python3*/*-packages; do
  find "$place" -mindepth 1 -maxdepth 1 ! -name "${kept}" -exec rm -rf {} +
done
exec "$@"`,
    "sh",
  ];
  const onlyPip = withPackages("pip*");
  const nothing = withPackages("none");

  /** Runs the built program as that user, in a home directory of its own. */
  async function ordinaryUser() {
    const home = await mkdtemp(join(tmpdir(), "setup-"));
    onTestFinished(() => rm(home, { recursive: true }));
    const dist = fileURLToPath(new URL("../../packages/local/dist", import.meta.url));
    await cp(dist, join(home, "dist"), { recursive: true });
    await runProgram(["chmod", "-R", "a+rX", join(home, "dist")]);
    await chown(home, ordinaryUid, ordinaryUid);
    const index = await startPackageServer("index.test");
    onTestFinished(() => index[Symbol.asyncDispose]());
    const env = {
      XDG_DATA_HOME: join(home, "data"),
      PIP_INDEX_URL: `http://127.0.0.1:${index.httpPort}/simple`,
      PIP_DISABLE_PIP_VERSION_CHECK: "1",
    };
    const run = (through: readonly string[], command: string) => {
      const uid = String(ordinaryUid);
      const as = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"];
      const program = [process.execPath, join(home, "dist", "main.js"), command];
      return runProgram([...through, ...as, ...program], { env });
    };
    return { env, run };
  }

  test("installs Python's packages from the index, which all programs in the user's sandboxes then have", async () => {
    const { env, run } = await ordinaryUser();
    const { code, stderr } = await run(onlyPip, "setup");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^Installing from PyPI to .*: pandas, numpy,.*\n(.*\n)*Sandboxes that start now have them.\n$/,
      ),
    });
    expect((await run(onlyPip, "doctor")).stdout).toMatch(/^Packages: .*pandas 1\.0/m);

    const server = await startLocalServer({ who: "an ordinary user", through: onlyPip, env });
    onTestFinished(async () => void (await server.stop()));
    await using client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    const alone = await client.executeIsolated("import pandas; pandas.main()", { language: "python" });
    await using sandbox = await client.sandboxes.create({ template: "code-interpreter" });
    const commands = ["python3 -c 'import scikit_learn; scikit_learn.main()'", "httpx", "pip list"];
    const inSandbox = await Promise.all(commands.map((command) => sandbox.commands.run(command)));
    expect([alone, ...inSandbox].map(({ stdout, stderr: told }) => stdout + told)).toEqual([
      "pandas of the index\n",
      "scikit-learn of the index\n",
      "httpx of the index\n",
      expect.stringMatching(/^httpx +1\.0$/m),
    ]);
    expect(await run(onlyPip, "setup")).toMatchObject({ stderr: expect.not.stringContaining("Installing") });
  });

  test("says what root can do where there is no pip", async () => {
    const { run } = await ordinaryUser();
    const { code, stderr } = await run(nothing, "setup");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^cloud-sandbox-local: Python's pip is not installed\. Root can install pandas, .*: sudo apt-get install .*python3-pandas/,
    );
  });
});
