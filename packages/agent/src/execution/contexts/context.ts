import { randomUUID } from "node:crypto";
import { Problem } from "@cloud-sandbox/server-kit";
import { withLine } from "@cloud-sandbox/server-kit/execution";
import type { Outcome } from "@cloud-sandbox/server-kit/handlers";
import type { ExecutionSlots } from "../programs/execution-slots.js";
import type { Execution } from "../programs/executor.js";
import { exhausted } from "../programs/start-failure.js";
import { type Interpreter, InterpreterGone, type InterpreterRequest } from "./interpreter.js";

/** Most executions that may queue behind the running one. */
const mostWaiting = 32;
/** How often an interpreter is started for one execution before the execution fails with LANGUAGE_NOT_AVAILABLE. */
const mostAttempts = 3;

/** A context: variables that persist from one execution to the next. Executions in it run one at a time, in order. */
export class Context {
  readonly id = randomUUID();
  lastActivity = new Date();
  #interpreter: Interpreter | undefined;
  /** Why this context lost its variables, until an execution has reported the loss to its caller. */
  #loss: string | undefined;
  /** What to tell when code first asks for a name that is unknown: the variables of earlier executions are gone. */
  #hint: string | undefined;
  #starting: Promise<Interpreter> | undefined;
  /** Resolves when the most recently requested execution has ended. */
  #last: Promise<void> = Promise.resolve();
  /** Number of executions that run or wait. */
  #pending = 0;

  constructor(
    readonly language: string,
    readonly name: string,
    private readonly home: string,
    private readonly start: () => Promise<Interpreter>,
    private readonly slots: ExecutionSlots,
    /** Whether an earlier context of this name was removed to make room and its callers were not told. */
    isReplacement: boolean,
    /** Whether an earlier agent of the sandbox had a context of this name. */
    isLater: boolean,
  ) {
    this.#loss = isReplacement ? roomMessage : undefined;
    this.#hint = isLater ? laterMessage : undefined;
  }

  get pending(): number {
    return this.#pending;
  }

  get isBusy(): boolean {
    return this.#pending > 0;
  }

  /** Whether the interpreter, which holds the variables, is running. */
  get isAlive(): boolean {
    return this.#interpreter?.isAlive === true;
  }

  /** Runs code after all earlier executions in this context have ended. Resolves once the code has started. */
  async run(request: Omit<InterpreterRequest, "home">): Promise<Execution> {
    if (this.#pending > mostWaiting)
      throw exhausted(
        `${mostWaiting} executions wait for this context already, the limit. Wait, or name another context.`,
      );
    if (!this.isBusy) this.slots.check();
    this.#pending += 1;
    const previous = this.#last;
    let startNext: () => void = () => undefined;
    this.#last = new Promise((resolve) => {
      startNext = resolve;
    });
    const done = () => {
      this.#pending -= 1;
      this.lastActivity = new Date();
      startNext();
    };
    try {
      await orAborted(previous, request.signal);
    } catch (error) {
      this.#pending -= 1;
      void previous.then(startNext);
      throw error;
    }
    const release = this.slots.take(request.background !== undefined);
    try {
      const execution = await this.#run(request);
      return { ...execution, outcome: this.#awaitOutcome(execution.outcome, release, done) };
    } catch (error) {
      done();
      release(false);
      throw error;
    }
  }

  /**
   * Whether callers may still expect this context's variables: there is a loss to report, or the interpreter has run
   * code and nobody was told that it ended.
   */
  get isMissed(): boolean {
    const { executions = 0, isLossReported = false } = this.#interpreter ?? {};
    return this.#loss !== undefined || (executions > 0 && !isLossReported);
  }

  /** Ends the execution that runs, and forgets all variables. Resolves when another interpreter runs. */
  async restart(): Promise<void> {
    const interpreter = this.#interpreter;
    this.#interpreter = undefined;
    this.#loss = undefined;
    this.#hint = restartedMessage;
    await interpreter?.end();
    await this.#running();
  }

  async end(): Promise<void> {
    await this.#interpreter?.end();
  }

  /** The interpreter, which is started if there is none. */
  async #running(): Promise<Interpreter> {
    if (this.#interpreter?.isAlive) return this.#interpreter;
    this.#starting ??= this.start().finally(() => {
      this.#starting = undefined;
    });
    this.#interpreter = await this.#starting;
    return this.#interpreter;
  }

  async #awaitOutcome(
    outcome: Promise<Outcome>,
    release: (succeeded: boolean) => void,
    done: () => void,
  ): Promise<Outcome> {
    let succeeded = false;
    try {
      const ended = await outcome;
      succeeded = ended.exitCode === 0;
      return ended;
    } finally {
      done();
      release(succeeded);
    }
  }

  #withHint(outcome: Outcome): Outcome {
    const hint = this.#hint;
    if (hint === undefined || !unknownName.includes(outcome.exception?.name ?? "")) return outcome;
    this.#hint = undefined;
    return withMessage(outcome, hint);
  }

  async #run(request: Omit<InterpreterRequest, "home">): Promise<Execution> {
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      try {
        if (wasLost(this.#interpreter)) this.#loss ??= endedMessage;
        const interpreter = await this.#running();
        const home = interpreter.executions === 0 ? this.home : undefined;
        const execution = await interpreter.run({ ...request, home });
        const loss = this.#loss;
        this.#loss = undefined;
        const outcome = execution.outcome.then((ended) => this.#withHint(ended));
        return {
          ...execution,
          outcome: loss === undefined ? outcome : outcome.then((ended) => withLoss(ended, loss)),
        };
      } catch (error) {
        if (!(error instanceof InterpreterGone)) throw error;
      }
    }
    throw new Problem(
      400,
      "LANGUAGE_NOT_AVAILABLE",
      `The ${this.language} interpreter ends as soon as it is started.`,
      { hint: "Check PATH and the environment variables that the interpreter reads when it starts." },
    );
  }
}

const restartedMessage =
  "This context was restarted: the variables of earlier executions are gone. Run the code again that sets them.";

const laterMessage =
  "The sandbox was stopped, or its agent was restarted, after the previous execution in this context: its variables are gone, its files are kept. Run the code again that sets them.";

/** What an interpreter reports of code that asks for an unknown name. */
const unknownName = ["NameError", "ReferenceError"];

/** Whether the interpreter ended after it had run code, and no caller has been told that its variables are lost. */
const wasLost = (interpreter: Interpreter | undefined) =>
  interpreter !== undefined &&
  !interpreter.isAlive &&
  interpreter.executions > 0 &&
  !interpreter.isLossReported;

const endedMessage = "The interpreter has ended since the previous execution: its variables are gone.";

const roomMessage =
  "This context was ended after the previous execution, to make room for other contexts: its variables are gone.";

const withLoss = (outcome: Outcome, message: string): Outcome => ({
  ...withMessage(outcome, message),
  contextLost: true,
});

const withMessage = (outcome: Outcome, message: string): Outcome => ({
  ...outcome,
  stderr: { ...outcome.stderr, text: withLine(outcome.stderr.text, message) },
});

/** Waits for `previous`. Rejects as soon as the caller disconnects. */
async function orAborted(previous: Promise<void>, signal: AbortSignal): Promise<void> {
  const disconnected = () =>
    new Problem(408, "EXECUTION_TIMEOUT", "The caller disconnected before its code was started.");
  if (signal.aborted) throw disconnected();
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(disconnected());
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    await Promise.race([previous, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
