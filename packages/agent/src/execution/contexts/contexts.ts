import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { posix } from "node:path";
import { limits } from "@cloud-sandbox/protocol/limits";
import type { ContextLanguage } from "@cloud-sandbox/server-kit/execution";
import type { EnvironmentVariables } from "../../environment/environment-variables.js";
import { findExecutable } from "../../machine/executable.js";
import type { PrivateDirectory } from "../../machine/private-directory.js";
import type { OutputFiles } from "../output/output-files.js";
import type { ExecutionResources } from "../programs/execution-resources.js";
import type { ExecutionSlots } from "../programs/execution-slots.js";
import type { Execution } from "../programs/executor.js";
import { exhausted, ProgramNotFound, withFiles } from "../programs/start-failure.js";
import { Context } from "./context.js";
import type { EarlierContexts } from "./earlier-contexts.js";
import { Interpreter, type ProgramFile } from "./interpreter.js";
import { WaitingInterpreter } from "./waiting-interpreter.js";

export interface ContextsOptions {
  readonly resources: ExecutionResources;
  readonly slots: ExecutionSlots;
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly variables: EnvironmentVariables;
  /** Initial working directory of a context. */
  readonly workdir: string;
  /** For the files of programs. */
  readonly directory: PrivateDirectory;
  /** The language whose interpreter is started ahead of its first use, if any. */
  readonly ahead: ContextLanguage | undefined;
  readonly earlier: EarlierContexts;
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
  readonly usesIpython?: boolean | undefined;
  /** The name of the code's file. */
  readonly filename?: string | undefined;
  /** Standard input. Default: empty. With it, the code runs as a program of its own. */
  readonly stdin?: string | undefined;
  /** Run as a program of its own, which ends as one from a file does, instead of in a context. */
  readonly isProgram?: boolean | undefined;
  /** The files that receive the whole output, if the execution runs in the background. */
  readonly background?: OutputFiles | undefined;
}

/** Most contexts that are kept. To make room, the least recently used idle one is ended. */
const mostContexts = limits.contexts;
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

  async restart(context: Context): Promise<void> {
    await context.restart();
  }

  /** Ends a context. The next execution of its name begins another one. */
  async remove(context: Context): Promise<void> {
    for (const [key, other] of this.#contexts) if (other === context) this.#contexts.delete(key);
    this.#save();
    await context.end();
  }

  /** Runs code in its context. Resolves once the code has started. */
  async run(language: ContextLanguage, request: ContextRequest): Promise<Execution> {
    const { variables } = this.options;
    const { id, code, context: name = defaultName, cwd, env, usesIpython = false, filename, stdin } = request;
    const isProgram = request.isProgram === true || stdin !== undefined;
    const { timeout, signal, background } = request;
    const sandbox = Object.fromEntries(variables.entries());
    const environment = { ...sandbox, ...env };
    const command = await this.#command(language, environment);
    // Do not wait between the choice of a context and its use: one without an interpreter or an execution is removed.
    const early = Object.fromEntries(
      Object.entries(environment).filter(([variable]) => language.readAtStart.test(variable)),
    );
    const key = JSON.stringify([language.name, name, command, early]);
    const make = (isReplacement: boolean, isLater: boolean) =>
      this.#make(language, name, command, early, stdin, isReplacement, isLater);
    const context = isProgram
      ? make(false, false)
      : (this.#touch(key) ?? this.#add(key, language.name, name, make));
    const file = isProgram ? await withFiles(() => this.#programFile(language, request)) : undefined;
    const execution = context.run({
      id,
      code,
      cwd,
      env,
      variables: { ...this.options.baseEnvironment, ...sandbox },
      timeout: timeout * 1000,
      signal,
      usesIpython,
      filename,
      suffix: language.suffix,
      program: file,
      background,
    });
    if (!file) return execution;
    const { cleanUp } = file;
    return execution.then(
      (started) => ({ ...started, outcome: started.outcome.finally(cleanUp) }),
      async (error) => {
        // An interpreter that did not take the program would wait for another one.
        await context.end();
        await cleanUp();
        throw error;
      },
    );
  }

  /**
   * The main file of a program. Without a name it is not put into the directory of the sandbox's owner: a language whose
   * programs start their own file anew has it in a private directory, another only says that it was in the working directory.
   */
  async #programFile(
    { suffix, startsFileAnew }: ContextLanguage,
    { code, filename, cwd }: ContextRequest,
  ): Promise<ProgramFile & { readonly cleanUp: () => Promise<void> }> {
    const { directory, workdir } = this.options;
    const nothing = async () => undefined;
    const workingDirectory = cwd ?? workdir;
    if (filename !== undefined)
      return { path: posix.resolve(workingDirectory, filename), isWritten: true, cleanUp: nothing };
    const name = `execution-1${suffix}`;
    if (!startsFileAnew)
      return { path: posix.resolve(workingDirectory, name), isWritten: false, cleanUp: nothing };
    const folder = await directory.folder();
    const cleanUp = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
    try {
      return { path: await directory.write(folder, name, code), isWritten: false, cleanUp };
    } catch (error) {
      await cleanUp();
      throw error;
    }
  }

  /**
   * Starts an interpreter ahead of the first execution in the default context, unless that has one. The interpreter is ended if
   * it is not used within `limit` milliseconds.
   */
  async prepare(limit?: number): Promise<void> {
    if (!this.#hasDefault) await this.#waiting?.prepare(limit);
  }

  /** The same after an execution, if the last interpreter that was started ahead was taken. */
  async renew(limit: number): Promise<void> {
    if (!this.#hasDefault) await this.#waiting?.renew(limit);
  }

  /** Whether the context that has no other name has an interpreter, in the language whose interpreter is started ahead. */
  get #hasDefault(): boolean {
    const { ahead } = this.options;
    return this.list().some(({ language, name }) => language === ahead?.name && name === defaultName);
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

  #add(
    key: string,
    language: string,
    name: string,
    make: (isReplacement: boolean, isLater: boolean) => Context,
  ): Context {
    this.#makeRoom();
    const context = make(this.#missed.delete(digestOf(key)), this.options.earlier.take(language, name));
    this.#contexts.set(key, context);
    this.#save();
    return context;
  }

  #save(): void {
    this.options.earlier.save([...this.#contexts.values()]);
  }

  #make(
    language: ContextLanguage,
    name: string,
    command: string,
    early: Readonly<Record<string, string>>,
    stdin: string | undefined,
    isReplacement: boolean,
    isLater: boolean,
  ): Context {
    const { slots, workdir, ahead } = this.options;
    const isPlain = language === ahead && command === language.command && Object.keys(early).length === 0;
    const start = async () =>
      (isPlain && stdin === undefined ? await this.#waiting?.take() : undefined) ??
      this.#start(language, command, early, stdin);
    return new Context(language.name, name, workdir, start, slots, isReplacement, isLater);
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
    input?: string,
  ): Promise<Interpreter> {
    const { baseEnvironment, resources } = this.options;
    const { args, sources, preparer } = language;
    const program = { command, args, ...(input !== undefined && { input }) };
    return Interpreter.start(program, sources, { ...baseEnvironment, ...early }, resources, preparer?.());
  }
}

/** A digest of a context's key. The key itself contains values of variables, which may be long. */
const digestOf = (key: string) => createHash("sha256").update(key).digest("base64");
