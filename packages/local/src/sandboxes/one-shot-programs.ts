import { posix } from "node:path";
import { Problem } from "@cloud-sandbox/server-kit";
import { type KeptOutput, type OneShotLanguage, outputFrames } from "@cloud-sandbox/server-kit/execution";
import {
  languageNamed,
  languageNames,
  languageNotAvailable,
  neverSleeps,
  outcomeFields,
  type ProgramAnswer,
  type ProgramReader,
  type ProgramSpec,
  richFields,
  secretOnWire,
  valueFields,
} from "@cloud-sandbox/server-kit/handlers";
import type { AgentCalls } from "../agents/agent-calls.js";
import { noDescriptorLeft } from "../agents/no-descriptor-left.js";
import { grantLimits, type LocalTemplate } from "../catalogue/template-catalogue.js";
import type { EgressGateway } from "../egress/egress-gateway.js";
import { type EgressRules, egressRules } from "../egress/egress-policy.js";
import { isOutOfDescriptors } from "../runtime/host/open-files.js";
import { ProgramNeedsAgent, ProgramNotStarted } from "../runtime/host-problem.js";
import type { IsolationLevel, SandboxRuntime } from "../runtime/sandbox-runtime.js";
import type { KeyCooldowns } from "../tokens/key-ring.js";
import { newSandboxId } from "./machine-supply.js";
import { programAnswer } from "./program-answer.js";
import type { ProgramQueue } from "./program-queue.js";
import { requireOwnNames } from "./sandbox-access.js";
import type { SandboxFleet } from "./sandbox-fleet.js";

/** A sandbox made for one program lives this much longer than the program may run. */
const spareSeconds = 60;

const languages = Object.values(languageNames);
const workspace = "/workspace";

interface OneShotProgramsParts {
  readonly runtime: SandboxRuntime;
  readonly isolation: IsolationLevel;
  /** Whether machines run on other hosts. */
  readonly isElsewhere: boolean;
  readonly fleet: SandboxFleet;
  readonly agents: AgentCalls;
  readonly egress: EgressGateway;
  readonly queue: ProgramQueue;
  readonly cooldowns: KeyCooldowns;
  readonly log: (message: string) => void;
}

/** A program and the API key that it runs for. */
interface OwnedProgram extends ProgramSpec {
  /** Undefined for the server's own key. */
  readonly keyId: string | undefined;
}

interface Running {
  readonly keyId: string | undefined;
  readonly ended: Promise<unknown>;
}

/** Runs programs that leave no sandbox behind: isolated without an agent where that is possible, else in a sandbox that is then deleted. */
export class OneShotPrograms {
  #isClosing = false;
  #lastReason: string | undefined;
  readonly #running = new Map<AbortController, Running>();
  /** The programs that run without an agent: their API keys, by their ids. */
  readonly #ids = new Map<string, string | undefined>();

  constructor(private readonly parts: OneShotProgramsParts) {}

  /** Runs a program for an API key; undefined is the server's own key. */
  async run(spec: ProgramSpec, keyId?: string): Promise<ProgramAnswer> {
    this.parts.cooldowns.requireOver(keyId);
    const killer = new AbortController();
    const kill = (): void => killer.abort();
    if (spec.signal.aborted || this.#isClosing) kill();
    spec.signal.addEventListener("abort", kill);
    const { reader } = spec;
    const running = this.#run({
      ...spec,
      keyId,
      signal: killer.signal,
      ...(reader && { reader: untilAborted(reader, killer.signal) }),
    });
    this.#running.set(killer, { keyId, ended: running });
    try {
      const answer = await running;
      // If the caller left meanwhile, the program was killed: throw instead of returning its answer.
      spec.signal.throwIfAborted();
      return answer;
    } catch (error) {
      if (this.#isClosing)
        throw new Problem(503, "RUNTIME_UNAVAILABLE", "This control plane is shutting down.");
      if (spec.signal.aborted)
        throw new Problem(
          408,
          "INVALID_REQUEST",
          "The caller disconnected, so its program was not run to its end.",
        );
      throw error;
    } finally {
      spec.signal.removeEventListener("abort", kill);
      this.#running.delete(killer);
    }
  }

  /** Whether a program with this id runs without an agent, and the API key may see it. */
  has(id: string, keyId?: string): boolean {
    return this.#ids.has(id) && (keyId === undefined || this.#ids.get(id) === keyId);
  }

