import type { ChildProcess } from "node:child_process";
import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "@cloud-sandbox/server-kit";
import { killGroup } from "../execution/programs/process-sweep.js";
import { type StartedProcess, startProcess } from "../execution/programs/started-program.js";
import type { PrivateDirectory } from "../machine/private-directory.js";
import type { DesktopLog } from "./desktop-log.js";
import { runTool } from "./desktop-tool.js";

export interface DisplayServerOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: PrivateDirectory;
  readonly log: DesktopLog;
  /** Marks all processes of the desktop. */
  readonly id: string;
}

/** The display that is taken if no program has it already. */
export const firstDisplay = 1;
const lastDisplay = 9;
/** The size of the screen at its start: images of it need no scaling for today's models. */
const size = "1280x800";
const background = "#3b4252";
const startLimitMs = 10_000;
const endNoticeMs = 100;
const stopLimitMs = 500;
/** Where X servers have their sockets. */
const socketDirectory = "/tmp/.X11-unix";

/** A running X server that is a VNC server too, with a window manager. */
export class DisplayServer {
  #manager: Promise<StartedProcess> | undefined;
  /** How many window managers have been started. */
  #hasEnded = false;

  private constructor(
    readonly display: number,
    /** Path of the Unix socket that speaks RFB, the protocol of VNC. */
    readonly socket: string,
    private readonly server: StartedProcess,
    private readonly options: DisplayServerOptions,
  ) {
    void server.exit.then(([code, signal]) => {
      this.#hasEnded = true;
      options.log.add("desktop", `The X server ended (${signal ?? `exit code ${code}`}).`);
    });
  }

  /** Starts the X server on the first display that is free. Rejects with the reason if there is none. */
  static async start(options: DisplayServerOptions): Promise<DisplayServer> {
    await makeSocketDirectory();
    const folder = await options.directory.folder();
    for (let display = firstDisplay; display <= lastDisplay; display += 1) {
      const socket = join(folder, `vnc-${display}`);
      const server = await startServer(display, socket, options);
      if (await isReady(server)) {
        const started = new DisplayServer(display, socket, server, options);
        await Promise.all([started.manage(), started.paint()]);
        return started;
      }
      killGroup(server.pid, "SIGKILL");
    }
    throw new Problem(409, "DESKTOP_FAILED", "The X server could not be started.", {
      hint: "GET /desktop/debug/logs has what it said: displays may be taken by programs in the sandbox, or memory may be short.",
    });
  }

  get isRunning(): boolean {
    return !this.#hasEnded;
  }

  /** Whether the X server has ended. Waits a moment: its clients see that before the agent does. */
  async hasEnded(): Promise<boolean> {
    await Promise.race([this.server.exit, sleep(endNoticeMs, undefined, { ref: false })]);
    return this.#hasEnded;
  }

  /** Ends the X server, which then removes its socket and its lock. */
  async stop(): Promise<void> {
    killGroup(this.server.pid, "SIGTERM");
    await Promise.race([this.server.exit, sleep(stopLimitMs, undefined, { ref: false })]);
  }

  /** Starts the window manager, unless it runs: a program may have ended it. */
  async manage(): Promise<void> {
    this.#manager ??= this.#startManager().catch((error: unknown) => {
      this.#manager = undefined;
      throw error;
    });
    await this.#manager;
  }

  /** Gives the screen a color, so that it is seen to be there. */
  async paint(): Promise<void> {
    const { environment, id } = this.options;
    const env = { ...environment, DISPLAY: `:${this.display}` };
    await runTool({ command: "xsetroot", args: ["-solid", background] }, env, id);
  }

  /**
   * Resolves when the window manager handles events, which it shows by doing what a message asks: it answers for itself long before, and
   * windows that open meanwhile get lost.
   */
  async #startManager(): Promise<StartedProcess> {
    const { environment, log, id } = this.options;
    const env = { ...environment, DISPLAY: `:${this.display}` };
    // What an earlier one was told must not be taken for an answer.
    await runTool({ command: "xprop", args: ["-root", "-remove", "_NET_NUMBER_OF_DESKTOPS"] }, env, id);
    const manager = await startProcess(
      { command: "openbox", args: ["--sm-disable"] },
      { cwd: "/", env, stdio: ["ignore", "ignore", "pipe"], id },
    );
    log.follow("openbox", manager.child.stderr);
    let runs = true;
    void manager.exit.then(() => {
      runs = false;
      this.#manager = undefined;
    });
    const deadline = Date.now() + startLimitMs;
    while (runs && Date.now() < deadline) {
      const args = ["set_num_desktops", "1", "get_num_desktops"];
      const { stdout } = await runTool({ command: "xdotool", args }, env, id);
      if (stdout.toString().trim() === "1") break;
      await sleep(10);
    }
    return manager;
  }
}

function startServer(
  display: number,
  socket: string,
  { environment, log, id }: DisplayServerOptions,
): Promise<StartedProcess> {
  const args = [
    ...[`:${display}`, "-geometry", size, "-depth", "24", "-s", "0", "-noreset", "-nolisten", "tcp"],
    ...["-rfbport", "-1", "-rfbunixpath", socket, "-SecurityTypes", "None", "-AlwaysShared"],
    ...["-AcceptSetDesktopSize=0", "-UseBlacklist=0", "-MaxCutText=1048576", "-desktop", "sandbox"],
    // Only errors: otherwise each viewer fills the log.
    ...["-Log", "*:stderr:0"],
    // OpenGL without a GPU takes 50 MiB of memory, in every desktop.
    ...["-extension", "GLX", "-displayfd", "3"],
  ];
  const stdio: ("ignore" | "pipe")[] = ["ignore", "ignore", "pipe", "pipe"];
  const starting = startProcess({ command: "Xtigervnc", args }, { cwd: "/", env: environment, stdio, id });
  void starting.then(({ child }) => log.follow("Xtigervnc", child.stderr)).catch(() => undefined);
  return starting;
}

/** Resolves with true when the X server accepts clients; with false if it ends before, as it does when the display is taken. */
async function isReady({ child, exit }: StartedProcess): Promise<boolean> {
  const ready = displayReport(child);
  const limit = new AbortController();
  try {
    return await Promise.race([
      ready.then(() => true),
      exit.then(() => false),
      sleep(startLimitMs, false, { signal: limit.signal }),
    ]);
  } finally {
    limit.abort();
  }
}

/** Resolves when the X server has written the number of its display, and a newline, which it does once it accepts clients. */
function displayReport({ stdio }: ChildProcess): Promise<void> {
  const report = stdio[3];
  return new Promise((resolve) => {
    report?.on("error", () => undefined);
    report?.on("data", (bytes: Buffer) => {
      if (bytes.includes("\n")) resolve();
    });
  });
}

/** X servers of ordinary users do not make it. If a program has put something else there, the X server says so in the log. */
async function makeSocketDirectory(): Promise<void> {
  if ((await lstat(socketDirectory).catch(() => undefined)) !== undefined) return;
  await mkdir(socketDirectory, { mode: 0o1777 }).catch(() => undefined);
}
