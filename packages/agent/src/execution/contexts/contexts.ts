import { createHash } from "node:crypto";
import type { ContextLanguage } from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { EnvironmentVariables } from "../../environment/environment-variables.js";
import { findExecutable } from "../../machine/executable.js";
import type { OutputFiles } from "../output/output-files.js";
import type { ExecutionResources } from "../programs/execution-resources.js";
import type { ExecutionSlots } from "../programs/execution-slots.js";
import type { Execution } from "../programs/executor.js";
import { exhausted, ProgramNotFound } from "../programs/start-failure.js";
import { Context } from "./context.js";
import { Interpreter } from "./interpreter.js";
import { WaitingInterpreter } from "./waiting-interpreter.js";

export interface ContextsOptions {
  readonly resources: ExecutionResources;
  readonly slots: ExecutionSlots;
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly variables: EnvironmentVariables;
  /** Initial working directory of a context. */
  readonly workspace: string;
  /** The language whose interpreter is started ahead of its first use, if any. */
  readonly ahead: ContextLanguage | undefined;
}

export interface ContextRequest {
  /** Id of the execution, if the caller has already announced one. Default: a new id. */
  readonly id?: string | undefined;
  readonly code: string;
  /** Name of the context. Default: `default`, of which each language has its own. */
  readonly context?: string | undefined;
  /** Working directory for this execution only. Default: the context's current one. */
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Time limit in seconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly isCell?: boolean | undefined;
  /** Run in a new context that ends with this execution. */
  readonly isFresh?: boolean | undefined;
  /** The files that receive the whole output, if the execution runs in the background. */
  readonly background?: OutputFiles | undefined;
}

/** Most contexts that are kept. To make room, the least recently used idle one is ended. */
const mostContexts = 8;
const defaultName = "default";
/** Most removed contexts to remember whose callers have not been told that the variables are lost. */
const mostMissed = 4096;

/**
 * The contexts of a sandbox. The key is the language, the context's name, the interpreter's path and the variables
 * that the interpreter read at start.
 */
export class Contexts {
  /** The contexts, ordered by use: the least recently used one is first. */
  readonly #contexts = new Map<string, Context>();
  /**
   * Digests of the keys of contexts that were ended to make room before any caller was told that the variables are
   * lost. The oldest is first.
   */
  readonly #missed = new Set<string>();
  readonly #waiting: WaitingInterpreter | undefined;

  constructor(private readonly options: ContextsOptions) {
    const { ahead } = options;
    if (ahead) this.#waiting = new WaitingInterpreter(() => this.#start(ahead, ahead.command, {}));
  }

  /** The contexts whose interpreter is running, and those in which an execution runs or waits. */
  list(): Context[] {
    return [...this.#contexts.values()].filter((context) => context.isAlive || context.isBusy);
  }

  /** Runs code in its context. Resolves once the code has started. */
  async run(language: ContextLanguage, request: ContextRequest): Promise<Execution> {
    const { variables } = this.options;
    const { id, code, context: name = defaultName, cwd, env, isCell = false, isFresh } = request;
    const { timeout, signal, background } = request;
    const sandbox = Object.fromEntries(variables.entries());
    const given = { ...sandbox, ...env };
    const command = await this.#command(language, given);
    const prepared = (await language.prepare?.(code)) ?? code;
    // Do not wait between the choice of a context and its use: one without an interpreter or an execution is removed.
    const early = Object.fromEntries(
      Object.entries(given).filter(([variable]) => language.readAtStart.test(variable)),
    );
    const key = JSON.stringify([language.name, name, command, early]);
    const make = (isReplacement: boolean) => this.#make(language, name, command, early, isReplacement);
    const context = isFresh ? make(false) : (this.#touch(key) ?? this.#add(key, make));
    const execution = await context.run({
      id,
      code: prepared,
      cwd,
      env,
      variables: { ...this.options.baseEnvironment, ...sandbox },
      timeout: timeout * 1000,
      signal,
      isCell,
      isFresh: isFresh ?? false,
      background,
    });
    return isFresh ? { ...execution, outcome: endAfter(execution.outcome, context) } : execution;
  }

  /**
   * Starts an interpreter ahead of the next execution, unless the default context, in which that execution will run,
   * already has one. The interpreter is ended if it is not used within `limit` milliseconds.
   */
  async prepare(limit?: number): Promise<void> {
    const { ahead } = this.options;
    const isThere = this.list().some(
      ({ language, name }) => language === ahead?.name && name === defaultName,
    );
    if (!isThere) await this.#waiting?.prepare(limit);
  }

  /** Whether the most recent interpreter that was started ahead has IPython. */
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

  /**
   * Returns the interpreter's path according to PATH, or just its name if PATH leads to the same program as in the
   * sandbox's base environment.
   */
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

/** A digest of a context's key. The key itself contains values of variables, which may be long. */
const digestOf = (key: string) => createHash("sha256").update(key).digest("base64");

async function endAfter(outcome: Promise<Outcome>, context: Context): Promise<Outcome> {
  try {
    return await outcome;
  } finally {
    await context.end();
  }
}
