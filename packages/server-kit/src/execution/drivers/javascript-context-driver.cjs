// The driver of JavaScript contexts: keeps variables between executions. It is run by javascript-start.cjs
// and takes requests over descriptor 3, as the driver of Python contexts does.
//
// V8 evaluates the code in the way of a debugger's console: declarations persist and may be repeated, "await" works
// at the top level, and the last expression has a value. An execution ends when Node.js would exit: when nothing is
// left to wait for.
//
// A request with the field "p", the path of a file, is a program: the only request, after which the process exits as it
// would after "node FILE".
(() => {
  "use strict";
  // biome-ignore lint/suspicious/noShadowRestrictedNames: what the code declares anew would hold for the driver too
  const { Buffer, Error, Map, Number, Object, console, process } = globalThis;
  const fs = require("node:fs"),
    vm = require("node:vm"),
    util = require("node:util"),
    timers = require("node:timers");
  const { Session } = require("node:inspector"),
    { Socket } = require("node:net");
  const transferName = "__cloudSandbox",
    longestText = 1 << 20,
    abandonLimit = 500;
  const exit = process.exit.bind(process),
    exiting = new Error("process.exit");
  const { becomeFile, define, fileOf } = globalThis.__cloudSandboxModules();
  const { exceptionFrame, hideDriverFrames } = globalThis.__cloudSandboxErrors();
  const { connect, devNull, exitReally, takeOwnSignals } = globalThis.__cloudSandboxProcess();
  const { display, displayed, emit } = globalThis.__cloudSandboxDisplays(() => current, send);
  for (const part of ["Modules", "Errors", "Process", "Displays"]) delete globalThis[`__cloudSandbox${part}`];
  process.execArgv = [];
  Object.assign(process, {
    exit(...codes) {
      if (!current) exitReally(...codes);
      if (current.isProgram) exitProgram(codes);
      current.exit = codes[0] ?? process.exitCode ?? 0;
      throw exiting;
    },
  });
  takeOwnSignals(() => {
    if (!current || current.isProgram) return;
    console.error("Interrupted");
    current.exit = 130;
    throw exiting;
  }, interrupt);
  // Create the streams now, while descriptors 1 and 2 are not pipes: Node then writes synchronously, to whatever the
  // descriptors are connected with later.
  void [process.stdout, process.stderr];
  const session = new Session();
  session.connect();

  const channel = new Socket({ fd: 3, readable: true, writable: true });
  let received = Buffer.alloc(0),
    _executions = 0,
    current;
  channel.on("error", () => undefined).on("close", () => exitReally(0));
  channel.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
      const end = 4 + received.readUInt32BE(0),
        body = received.subarray(4, end);
      received = received.subarray(end);
      const head = body.indexOf("\0\0");
      serve(body.toString("utf8", 0, head).split("\0"), body.toString("utf8", head + 2));
    }
  });

  function send(kind, payload = "") {
    const data = Buffer.from(kind + payload),
      length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    channel.write(Buffer.concat([length, data]));
  }

  /** Sends a frame while the process exits. */
  function sendNow(kind, payload) {
    const frame = Buffer.from(`\0\0\0\0${kind}${payload}`);
    frame.writeUInt32BE(frame.length - 4);
    try {
      for (let sent = 0; sent < frame.length; ) sent += fs.writeSync(3, frame, sent);
    } catch {
      // The channel is closed or full. The exit code tells the rest.
    }
  }

  function serve(given, source) {
    const fields = {},
      restored = new Map();
    let before;
    for (const field of given) {
      const tag = field[0],
        [name] = field.slice(1).split("=", 1),
        value = field.slice(name.length + 2);
      if (tag === "!") restored.set(name, process.env[name]);
      if (tag === "+" || tag === "!") process.env[name] = value;
      else if (tag === "-") delete process.env[name];
      else fields[tag] = field.slice(1);
    }
    const restore = () => {
      for (const [name, value] of restored) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      try {
        if (before) process.chdir(before);
      } catch {
        // The code has deleted the previous directory. Stay in the current one.
      }
    };
    try {
      if (fields.s) process.chdir(fields.s);
      if (fields.c) {
        // Undefined if the current directory was deleted: there is none to return to.
        before = cwd();
        process.chdir(fields.c);
      }
    } catch (error) {
      restore();
      return send("F", error.code);
    }
    try {
      connect(fields.o, fields.e);
    } catch {
      restore();
      connect(devNull, devNull);
      return send("P");
    }
    send("S");
    channel.unref();
    process.exitCode = undefined;
    const isProgram = fields.p !== undefined;
    current = {
      ...{ name: fields.n, source, restore, isProgram },
      ...{ isSettled: false, outputs: 0, bytes: 0, dropped: 0 },
    };
    becomeFile(fields.p ?? `${cwd() ?? ""}/${fields.n}`);
    if (isProgram) beginProgram(fields.p, source, fields.w !== undefined);
    run(current);
  }

  function cwd() {
    try {
      return process.cwd();
    } catch {
      return undefined;
    }
  }

  function beginProgram(filename, source, isWritten) {
    if (isWritten) {
      try {
        fs.writeFileSync(filename, source, { flag: "wx" });
      } catch {
        // A file of the user's has this name, or the directory cannot be written to.
      }
    }
    // The rest is Node's own: what a signal does, and an error that nobody catches.
    process.off("beforeExit", end).off("SIGINT", interrupt).off("uncaughtException", failAlone);
    process.on("uncaughtExceptionMonitor", tellUncaught);
    process.once("exit", (code) => {
      const { isSettled, dropped } = current;
      if (!isSettled && !code) {
        warnUnsettled();
        process.exitCode = 13;
      }
      sendNow("E", `${Number(process.exitCode ?? code) & 255} ${dropped}`);
    });
  }

  function exitProgram(codes) {
    current.isSettled = true;
    try {
      exit(...codes);
    } catch (error) {
      // No code that Node.js takes.
      current.isSettled = false;
      throw error;
    }
  }

  function warnUnsettled() {
    console.error("Warning: Detected unsettled top-level await");
  }

  // Running code.
  const start = new vm.Script(`globalThis.${transferName}`, { filename: "cloud-sandbox" });

  /** What reading and setting the global variable does. It is defined once, because code may freeze the global object. */
  let handed;
  Object.defineProperty(globalThis, transferName, {
    get: () => handed?.get?.(),
    set: (value) => handed?.set?.(value),
  });

  function handing(accessors, use) {
    handed = accessors;
    try {
      return use();
    } finally {
      handed = undefined;
    }
  }

  function run(execution) {
    const { isProgram, name, source } = execution,
      file = isProgram ? fileOf(source, name) : undefined;
    return file ? runFile(execution, file) : evaluate(execution);
  }

  function runFile(execution, file) {
    try {
      file();
      execution.isSettled = true;
    } catch (error) {
      execution.isSettled = true;
      fail(error);
    }
  }

  function evaluate(execution) {
    const expression = `${execution.source}\n//# sourceURL=${execution.name}`;
    const begin = () =>
      session.post(
        "Runtime.evaluate",
        { expression, replMode: true, awaitPromise: true },
        (error, answer) => {
          if (execution !== current || execution.isSettled) return;
          execution.isSettled = true;
          // A new interpreter has to take the place of one without its inspector.
          if (error && !execution.isProgram) exitReally(70);
          if (error) return fail(error);
          if (answer.exceptionDetails)
            fail(valueOfRemote(answer.exceptionDetails.exception), answer.exceptionDetails);
          else showResult(answer.result);
        },
      );
    try {
      // With breakOnSigint, SIGINT interrupts the code even in an endless loop. It ends a program anyway.
      handing({ get: begin }, () => start.runInThisContext({ breakOnSigint: !execution.isProgram }));
    } catch (error) {
      if (error?.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED") interrupt();
      else fail(error);
    }
  }

  /** The actual value behind a remote object of the inspector. */
  function valueOfRemote({ objectId, type, value, unserializableValue }) {
    if (objectId === undefined)
      return type === "bigint"
        ? BigInt(unserializableValue.slice(0, -1))
        : unserializableValue
          ? Number(unserializableValue)
          : value;
    let found;
    const functionDeclaration = `function () { globalThis.${transferName} = this; }`;
    handing({ set: (given) => (found = given) }, () =>
      session.post("Runtime.callFunctionOn", { objectId, functionDeclaration }),
    );
    session.post("Runtime.releaseObject", { objectId });
    return found;
  }

  function showResult(remote) {
    if (remote.type === "undefined") return;
    const value = remote.type === "symbol" ? remote.description : valueOfRemote(remote);
    const text = remote.type === "symbol" ? value : util.inspect(value);
    send("R", text.length > longestText ? `${text.slice(0, longestText)} [cut]` : text);
    if (typeof value?.[displayed] === "function") emit(value[displayed]());
  }

  const catchesErrors = () =>
    process.hasUncaughtExceptionCaptureCallback() || process.listenerCount("uncaughtException") > 0;
  /** Whether a program has something that Node.js tells of errors that nobody catches. The driver's own monitor is one. */
  const takesErrors = () => catchesErrors() || process.listenerCount("uncaughtExceptionMonitor") > 1;

  /** Tells of an error that ends a program outside of its main code, which Node.js prints. */
  function tellUncaught(error) {
    if (catchesErrors()) return;
    try {
      sendNow("X", exceptionFrame(error, util.inspect(error)));
    } catch {
      // The thrown value cannot be printed.
    }
  }

  function fail(error, details) {
    const throwAgain = () => {
      throw error;
    };
    if (current.isProgram && takesErrors()) return process.nextTick(throwAgain);
    if (error !== exiting) {
      try {
        hideDriverFrames(error);
        const isSyntax = error instanceof SyntaxError && details && !error.stack.includes(current.name);
        const line = isSyntax ? (current.source.split("\n")[details.lineNumber] ?? "") : "";
        const where = isSyntax
          ? current.name +
            ":" +
            (details.lineNumber + 1) +
            "\n" +
            line +
            "\n" +
            " ".repeat(details.columnNumber) +
            "^\n\n"
          : "";
        const inspected = util.inspect(error);
        const text = where + (util.types.isNativeError(error) ? inspected : `Uncaught ${inspected}`);
        console.error(text);
        send("X", exceptionFrame(error, text));
      } catch {
        // The thrown value cannot be printed: one of its getters throws, or the code has closed standard error.
      }
      current.exit = 1;
    }
    abandon();
  }

  function interrupt() {
    if (!current) return;
    current.exit = 130;
    console.error("Interrupted");
    abandon();
  }

  /**
   * Ends an execution as process exit would: clears its timers and closes its handles. If something still keeps the
   * event loop busy after `abandonLimit` ms, the process exits.
   */
  function abandon() {
    const execution = current;
    execution.isSettled = true;
    if (execution.isProgram) exit(execution.exit);
    for (const [timer, clear] of pending) clear(timer);
    pending.clear();
    for (const handle of process._getActiveHandles()) {
      if (handle === channel) continue;
      handle.closeAllConnections?.();
      if (typeof handle.destroy === "function") handle.destroy();
      else if (typeof handle.kill === "function") handle.unref();
      else handle.close?.();
    }
    makeTimeout(() => execution === current && exitReally(execution.exit), abandonLimit).unref();
  }

  function end() {
    if (!current) return;
    const { exit, isSettled, dropped, restore } = current;
    if (!isSettled) warnUnsettled();
    const code = exit ?? process.exitCode ?? (isSettled ? 0 : 13);
    current = undefined;
    pending.clear();
    restore();
    connect(devNull, devNull);
    process.exitCode = undefined;
    channel.ref();
    send("E", `${Number(code) & 255} ${dropped}`);
  }
  process.on("beforeExit", end).on("SIGINT", interrupt);
  function failAlone(error) {
    if (current) fail(error);
  }
  process.on("uncaughtException", failAlone);

  // Timers are recorded, so that those of an execution that has ended can be cleared.
  const pending = new Map(),
    makeTimeout = timers.setTimeout;
  for (const kind of ["Timeout", "Interval", "Immediate"]) {
    const make = timers[`set${kind}`],
      clear = timers[`clear${kind}`];
    const known = (...args) => {
      const timer = make(...args);
      pending.set(timer, clear);
      return timer;
    };
    Object.defineProperties(known, Object.getOwnPropertyDescriptors(make));
    globalThis[`set${kind}`] = timers[`set${kind}`] = known;
  }

  define("display", display);
  define("__import", importHere);
  send("H");
})();
