import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { progress } from "../measure.mjs";
import { testModule } from "../test-module.mjs";
import { eachInCommand } from "./command.mjs";
import { pythonPrograms } from "./programs.mjs";

const exec = promisify(execFile);
const programs = pythonPrograms("/workspace");

/** A container engine: the words that call it, the image of its containers, and their options. */
class Engine {
  #command;
  #image;
  #options;

  constructor(command, image, options = []) {
    this.#command = command;
    this.#image = image;
    this.#options = options;
  }

  with(...options) {
    return new Engine(this.#command, this.#image, [...this.#options, ...options]);
  }

  /** Runs every program in a new container. */
  inNew(directory) {
    const start = this.#run(directory, "--rm", "--interactive");
    return eachInCommand((code) => [...start, "python3", "-c", code], programs);
  }

  /** Runs all programs in one container. */
  async inOne(directory) {
    const id = await this.#start(directory);
    const command = (code) => [...this.#command, "exec", id, "python3", "-c", code];
    const hold = async () => {
      const other = await this.#start(directory);
      return () => this.call("rm", "--force", other);
    };
    const close = () => this.call("rm", "--force", id);
    return { ...eachInCommand(command, programs), hold, close };
  }

  async call(...args) {
    const [program, ...words] = this.#command;
    await exec(program, [...words, ...args]);
  }

  /** Why it starts no container. Undefined if it does. */
  async obstacle() {
    const [program, ...args] = [...this.#run(tmpdir(), "--rm"), "true"];
    return exec(program, args).then(
      () => undefined,
      ({ message }) => `it starts no container (${message.trim().split("\n").at(-1)})`,
    );
  }

  /** Starts a container that does nothing. Resolves with its id. */
  async #start(directory) {
    const [program, ...args] = [...this.#run(directory, "--detach"), "sleep", "infinity"];
    return (await exec(program, args)).stdout.trim();
  }

  #run(directory, ...options) {
    const apart = ["--network", "none", "--volume", `${directory}:/workspace:ro`];
    return [...this.#command, "run", ...apart, ...this.#options, ...options, this.#image];
  }
}

/**
 * Starts the Docker daemon of the tests, which all processes then use that this one starts. Resolves with its engine, or with the reason why
 * there is none.
 */
export async function startDocker() {
  progress("a Docker daemon is started");
  const { startOwnDaemon } = await testModule("support/docker/own-daemon.ts");
  const { daemon, stop } = await startOwnDaemon();
  if (daemon.missing !== undefined) return daemon;
  const { DOCKER_HOST: before } = process.env;
  process.env.DOCKER_HOST = daemon.host;
  return {
    ...daemon,
    engine: new Engine(["docker"], daemon.image),
    place: dirname(new URL(daemon.host).pathname),
    stop: async () => {
      if (before === undefined) delete process.env.DOCKER_HOST;
      else process.env.DOCKER_HOST = before;
      await stop();
    },
  };
}

/**
 * Gives Podman a storage of its own, with the image of the tests. Resolves with its engine, or with the reason why there is none. Podman uses
 * runc, because crun of Debian 12 refuses machines that have both versions of control groups.
 */
export async function startPodman() {
  const storage = mkdtempSync(join(tmpdir(), "podman-"));
  const places = ["--root", join(storage, "root"), "--runroot", join(storage, "run")];
  const settings = ["--cgroup-manager", "cgroupfs", "--runtime", "runc", "--log-level", "error"];
  // Podman raises these limits, which root may not do in every virtual machine.
  const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096"];
  const engine = new Engine(["podman", ...places, ...settings], "bench", [...limits, "--stop-timeout", "0"]);
  const stop = async () => {
    await engine.call("rm", "--force", "--all").catch(() => undefined);
    // Podman mounts this directory on itself.
    await exec("umount", [join(storage, "root", "overlay")]).catch(() => undefined);
    rmSync(storage, { recursive: true });
  };
  progress("Podman gets an image");
  const missing = (await importImage("podman", [...places, ...settings])) ?? (await engine.obstacle());
  if (missing === undefined) return { engine, place: storage, stop };
  await stop();
  return { missing };
}

/** Makes the image of the tests. Resolves with the reason if that fails. */
async function importImage(program, words) {
  const { baseFiles } = await testModule("support/docker/base-image.ts");
  const importing = spawn(program, [...words, "import", "--quiet", "-", "bench"], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const closed = once(importing, "close").then(
    ([code]) => (code === 0 ? undefined : "it imports no image"),
    () => `it is not installed: "apt-get install ${program}"`,
  );
  // A program that has not started, or ended early, takes no input.
  importing.stdin.on("error", () => undefined);
  (await baseFiles()).pipe(importing.stdin);
  return closed;
}
