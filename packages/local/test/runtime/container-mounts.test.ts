import { spawn } from "node:child_process";
import { once } from "node:events";
import type Docker from "dockerode";
import { afterEach, describe, expect, test, vi } from "vitest";
import { mountIn, mountObstacle } from "../../src/runtime/docker/container-mounts.js";
import { seccompProfile } from "../../src/runtime/docker/engine/seccomp-profile.js";

const daemon = { OSType: "linux", Architecture: "x86_64", NCPU: 1, ServerVersion: "20" } as const;

afterEach(() => vi.unstubAllEnvs());

describe("what keeps a server from mounting in containers", { tags: ["root"] }, () => {
  test.each([
    ["a daemon in a virtual machine", { OperatingSystem: "Docker Desktop" }, undefined, /Docker Desktop/],
    ["a rootless daemon", { SecurityOptions: ["name=seccomp", "name=rootless"] }, undefined, /userns-remap/],
    ["a daemon that maps uids", { SecurityOptions: ["name=userns"] }, undefined, /userns-remap/],
    ["another runtime", {}, "runsc", /leave --docker-runtime out/],
  ])("is %s", (_, found, runtime, reason) => {
    expect(mountObstacle({ ...daemon, ...found }, runtime)).toMatch(reason);
  });

  test("is a daemon over a network", () => {
    vi.stubEnv("DOCKER_HOST", "tcp://127.0.0.1:2375");
    expect(mountObstacle(daemon, undefined)).toMatch(/over a network; use the socket/);
  });

  test("is nothing with a daemon of this machine", () => {
    for (const host of ["", "unix:///var/run/docker.sock"]) {
      vi.stubEnv("DOCKER_HOST", host);
      expect(mountObstacle(daemon, undefined)).toBeUndefined();
    }
  });
});

describe("a mount in a container", { tags: ["root", "sandboxes"] }, () => {
  const variable = "CLOUD_SANDBOX_CHANNEL=of-this-container";
  const mount = {
    source: { path: "/tmp", identity: "0:0", owner: { uid: 0, gid: 0 } },
    ...{ target: "/data", readOnly: true },
  };
  /** A container whose process on this machine is that of a command. */
  const inside = async (command: readonly string[], mounting: string): Promise<unknown> => {
    const [program = "", ...args] = command;
    const child = spawn(program, [...args, "sh", "-c", "echo ready; read -r _"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env.PATH, CLOUD_SANDBOX_CHANNEL: "of-this-container" },
    });
    await once(child.stdout, "data");
    const container = { inspect: async () => ({ State: { Pid: child.pid } }) };
    try {
      await mountIn(container as unknown as Docker.Container, mounting, [mount]);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    } finally {
      child.kill();
    }
  };

  test("is not made in the process of another one that has the pid here", async () => {
    expect(await inside(["env"], `${variable}-not`)).toMatch(/no process of this machine.*where the Docker/);
    expect(await inside(["env"], "CLOUD_SANDBOX_CHANNEL=of-this")).toMatch(/no process of this machine/);
  });

  test("is not made where uids are mapped", async () => {
    expect(await inside(["unshare", "--user"], variable)).toMatch(/maps uids.*without userns-remap/);
  });

  test("is of the directory that was opened, and of no other at its path", async () => {
    expect(await inside(["unshare", "--mount"], variable)).toBe("/tmp was replaced by another directory");
  });
});

test("code that writes to this machine gets no call that could make set-uid files", () => {
  const { syscalls } = JSON.parse(seccompProfile(true)) as {
    syscalls: { names: string[]; action: string; args?: unknown[] }[];
  };
  const allowed = (name: string) =>
    syscalls.filter(({ names, action }) => action === "SCMP_ACT_ALLOW" && names.includes(name));
  for (const name of [
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "open",
    "openat",
    "creat",
    "mknod",
    "mknodat",
  ])
    expect(allowed(name)).toEqual([
      expect.objectContaining({ args: [expect.objectContaining({ value: 0o6000, valueTwo: 0 })] }),
    ]);
  expect(allowed("openat2")).toEqual([]);
  expect(allowed("read")).toHaveLength(1);
});