  /** The number of programs of an API key that run or wait. */
  countOf(keyId: string): number {
    return [...this.#running.values()].filter((program) => program.keyId === keyId).length;
  }

  /** Kills all programs. Resolves when their processes have ended and their files are removed. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const killer of this.#running.keys()) killer.abort();
    await Promise.allSettled([...this.#running.values()].map(({ ended }) => ended));
  }

  async #run(spec: OwnedProgram): Promise<ProgramAnswer> {
    const { fleet, isElsewhere } = this.parts;
    const template = grantLimits(fleet.template(spec), spec.limits, isElsewhere);
    const language = languageNamed(spec.language, languages);
    if (!template.languages.some((offered) => offered.language === language.name))
      throw languageNotAvailable(language);
    const rules = egressRules(spec.egress);
    if (rules.ask) throw asksNobody();
    if (needsAgent(spec, template, language.name)) return this.#inSandbox(spec, template);
    try {
      return await this.#alone(spec, template, rules, language.name as OneShotLanguage);
    } catch (error) {
      if (!(error instanceof ProgramNotStarted)) throw error;
      if (!(error instanceof ProgramNeedsAgent)) this.#tellOnce(error.message);
      return this.#inSandbox(spec, template);
    }
  }

  /** Logs why programs need a sandbox, unless the last log line said the same. */
  #tellOnce(reason: string): void {
    if (reason === this.#lastReason) return;
    this.#lastReason = reason;
    this.parts.log(`Programs that need no agent get a sandbox with one, which takes longer. ${reason}`);
  }

  async #alone(
    spec: OwnedProgram,
    template: LocalTemplate,
    rules: EgressRules,
    language: OneShotLanguage,
  ): Promise<ProgramAnswer> {
    const reading = spec.reader && new OutputReading(spec.reader);
    try {
      const answer = await this.#runInIsolation(spec, template, rules, language, reading?.follow);
      // The program has ended: a reader that is still behind keeps nothing from others.
      await reading?.done;
      return answer;
    } finally {
      reading?.end();
    }
  }

  async #runInIsolation(
    spec: OwnedProgram,
    { limits }: LocalTemplate,
    rules: EgressRules,
    language: OneShotLanguage,
    onOutput: OutputReading["follow"] | undefined,
  ): Promise<ProgramAnswer> {
    const { runtime, isolation, egress, queue } = this.parts;
    if (!runtime.run) throw new ProgramNeedsAgent("this runtime runs none.");
    const admission = await queue.enter(limits, spec.signal, spec.keyId);
    let remains: Promise<void> | undefined;
    const onRemains = (gone: Promise<void>): void => {
      remains = gone;
    };
    const id = newSandboxId();
    this.#ids.set(id, spec.keyId);
    const sandboxEgress = egress.open(id);
    try {
      egress.setRules(id, rules);
      const { code, filename, environment, timeoutSeconds, signal, onStart } = spec;
      const outcome = await runtime.run({
        id,
        language,
        code,
        filename,
        environment,
        limits,
        timeoutSeconds,
        signal,
        onStart,
        onOutput,
        onRemains,
        onTookTooMuch: () => this.parts.cooldowns.begin(spec.keyId),
        egress: (connection) => sandboxEgress.accept(connection),
      });
      return {
        id,
        isolation,
        ...outcomeFields(outcome),
        ...valueFields(outcome),
        language,
        ...richFields(outcome, spec.wantsRich),
      };
    } finally {
      egress.close(sandboxEgress);
      this.#ids.delete(id);
      admission.leave();
      // Processes that do not end still use memory: release the room when they have ended.
      if (remains) remains.then(admission.capacity.release, admission.capacity.release);
      else admission.capacity.release();
    }
  }

  async #inSandbox(spec: OwnedProgram, { limits }: LocalTemplate): Promise<ProgramAnswer> {
    const admission = await this.parts.queue.enter(limits, spec.signal, spec.keyId);
    try {
      admission.capacity.transfer();
      return await this.#withAgent(spec);
    } finally {
      admission.leave();
      admission.capacity.release();
    }
  }

  async #withAgent(spec: OwnedProgram): Promise<ProgramAnswer> {
    const { fleet, agents, log } = this.parts;
    const { template, egress, limits, minIsolation, signal, keyId } = spec;
    requireOwnNames(spec.secrets, spec.environment);
    const { name } = languageNamed(spec.language, languages);
    // A one-shot has the sandbox alone, so its program may write its own file in the working directory, as it may
    // without an agent.
    const filename = spec.filename ?? (name === "javascript" ? "execution-1.js" : undefined);
    const sandbox = await fleet.create({
      template,
      egress,
      limits,
      minIsolation,
      keyId,
      environment: {},
      metadata: {},
      mounts: {},
      secrets: spec.secrets,
      sleep: neverSleeps,
      timeoutSeconds: spec.timeoutSeconds + spareSeconds,
      name: undefined,
      idempotency: undefined,
    });
    try {
      if (!sandbox.machine) throw new Error("the new sandbox has no machine");
      signal.throwIfAborted();
      const body = {
        code: spec.code,
        language: spec.language,
        env: spec.environment,
        workdir: spec.workdir,
        timeout: spec.timeoutSeconds,
        filename,
      };
      const running = spec.reader
        ? agents.stream(sandbox.machine, body, signal, spec.reader)
        : // `cache` runs the code without a context, so that the answer says nothing about the context's variables.
          agents.execute(sandbox.machine, { ...body, capture_rich: spec.wantsRich, cache: true }, signal);
      const raw = await running.catch((error: unknown) => {
        if (isOutOfDescriptors(error)) throw noDescriptorLeft(error);
        spec.onStart();
        throw signal.aborted || error instanceof Problem ? error : agentLost(error);
      });
      spec.onStart();
      const { id, isolation, secrets } = sandbox;
      return {
        id,
        isolation,
        ...(secrets && { secrets: secrets.map(secretOnWire) }),
        ...programAnswer(raw, spec),
      };
    } finally {
      // The sandbox may have ended by itself.
      if (fleet.has(sandbox.id))
        await fleet.delete(sandbox.id).catch((error: unknown) => log(`${sandbox.id}: ${String(error)}`));
    }
  }
}

