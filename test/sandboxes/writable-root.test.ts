import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";
import { needs } from "../support/needs.js";
import { PathWithoutOverlay } from "../support/without-overlay.js";

/** A command that is run in a sandbox, the text that it must print, and the packages that it needs. */
type Case = readonly [name: string, command: string, printed: string, ...needs: string[]];

const everywhere: readonly Case[] = [
  [
    "pip install of a wheel",
    `mkdir -p /tmp/wheel/greeting-1.0.dist-info && cd /tmp/wheel
echo 'def main(): print("hello from a wheel")' > greeting.py
cd greeting-1.0.dist-info && printf 'Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n' > METADATA
printf 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n' > WHEEL
printf '[console_scripts]\\ngreeting=greeting:main\\n' > entry_points.txt
printf '%s,,\\n' greeting.py greeting-1.0.dist-info/{METADATA,WHEEL,entry_points.txt,RECORD} > RECORD
cd .. && python3 -m zipfile -c greeting-1.0-py3-none-any.whl greeting.py greeting-1.0.dist-info
cd / && pip install --quiet --no-index /tmp/wheel/*.whl 2>/tmp/complaints || cat /tmp/complaints
greeting`,
    "hello from a wheel\n",
    "python3-pip",
  ],
  [
    "npm install -g of a package",
    `mkdir -p /tmp/package && cd /tmp/package
echo '{"name":"greeter","version":"1.0.0","bin":{"greeter":"cli.js"}}' > package.json
printf '#!/usr/bin/env node\\nconsole.log("hello from a package")\\n' > cli.js
npm install -g --offline --no-audit --no-fund --silent "$(npm pack --silent)" && greeter`,
    "hello from a package\n",
  ],
  [
    "git clone",
    `git init -q /tmp/origin && cd /tmp/origin && echo content > file && git add file
git -c user.name=a -c user.email=a@example.org commit -qm "Begin"
git clone -q file:///tmp/origin /workspace/clone && cat /workspace/clone/file`,
    "content\n",
    "git",
  ],
  [
    "python, where the host has only python3",
    "python -c 'import sys; print(sys.executable)' | sed 's,3[.0-9]*$,,'; printf '#!/usr/bin/env python\\nprint(42)\\n' > /tmp/script; chmod +x /tmp/script; /tmp/script",
    "/usr/bin/python\n42\n",
  ],
  [
    "python of a virtual environment, and one of somebody's own, before it",
    `python -m venv --without-pip /tmp/venv && PATH=/tmp/venv/bin:$PATH sh -c 'command -v python; python -c "import sys; print(sys.prefix)"'
mkdir -p ~/.local/bin && printf '#!/bin/sh\\necho own\\n' > ~/.local/bin/python && chmod +x ~/.local/bin/python && python; rm ~/.local/bin/python`,
    "/tmp/venv/bin/python\n/tmp/venv\nown\n",
  ],
  [
    "pip and pip3, which are Python's own where it has them",
    `pip --version | cut -c -4; pip3 --version | cut -c -4; PATH=/opt/cloud-sandbox/fallbacks:$PATH pip --version | cut -c -4
PATH=/tmp/venv/bin:/opt/cloud-sandbox/fallbacks pip3 install greeting 2>&1 | cut -d . -f 1`,
    "pip \npip \npip \npip3: this Python has no pip\n",
    "python3-pip",
  ],
  [
    "a server on all addresses that outlives its execution",
    `mkdir -p /tmp/site && cd /tmp/site && echo served > index.html
nohup python3 -m http.server 8123 --bind 0.0.0.0 >/dev/null 2>&1 &
until curl -s http://127.0.0.1:8123/index.html; do sleep 0.05; done`,
    "served\n",
    "curl",
  ],
  ["the server a command later", "curl -s http://127.0.0.1:8123/index.html", "served\n", "curl"],
  ["apt, which needs root", "apt-get install -y hello 2>&1 | grep -c 'are you root'", "1\n"],
];

