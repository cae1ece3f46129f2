import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { hasEnded, signalIfThere } from "../../host/process-tree.js";
import { type Init, initIn } from "../user-namespace.js";
import launcher from "./launcher.pl?raw";
import { closeWriteEnds, type ProgramPipe } from "./program-pipes.js";
import { type ProgramProcess, type ProgramStart, programDescriptors } from "./program-process.js";

/** After so many failures, and no success in between, no further attempt is made. */
const mostFailures = 3;
/** Milliseconds to wait for a process that has closed its files. It never seems to end if a process that stays got its pid. */
const goneLimitMs = 30_000;

/**
 * Starts programs by forking one small process, the launcher, in which `launcher.pl` serves. To fork this process, whose heap
 * is large, and to start Perl would cost each program several milliseconds of processor time, and no request is answered
 * during the fork.
 *
 * What belongs to a program goes over a connection to the child that becomes it; the launcher itself reads none of it. The
 * launcher ends with this process, and its children end with it. The next program then starts another launcher.
 */
export class ProgramLauncher {
  /** Fulfilled when the process takes requests. */
  #server: Promise<void> | undefined;
  #process: ChildProcess | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(
    /** The instance directory, by which the guard finds the process. */
    private readonly directory: string,
    private readonly socket: string,
    private readonly strayDescriptors: readonly number[],
  ) {}

  /** Whether programs can be started. Starts the process if it does not run. */
  async isReady(): Promise<boolean> {
    if (this.#failures >= mostFailures || this.#isClosed) return false;
    this.#server ??= this.#serve();
    return this.#server.then(
      () => true,
      () => false,
    );
  }

  /** Starts the process, so that {@link isReady} finds it started. */
  async prepare(): Promise<void> {
    await this.isReady();
  }

  /** Starts a program after {@link isReady}. `report` is the pipe that bubblewrap reports to. */
  start(start: ProgramStart, report: ProgramPipe): ProgramProcess {
    const { launch, stdout, stderr, seccompFile } = start;
    const variables = Object.entries({
      ...launch.environment,
      MACHINE_STDOUT: stdout.path,
      MACHINE_STDERR: stderr.path,
      MACHINE_REPORT: report.path,
      ...(seccompFile !== undefined && { MACHINE_FILTER: seccompFile }),
    }).map(([name, value]) => `${name}=${value}`);
    const options = ["--json-status-fd", String(programDescriptors.report), ...start.options];
    const request = Buffer.from(
      [variables.length, start.command.length, ...variables, ...start.command, ...options].join("\0"),
    );
    const length = Buffer.alloc(4);
    length.writeUInt32BE(request.length);
    // While the channel pauses, no more than one piece is read ahead.
    const launcher = { path: this.socket, highWaterMark: 1 };
    const control = connect(launcher);
    control.write(Buffer.concat([length, request]));
    const pipes = [stdout, stderr, report];
    const program = new ForkedProgram(control, report, () => closeWriteEnds(pipes));
    if (!start.holdsProcess) program.unref();
    return program;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Do not wait until it takes requests: a Perl that hangs never does.
    const server = this.#process;
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    server.ref();
    server.kill("SIGKILL");
    await exit;
  }

  async #serve(): Promise<void> {
    // A launcher that was killed leaves its socket.
    rmSync(this.socket, { force: true });
    const server = spawn("perl", ["-e", launcher, "--", this.directory], {
      cwd: "/",
      env: {
        PATH: process.env.PATH ?? "/usr/bin:/bin",
        MACHINE_ARCHITECTURE: process.arch,
        MACHINE_PARENT: String(process.pid),
        MACHINE_CLOSED: this.strayDescriptors.join(" "),
        MACHINE_SOCKET: this.socket,
      },
      // Detached, so that a signal to this process's group does not end the programs.
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#process = server;
    server.unref();
    if (server.stdout instanceof Socket) server.stdout.unref();
    const ended = new Promise<never>((_, reject) => {
      const fail = (): void => {
        this.#failures += 1;
        this.#server = undefined;
        reject(new Error("the launcher of programs has ended"));
      };
      server.once("error", fail);
      server.once("exit", fail);
    });
    ended.catch(() => undefined);
    await Promise.race([once(server.stdout, "data"), ended]);
    this.#failures = 0;
  }
}

/** A program that was forked from the launcher. bubblewrap keeps the pipe for its report open to its end. */
class ForkedProgram implements ProgramProcess {
  readonly init: Promise<Init | undefined>;
  readonly exit: Promise<number | null>;
  #pid: number | undefined;
  #isRunning = true;
  readonly #report: Socket;

  constructor(
    readonly control: Socket,
    { read }: ProgramPipe,
    private readonly closeWriteEnds: () => void,
  ) {
    this.#report = new Socket({ fd: read, readable: true, writable: false });
    // A child that ends before it has opened the pipes ends the report with this process's write end.
    control.once("close", () => this.closeWriteEnds());
    control.on("error", () => undefined);
    this.#report.on("error", () => undefined);
    let exitCode: number | null = null;
    this.init = new Promise((resolve) => {
      const take = (line: string): void => {
        if (this.#pid === undefined) {
          this.#pid = Number(line);
          this.closeWriteEnds();
        } else {
          const init = initIn(line);
          if (init) resolve(init);
          else exitCode = exitCodeIn(line);
        }
      };
      let text = "";
      this.#report.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (text + chunk).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) take(line);
      });
      this.#report.once("close", () => resolve(undefined));
    });
    this.exit = new Promise((resolve) => {
      this.#report.once("close", () => {
        this.#isRunning = false;
        void gone(this.#pid).then(() => resolve(exitCode));
      });
    });
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The child opens all pipes before it reports its number. */
  get hasOpenedPipes(): boolean {
    return this.#pid !== undefined;
  }

  kill(): void {
    // After the report's end the pid may belong to another process.
    if (this.#pid !== undefined && this.#isRunning) signalIfThere(this.#pid, "SIGKILL");
    this.control.destroy();
  }

  unref(): void {
    this.control.unref();
    this.#report.unref();
  }
}

/**
 * Waits for the end of a process that has closed its files. The kernel removes its mounts only then, which takes long if they
 * hold much, and its control group is busy until they are removed.
 */
async function gone(pid: number | undefined): Promise<void> {
  const deadline = Date.now() + goneLimitMs;
  // Most end within 3 ms.
  for (let tries = 0; pid !== undefined && !hasEnded(pid) && Date.now() < deadline; tries += 1)
    await sleep(Math.min(Math.max(1, tries - 3), 16));
}

function exitCodeIn(line: string): number | null {
  try {
    const told = JSON.parse(line) as Record<string, number | undefined>;
    return told["exit-code"] ?? null;
  } catch {
    return null;
  }
}
