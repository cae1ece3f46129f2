// The process of a JavaScript context: where it writes to, and what it does with its own signals. The driver takes the function
// and removes the global variable.
globalThis.__cloudSandboxProcess = () => {
  "use strict";
  // biome-ignore lint/suspicious/noShadowRestrictedNames: what the code declares anew would hold for this script too
  const { Map, Number, Object, Set, String, process } = globalThis;
  const fs = require("node:fs");
  const { O_WRONLY, O_NONBLOCK } = fs.constants;
  const { signals } = require("node:os").constants;
  const devNull = "/dev/null",
    exitReally = process.reallyExit.bind(process);

  /**
   * Connects standard output and error with these paths. Node has no dup2, but open() returns the lowest free
   * descriptor, so each is closed and then reopened.
   */
  function connect(...paths) {
    for (const number of [0, 1, 2]) {
      try {
        fs.fstatSync(number);
      } catch {
        fs.openSync(devNull, "r+");
      }
    }
    paths.forEach((path, index) => {
      // A FIFO without a reader is not the agent's. With O_NONBLOCK, opening it fails at once instead of blocking.
      const probe = fs.openSync(path, O_WRONLY | O_NONBLOCK);
      fs.closeSync(index + 1);
      if (fs.openSync(path, O_WRONLY) !== index + 1) exitReally(70);
      fs.closeSync(probe);
      // A pipe that the interpreter was started with.
      const inherited = /^\/proc\/self\/fd\/(\d+)$/.exec(path)?.[1];
      if (inherited) fs.closeSync(Number(inherited));
    });
  }

  const own = process.pid,
    kill = process.kill.bind(process);
  const names = new Map(Object.entries(signals).map(([name, number]) => [number, name]));
  const harmless = new Set(["SIGCHLD", "SIGCONT", "SIGPIPE", "SIGURG", "SIGUSR1", "SIGWINCH"]);

  /**
   * Keeps Node.js from ending its inspector, without which nothing can run here, when the code sends its own process a signal
   * that has no listener: Node.js expects to end by it. `interrupt` is called in the place of SIGINT; `listener` is not the code's.
   */
  function takeOwnSignals(interrupt, listener) {
    const isHandled = (name) => process.listeners(name).some((each) => each !== listener);
    Object.assign(process, {
      kill(pid, signal) {
        const name = String(names.get(signal) ?? signal);
        if (Number(pid) !== own || isHandled(name)) return kill(pid, signal);
        if (harmless.has(name)) return true;
        if (name === "SIGINT") interrupt();
        return kill(pid, signal);
      },
    });
  }

  return { connect, devNull, exitReally, takeOwnSignals };
};
