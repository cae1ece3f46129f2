import { Problem } from "@cloud-sandbox/server-kit";
import { killGroup } from "../execution/programs/process-sweep.js";
import { startProcess } from "../execution/programs/started-program.js";
import type { Desktop } from "./desktop.js";
import { requirePrograms } from "./desktop-programs.js";

/** Where Chromium serves the DevTools protocol inside the sandbox. */
interface Target {
  readonly port: number;
  readonly path: string;
}

const startLimitMs = 30_000;

/**
 * Options of Chromium. Its own sandbox is off, because it needs user namespaces, which sandboxes have not: what keeps a page in is the
 * isolation of this sandbox.
 */
const options = [
  ...["--no-sandbox", "--test-type", "--no-first-run", "--no-default-browser-check", "--disable-gpu"],
  // Chromium's shared memory would need more of /dev/shm than sandboxes have.
  ...["--disable-dev-shm-usage", "--password-store=basic", "--start-maximized", "--remote-debugging-port=0"],
];

/** A Chromium on the desktop, one at a time. */
export class Browser {
  #target: Promise<Target> | undefined;
  /** Of the Chromium that runs. */
  target: Target | undefined;

  constructor(private readonly desktop: Desktop) {}

  /** Starts Chromium, unless it runs, and opens a page in it. */
  async start(url: string | undefined): Promise<void> {
    if (url !== undefined && !/^(https?|file|data|about):/i.test(url))
      throw new Problem(400, "INVALID_REQUEST", "url must begin with https:, http:, file:, data: or about:.");
    await requirePrograms(this.desktop.options.programs, ["chromium"]);
    await this.desktop.server();
    const isFirst = this.#target === undefined;
    this.#target ??= this.#start(url).catch((error: unknown) => {
      this.#target = undefined;
      throw error;
    });
    this.target = await this.#target;
    if (!isFirst && url !== undefined) await openPage(this.target, url);
  }

  async #start(url = "about:blank"): Promise<Target> {
    const profile = await this.desktop.options.directory.folder();
    const args = [...options, `--user-data-dir=${profile}`, "--", url];
    const env = await this.desktop.environment();
    const stdio: ("ignore" | "pipe")[] = ["ignore", "ignore", "pipe"];
    const { child, pid, exit } = await startProcess(
      { command: "chromium", args },
      { cwd: "/", env, stdio, id: this.desktop.id },
    );
    this.desktop.log.follow("chromium", child.stderr);
    void exit.then(() => {
      this.#target = undefined;
      this.target = undefined;
    });
    let said = "";
    const target = await new Promise<Target | undefined>((resolve) => {
      child.stderr?.on("data", (text: string) => {
        if (said.length < 64 * 1024) said += text;
        const found = /^DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)(\/devtools\/browser\/[\w-]+)/m.exec(
          said,
        );
        if (found) resolve({ port: Number(found[1]), path: found[2] ?? "" });
      });
      void exit.then(() => resolve(undefined));
      setTimeout(() => resolve(undefined), startLimitMs).unref();
    });
    if (target) return target;
    killGroup(pid, "SIGKILL");
    throw new Problem(409, "DESKTOP_FAILED", "Chromium did not start.", {
      hint: "GET /desktop/debug/logs has what it said. It needs about 300 MiB of memory and 100 processes.",
    });
  }
}

/** Opens a page in a Chromium that runs. */
async function openPage({ port }: Target, url: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/new?${encodeURIComponent(url)}`, {
    method: "PUT",
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined);
  await answer?.body?.cancel();
  if (!answer?.ok)
    throw new Problem(409, "DESKTOP_FAILED", "Chromium did not open the page.", { hint: "Try again." });
}