const withOverlay: readonly Case[] = [
  ["apt, and what would help", "apt-get install -y hello 2>&1 | grep -o -e --root-inside", "--root-inside\n"],
  ["a directory at the root", "mkdir /data && echo kept > /data/file && cat /data/file", "kept\n"],
  ["a file in /etc", "echo setting > /etc/example.conf && cat /etc/example.conf", "setting\n"],
  [
    "another host name",
    "echo 127.0.0.1 example.test >> /etc/hosts && getent hosts example.test",
    "127.0.0.1       example.test\n",
  ],
  [
    "a program in /usr",
    "printf '#!/bin/sh\\necho installed\\n' > /usr/bin/mine && chmod +x /usr/bin/mine && mine",
    "installed\n",
  ],
  [
    "where pip and npm install",
    "ls -d /usr/local/bin/greeting; npm prefix -g",
    // npm installs beside the Node.js that runs it.
    `/usr/local/bin/greeting\n${dirname(dirname(process.execPath))}\n`,
    "python3-pip",
  ],
  [
    "df, for the size of all of it",
    "df --output=size -BM / /usr /workspace /tmp ~ | tail -n +2 | sort -u | tr -d ' '",
    "1024M\n",
  ],
  [
    "a program with the set-uid bit, which gives nothing",
    "cp /usr/bin/id /tmp/id && chmod 4755 /tmp/id && /tmp/id -u",
    "1000\n",
  ],
];

const withoutOverlay: readonly Case[] = [
  [
    "a directory at the root, refused",
    "mkdir /data 2>&1",
    "mkdir: cannot create directory ‘/data’: Read-only file system\n",
  ],
  [
    "where pip and npm install",
    "ls -d ~/.local/bin/greeting; npm prefix -g",
    "/home/sandbox/.local/bin/greeting\n/home/sandbox/.local\n",
    "python3-pip",
  ],
];

const hosts: readonly { name: string; who: StartedBy; hasOverlay: boolean }[] = [
  { name: "started by root", who: "root", hasOverlay: true },
  { name: "started by an ordinary user", who: "an ordinary user", hasOverlay: true },
  { name: "on a host that allows no overlay", who: "an ordinary user", hasOverlay: false },
];

describe.each(hosts)("what people type works in a sandbox $name:", ({ who, hasOverlay }) => {
  const obstacle = cannotStartAs(who);
  let without: PathWithoutOverlay | undefined;
  let server: LocalServer;
  let client: SandboxClient;
  let sandbox: Sandbox;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    without = hasOverlay ? undefined : await PathWithoutOverlay.make();
    server = await startLocalServer({
      who,
      args: ["--pool", "0"],
      env: without ? { PATH: without.path } : {},
    });
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    sandbox = await client.sandboxes.create({ template: "code-interpreter" });
  });

  afterAll(async () => {
    await client?.close();
    await server?.stop();
    await without?.[Symbol.asyncDispose]();
  });

  test.for([...everywhere, ...(hasOverlay ? withOverlay : withoutOverlay)])(
    "%s",
    async ([, command, printed, ...needed], { skip }) => {
      skip(obstacle !== undefined, obstacle);
      for (const name of needed) skip(...needs(name));
      const { stdout, stderr } = await sandbox.execute(command, { language: "bash", timeoutSeconds: 60 });
      expect(stdout + stderr).toBe(printed);
      expect(existsSync("/data/file")).toBe(false);
    },
  );

  test("no other user of the host can change what it is made of", ({ skip }) => {
    skip(obstacle !== undefined, obstacle);
    skip(process.getuid?.() !== 0, "only root can try as another user");
    const instances = [tmpdir(), "/dev/shm"].flatMap((place) =>
      readdirSync(place)
        .filter((name) => name.startsWith(`cloud-sandbox-${server.pid}-`))
        .map((name) => join(place, name)),
    );
    expect(instances).not.toEqual([]);
    const open = ["(", "-type", "d", "-o", "-type", "f", ")", "-perm", "-0002", "-print0"];
    const script = `find "$@" | setpriv --reuid 4242 --regid 4242 --clear-groups \\
  xargs -0 sh -c 'for path; do [ ! -w "$path" ] || echo "$path"; done' writable | head -n 5`;
    expect(
      execFileSync("/bin/sh", ["-c", script, "other", ...instances, ...open], { encoding: "utf8" }),
    ).toBe("");
  });
});