/** An answer of 409 and not of 5xx, because clients repeat what got a 5xx, and the program may have done its work. */
const agentLost = (cause: unknown): Problem =>
  new Problem(
    409,
    "EXECUTION_INTERRUPTED",
    "The program was interrupted, because the agent in its sandbox ended or could not be reached: the program killed it or made it hang, memory ran out, or the connection was cut.",
    { hint: "Check what the program has done outside of its sandbox before you run it again.", cause },
  );

/** A reader whose `take` resolves at once when the signal has aborted, so that the program does not wait for it. */
function untilAborted(reader: ProgramReader, signal: AbortSignal): ProgramReader {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
  return { begin: () => reader.begin(), take: (frame) => Promise.race([reader.take(frame), aborted]) };
}

/** Whether a program needs an agent, which starts built templates and keeps code in files. */
function needsAgent(spec: ProgramSpec, { built }: LocalTemplate, language: string): boolean {
  const { environment, workdir = workspace, secrets } = spec;
  return (
    // Programs without an agent trust no authority of the egress proxy.
    secrets !== undefined ||
    built !== undefined ||
    language === "go" ||
    // The program's PATH may lead to another interpreter.
    environment.PATH !== undefined ||
    posix.resolve(workspace, workdir) !== workspace
  );
}

/** Passes the outputs of a program to a reader while the program runs. */
class OutputReading {
  readonly #ending = new AbortController();
  #done: Promise<unknown> = Promise.resolve();

  constructor(private readonly reader: ProgramReader) {}

  /** Resolves when the reader has read both outputs to their end. */
  get done(): Promise<unknown> {
    return this.#done;
  }

  readonly follow = (stdout: KeptOutput, stderr: KeptOutput): void => {
    this.reader.begin();
    this.#done = Promise.all([this.#tell("stdout", stdout), this.#tell("stderr", stderr)]);
  };

  /** Stops reading. */
  end(): void {
    this.#ending.abort();
  }

  async #tell(type: "stdout" | "stderr", output: KeptOutput): Promise<void> {
    for await (const frame of outputFrames(type, output, this.#ending.signal)) await this.reader.take(frame);
  }
}

const asksNobody = (): Problem =>
  new Problem(
    400,
    "INVALID_REQUEST",
    "egress.ask needs a sandbox, and a program without one was asked for.",
    {
      hint: "Create a sandbox, or list what the program may reach in egress.allow.",
    },
  );
