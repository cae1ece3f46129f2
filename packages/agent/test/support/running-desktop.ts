import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { expect } from "vitest";
import { type Answer, RunningAgent } from "./running-agent.js";

type Window = AgentSchemas["DesktopWindow"];

/** An agent with a desktop, and its operations. */
export class RunningDesktop implements AsyncDisposable {
  private constructor(readonly agent: RunningAgent) {}

  static async start(): Promise<RunningDesktop> {
    return new RunningDesktop(await RunningAgent.start({ desktop: true }));
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.agent.call("GET", `/desktop/${path}`, undefined, { headers });
  }

  post(path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.agent.call("POST", `/desktop/${path}`, body, { headers });
  }

  async windows(): Promise<Window[]> {
    return (await this.get("windows/list")).body.windows as Window[];
  }

  /** Opens a terminal with a command in it, and resolves when it is focused. */
  async openTerminal(title: string, command: string): Promise<Window> {
    await this.get("display");
    const line = `xterm -fa Monospace -fs 14 -geometry 60x10+100+80 -title '${title}' -e 'touch ${title}.ready; ${command}'`;
    await this.agent.call("POST", "/commands/background", { command: line });
    // What is typed before the program in it runs is lost.
    await expect.poll(() => this.output(`ls ${title}.ready`)).toBe(`${title}.ready\n`);
    let opened: Window | undefined;
    await expect
      .poll(async () => {
        opened = (await this.windows()).find((window) => window.title === title);
        // A window manager gives no focus to a window that opens while keys are typed.
        if (opened?.focused === false) await this.post("windows/focus", { window_id: opened.id });
        return opened?.focused;
      })
      .toBe(true);
    return opened as Window;
  }

  /** The output of a command in the sandbox. */
  async output(command: string): Promise<string | undefined> {
    return (await this.agent.run({ command, timeout: 20 })).body.stdout;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.agent[Symbol.asyncDispose]();
  }
}
