import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { hardened } from "../isolated.mjs";
import { eachInCommand } from "./command.mjs";
import { startDocker, startPodman } from "./containers.mjs";
import { startIsolates, startPyodide } from "./hosted.mjs";
import { javascriptPrograms, pythonPrograms } from "./programs.mjs";
import { startSandboxServer } from "./sandbox-servers.mjs";

const python = "Python, a new one for each program";
const kept = "Python, one that is there already";
const javascript = "JavaScript, a new one for each program";

const host = "files, processes and network of the host";
/** `side`: "floor" for the least that could run a program, "ours" for this project. */
const descriptions = {
  childProcess: { side: "floor", isolates: "nothing", lacks: "limits; rules for the network" },
  bubblewrap: {
    isolates: host,
    lacks: "limits; rules for the network; packages but the host's; a kernel of its own",
  },
  firejail: {
    isolates: "processes, network, home directories and /tmp of the host",
    lacks: "limits on all processes together; packages but the host's; a kernel of its own",
  },
  container: { isolates: host, lacks: "rules for the network by names; a kernel of its own" },
  gvisorContainer: { isolates: `${host}, and its kernel`, lacks: "rules for the network by names" },
  pyodide: {
    isolates: "nothing that its Node.js process has, which programs reach through JavaScript",
    lacks: "limits; processes, threads, sockets; packages that are not built for it",
  },
  isolate: {
    isolates: "files, processes and network of the host, by V8 alone",
    lacks: "Python; files; network; packages; limits on processors",
  },
  ours: { side: "ours", isolates: host, lacks: "a kernel of its own" },
  oursInGvisor: {
    side: "ours",
    isolates: `${host}, and its kernel`,
    lacks: "system calls that gVisor lacks",
  },
};

/** Every way to run a program that works on this machine, opened; and those that do not work, with the reasons. */
export class Alternatives {
  opened = [];
  skipped = [];
  /** Directories that processes of container engines name in their command lines. */
  places = [];
  #closing = [];

  static async open(directory) {
    const alternatives = new Alternatives();
    try {
      alternatives.#openCommands(directory);
      await alternatives.#openHosted(directory);
      const ours = ["--runtime", "bubblewrap"];
      await alternatives.#openSandboxes(directory, "Cloud Sandbox, bubblewrap", "ours", ours);
      await alternatives.#openDocker(directory);
      await alternatives.#openPodman(directory);
      const order = [python, kept, javascript];
      alternatives.opened.sort(
        (a, b) => order.indexOf(a.description.group) - order.indexOf(b.description.group),
      );
      return alternatives;
    } catch (error) {
      await alternatives.close();
      throw error;
    }
  }

  async close() {
    for (const close of this.#closing.reverse()) await close();
  }

  #openCommands(directory) {
    const inHost = { python: pythonPrograms(directory), javascript: javascriptPrograms(directory) };
    const mounted = { python: pythonPrograms("/workspace"), javascript: javascriptPrograms("/workspace") };
    const python3 = (code) => ["/usr/bin/python3", "-c", code];
    const node = (code) => [process.execPath, "-e", code];
    // It hides /tmp, so the directory takes the place of the home directory.
    const jail = ["firejail", "--quiet", "--net=none", `--private=${directory}`];
    const firejail = (code) => [...jail, ...python3(code)];
    this.#add("child process", python, "childProcess", eachInCommand(python3, inHost.python));
    this.#add("child process", javascript, "childProcess", eachInCommand(node, inHost.javascript));
    for (const [group, language, command] of [
      [python, "python", ["python3", "-c"]],
      [javascript, "javascript", ["node", "-e"]],
    ]) {
      const bubblewrap = (code) => hardened(directory, [...command, code]);
      this.#add("bubblewrap by hand", group, "bubblewrap", eachInCommand(bubblewrap, mounted[language]));
    }
    if (existsSync("/usr/bin/firejail"))
      this.#add("firejail", python, "firejail", eachInCommand(firejail, pythonPrograms(homedir())));
    else this.#skip("firejail", 'it is not installed: "apt-get install firejail"');
  }

  /** Packages that are not installed yet come from the registry, which may not be reached. */
  async #openHosted(directory) {
    for (const [name, group, description, start] of [
      ["Pyodide", python, "pyodide", () => startPyodide(directory, "new")],
      ["Pyodide", kept, "pyodide", () => startPyodide(directory, "one")],
      ["isolated-vm", javascript, "isolate", () => startIsolates(directory)],
    ]) {
      try {
        this.#add(name, group, description, await start());
      } catch ({ message }) {
        this.#skip(name, message);
      }
    }
  }

  async #openDocker(directory) {
    const { engine, image, missing, place, withoutGvisor, stop } = await startDocker();
    if (missing !== undefined) return this.#skip("Docker, and Cloud Sandbox with it", missing);
    this.#closing.push(stop);
    this.places.push(place);
    const ours = ["--runtime", "docker", "--docker-image", image];
    await this.#openEngine(directory, "docker", "container", engine);
    await this.#openSandboxes(directory, "Cloud Sandbox, Docker", "ours", ours);
    if (withoutGvisor !== undefined) return this.#skip("gVisor, and Cloud Sandbox with it", withoutGvisor);
    const gvisor = engine.with("--runtime", "runsc");
    await this.#openEngine(directory, "docker with gVisor,", "gvisorContainer", gvisor);
    const inGvisor = [...ours, "--docker-runtime", "runsc"];
    await this.#openSandboxes(directory, "Cloud Sandbox, gVisor", "oursInGvisor", inGvisor);
  }

  async #openPodman(directory) {
    const { engine, missing, place, stop } = await startPodman();
    if (missing !== undefined) return this.#skip("Podman", missing);
    this.#closing.push(stop);
    this.places.push(place);
    await this.#openEngine(directory, "podman", "container", engine);
  }

  async #openEngine(directory, name, description, engine) {
    this.#add(`${name} run`, python, description, engine.inNew(directory));
    this.#add(`${name} exec`, kept, description, await engine.inOne(directory));
  }

  async #openSandboxes(directory, name, description, args) {
    const server = await startSandboxServer(directory, args);
    this.#closing.push(server.stop);
    this.#add(name, python, description, server.inNew("python"));
    this.#add(name, kept, description, await server.inOne());
    if (name.endsWith("bubblewrap")) this.#add(name, javascript, description, server.inNew("javascript"));
  }

  #add(name, group, description, alternative) {
    if (alternative.close) this.#closing.push(alternative.close);
    this.opened.push({
      description: { name, group, side: "other", ...descriptions[description] },
      ...alternative,
    });
  }

  #skip(name, reason) {
    this.skipped.push({ name, skipped: reason });
  }
}
