import { createHash } from "node:crypto";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { EnvironmentVariables } from "../../environment/environment-variables.js";
import { findExecutable } from "../../machine/executable.js";
import type { OutputFiles } from "../output/output-files.js";
import type { ExecutionResources } from "../programs/execution-resources.js";
import type { ExecutionSlots } from "../programs/execution-slots.js";
import type { Execution } from "../programs/executor.js";
import { exhausted, ProgramNotFound } from "../programs/start-failure.js";
import { Context } from "./context.js";
import type { ContextLanguage } from "./context-language.js";
import { Interpreter } from "./interpreter.js";
import { WaitingInterpreter } from "./waiting-interpreter.js";

export interface ContextsOptions {
  readonly resources: ExecutionResources;
  readonly slots: ExecutionSlots;
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly variables: EnvironmentVariables;
  /** Where a context is when nothing is said. */
  readonly workspace: string;
  /** The language of which an interpreter is started ahead. */
  readonly ahead: ContextLanguage | undefined;
}

export interface ContextRequest {
  /** The execution's, where whoever starts it has told it already; else a new one. */
  readonly id?: string | undefined;
  readonly code: string;
  /** One by the language's name where nothing is said. */
  readonly context?: string | undefined;
  /** Where to be for this execution; where the context is when absent. */
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly isCell?: boolean | undefined;
  /** In a context of its own, which ends with it. */
  readonly isFresh?: boolean | undefined;
  /** Where all of the output goes when nobody waits for it. */
  readonly background?: OutputFiles | undefined;
}

/** Contexts that are kept; of more, the idle one that was used least recently ends. */
const mostContexts = 8;
const defaultName = "default";
/** Contexts that ended to make room, of which it is remembered that nobody was told. */
const mostMissed = 4096;

/** The contexts of a sandbox, by language, name, and what their interpreter read when it was started. */
export class Contexts {
  /** The one used least recently comes first. */
  readonly #contexts = new Map<string, Context>();
  /** Those that ended to make room before anybody was told that their variables are gone. The oldest comes first. */
  readonly #missed = new Set<string>();
  readonly #waiting: WaitingInterpreter | undefined;

  constructor(private readonly options: ContextsOptions) {
    const { ahead } = options;
    if (ahead) this.#waiting = new WaitingInterpreter(() => this.#start(ahead, ahead.command, {}));
  }

  /** Those that have variables, and those that something runs or waits in. */
  list(): Context[] {
    return [...this.#contexts.values()].filter((context) => context.isAlive || context.isBusy);
  }

  /** Runs code in its context; resolves when it was begun with. */
  async run(language: ContextLanguage, request: ContextRequest): Promise<Execution> {
    const { variables } = this.options;
    const { id, code, context: name = defaultName, cwd, env, isCell = false, isFresh } = request;
    const { timeout, signal, background } = request;
    const sandbox = Object.fromEntries(variables.entries());
    const given = { ...sandbox, ...env };
    const command = await this.#command(language, given);
    const early = Object.fromEntries(
      Object.entries(given).filter(([variable]) => language.readAtStart.test(variable)),
    );
    const key = JSON.stringify([language.name, name, command, early]);
    const make = (isReplacement: boolean) => this.#make(language, name, command, early, isReplacement);
    const context = isFresh ? make(false) : (this.#touch(key) ?? this.#add(key, make));
    const execution = await context.run({
      id,
      code: (await language.prepare?.(code)) ?? code,
      cwd,
      env,
      variables: { ...this.options.baseEnvironment, ...sandbox },
      timeout: timeout * 1000,
      signal,
      isCell,
      background,
    });
    return isFresh ? { ...execution, outcome: thenEnd(execution.outcome, context) } : execution;
  }

  /**
   * Starts an interpreter ahead, unless there is one already that the next execution will run in. `limit` is for how
   * long it shall wait, in milliseconds.
   */
  async prepare(limit?: number): Promise<void> {
    const { ahead } = this.options;
    const isThere = this.list().some(
      ({ language, name }) => language === ahead?.name && name === defaultName,
    );
    if (!isThere) await this.#waiting?.prepare(limit);
  }

  /** Whether the interpreter that waits, or waited, has IPython. */
  get hasIpython(): boolean {
    return this.#waiting?.hasIpython ?? false;
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#waiting?.close(),
      ...[...this.#contexts.values()].map((context) => context.end()),
    ]);
  }

  #touch(key: string): Context | undefined {
    const context = this.#contexts.get(key);
    if (!context) return undefined;
    this.#contexts.delete(key);
    this.#contexts.set(key, context);
    return context;
  }

  #add(key: string, make: (isReplacement: boolean) => Context): Context {
    this.#makeRoom();
    const context = make(this.#missed.delete(digestOf(key)));
    this.#contexts.set(key, context);
    return context;
  }

  #make(
    language: ContextLanguage,
    name: string,
    command: string,
    early: Readonly<Record<string, string>>,
    isReplacement: boolean,
  ): Context {
    const { slots, workspace, ahead } = this.options;
    const isPlain = language === ahead && command === language.command && Object.keys(early).length === 0;
    const start = async () =>
      (isPlain ? await this.#waiting?.take() : undefined) ?? this.#start(language, command, early);
    return new Context(language.name, name, workspace, start, slots, isReplacement);
  }

  #makeRoom(): void {
    for (const [key, context] of this.#contexts) {
      if (!context.isAlive && !context.isBusy) this.#remove(key, context);
    }
    if (this.#contexts.size < mostContexts) return;
    const idle = [...this.#contexts].find(([, context]) => !context.isBusy);
    if (!idle)
      throw exhausted(`${mostContexts} contexts are busy, the most there are. Wait, or use one of them.`);
    const [key, context] = idle;
    this.#remove(key, context);
    void context.end();
  }

  #remove(key: string, context: Context): void {
    this.#contexts.delete(key);
    if (!context.isMissed) return;
    this.#missed.add(digestOf(key));
    const [oldest] = this.#missed;
    if (this.#missed.size > mostMissed && oldest !== undefined) this.#missed.delete(oldest);
  }

  /** The interpreter that the search path leads to; its plain name where that is as the sandbox has it by itself. */
  async #command({ command }: ContextLanguage, { PATH }: Readonly<Record<string, string>>): Promise<string> {
    if (PATH === undefined || PATH === this.options.baseEnvironment.PATH) return command;
    const usual = await findExecutable(command, this.options.baseEnvironment.PATH ?? "");
    const found = await findExecutable(command, PATH);
    if (found === undefined) throw new ProgramNotFound(command, 127);
    return found === usual ? command : found;
  }

  async #start(
    language: ContextLanguage,
    command: string,
    early: Readonly<Record<string, string>>,
  ): Promise<Interpreter> {
    const { baseEnvironment, resources } = this.options;
    return Interpreter.start({ command, args: language.args }, { ...baseEnvironment, ...early }, resources);
  }
}

/** Keys hold the values of variables, which may be long. */
const digestOf = (key: string) => createHash("sha256").update(key).digest("base64");

async function thenEnd(outcome: Promise<Outcome>, context: Context): Promise<Outcome> {
  try {
    return await outcome;
  } finally {
    await context.end();
  }
}
