import {
  executionHandlers as handlersOver,
  languageNames as knownLanguages,
  type LanguageName,
  languageNamed,
  notStarted,
  now,
  startedFields,
} from "@cloud-sandbox/server-kit/handlers";
import { workspace } from "../memory/memory-files.js";
import { resolvePath } from "../memory/posix-path.js";
import type { AgentHandlers } from "./agent-handlers.js";
import { newBackgroundId } from "./background-executions.js";
import { CommandNotFound, type Machine } from "./machine.js";
import type { RunningProgram } from "./running-program.js";

/** The languages that code can have. None is really run. */
const languages: readonly LanguageName[] = Object.values(knownLanguages);

export const languageNames: readonly string[] = languages.map(({ name }) => name);

interface ProcessRequest {
  /** Id of the execution, if it is a background execution. */
  readonly id?: string;
  readonly timeout?: number;
  readonly workdir?: string | null;
  readonly working_dir?: string | null;
  readonly env?: Readonly<Record<string, string>> | null;
}

interface CodeBody extends ProcessRequest {
  readonly code: string;
  readonly language?: string;
  readonly context?: string | null;
  readonly stdin?: string;
}

interface CommandBody extends ProcessRequest {
  readonly command: string;
  readonly args?: readonly string[] | null;
}

/** Starts code that a caller waits for, in its context unless `isFresh` is true. */
export async function startCode(
  machine: Machine,
  body: CodeBody,
  signal: AbortSignal,
  { isFresh = false } = {},
): Promise<RunningProgram> {
  const { name } = languageNamed(body.language ?? "python", languages);
  const request = {
    text: body.code,
    language: name,
    args: undefined,
    stdin: body.stdin,
    ...processSettings(machine, body),
  };
  const context =
    isFresh || body.stdin !== undefined ? undefined : machine.contexts.of(name, body.context ?? undefined);
  const leave = await context?.enter();
  try {
    const program = machine.start({ ...request, context, loss: context?.loss }, context?.variables);
    if (context) context.loss = undefined;
    const stop = (): void => program.kill();
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    program.outcome
      .then(() => {
        if (program.endedContext && context) context.variables = new Map();
      })
      .catch(() => undefined)
      .finally(() => {
        signal.removeEventListener("abort", stop);
        leave?.();
      });
    return program;
  } catch (error) {
    leave?.();
    throw error;
  }
}

/** Starts a command. Throws {@link CommandNotFound} for an unknown program that is run without a shell. */
export function startCommand(machine: Machine, body: CommandBody): RunningProgram {
  return machine.start({ language: undefined, ...commandOf(body), ...processSettings(machine, body) });
}

/** The text of a command. `bash -c LINE` is treated as the line alone. */
function commandOf({ command, args }: CommandBody): { text: string; args: readonly string[] | undefined } {
  const [option, line = ""] = args ?? [];
  if (/^(ba)?sh$/.test(command) && option === "-c" && args?.length === 2)
    return { text: line, args: undefined };
  return { text: [command, ...(args ?? [])].join(" "), args: args ?? undefined };
}

/** Starts code in the background. With a context, waits for the code's turn there. */
export async function startInBackground(machine: Machine, body: CodeBody & { name?: string | null }) {
  const { name: language } = languageNamed(body.language ?? "python", languages);
  const terms = { ...body, id: newBackgroundId("proc") };
  const program =
    typeof body.context === "string"
      ? await startCode(machine, terms, new AbortController().signal)
      : machine.start({
          text: body.code,
          language,
          args: undefined,
          stdin: body.stdin,
          ...processSettings(machine, terms),
        });
  const execution = machine.executions.add(program, { kind: "proc", name: body.name ?? undefined, language });
  return { execution, program };
}

/** Clients of HOPX always send `/workspace`, so exactly that text means the directory in which programs start. */
function processSettings(
  machine: Machine,
  { id, timeout, workdir, working_dir: workingDir, env }: ProcessRequest,
) {
  const named = workdir ?? workingDir ?? ".";
  return {
    ...(id !== undefined && { id }),
    timeout,
    env: env ?? {},
    workdir: named === workspace ? machine.workdir : resolvePath(machine.workdir, named),
  };
}

export function executionHandlers(machine: Machine) {
  const waitedFor = handlersOver({
    cache: machine.cache,

    prepare(body, { signal, usesIpython }) {
      const { name: language } = languageNamed(body.language, languages);
      const { env, workdir: cwd } = processSettings(machine, body);
      const variables = { ...Object.fromEntries(machine.variables.entries()), ...env };
      return {
        identity: { language, code: body.code, cwd, variables, usesIpython, stdin: body.stdin },
        run: async () => (await startCode(machine, body, signal, { isFresh: body.cache === true })).outcome,
      };
    },

    async runCommand(body, signal) {
      try {
        const program = startCommand(machine, body);
        signal.addEventListener("abort", () => program.kill());
        return await program.outcome;
      } catch (error) {
        if (error instanceof CommandNotFound) return notStarted(error.message, 127);
        throw error;
      }
    },
  });

  return {
    ...waitedFor,

    executeBackground: async ({ body }) => startedFields((await startInBackground(machine, body)).execution),

    async runCommandBackground({ body }) {
      const execution = machine.executions.add(
        startCommand(machine, { ...body, id: newBackgroundId("cmd") }),
        {
          kind: "cmd",
          name: body.name ?? undefined,
        },
      );
      return { ...startedFields(execution), pid: execution.pid, stdout: "", stderr: "" };
    },

    listSystemProcesses() {
      const processes = machine.processes.list().map(({ pid, command }) => ({
        pid,
        ppid: pid === 1 ? 0 : 1,
        name: command.split(" ", 1).join(),
        status: "running",
        cpu_percent: 0,
        memory_mb: 1,
        command,
        user: "sandbox",
      }));
      return { processes, count: processes.length, truncated: false, timestamp: now() };
    },
  } satisfies AgentHandlers;
}
