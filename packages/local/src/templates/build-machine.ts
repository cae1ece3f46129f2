import type { BuildStep } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import type { AgentCalls } from "../agents/agent-calls.js";
import { Pace } from "../relay/pace.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { searchPathAnywhere } from "../runtime/search-path.js";

/** What a step changes for those after it, and for the template. */
export interface BuildContext {
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
}

/** Where the archives of COPY steps are in a build machine, by the number of the step. */
export const archiveAt = (index: number): string => `/run/copy-${index}.tar.gz`;

/** Runs the steps of a build in a machine, so that whatever they do, or their files are, stays behind its walls. */
export class BuildMachine {
  constructor(
    private readonly agents: AgentCalls,
    private readonly machine: Machine,
    private readonly print: (text: string) => void,
    private readonly signal: AbortSignal,
  ) {}

  /** Rejects with the reason when the step fails. */
  async perform(step: BuildStep, index: number, context: BuildContext): Promise<void> {
    if (step.kind === "workdir") {
      const { workdir } = contextAfter(step, context);
      await this.#run('mkdir -p -- "$1"', [workdir], { ...context, workdir: "/" });
    }
    if (step.kind === "copy") {
      const { sources, destination, permissions = "" } = step;
      await this.#run(copyScript, [archiveAt(index), destination, permissions, ...sources], context);
    }
    if (step.kind === "run") {
      const programs = programsOfImages(step.command);
      if (programs.length > 0) await this.#run(linkScript, programs, context);
      await this.#run(rootGuard(step.command) + step.command, [], context);
    }
  }

  async #run(script: string, args: readonly string[], { environment, workdir }: BuildContext): Promise<void> {
    const body = {
      language: "bash",
      code: args.length === 0 ? script : `set -- ${args.map(quoted).join(" ")}\n${script}`,
      env: environment,
      workdir,
      timeout: longestStepSeconds,
    };
    const { process_id: id } = readable(started, await this.#ask("POST", "/execute/background", body));
    let offsets = { stdout: 0, stderr: 0 };
    const pace = new Pace({ firstMs: 20, longestMs: 1000, patientMs: waitSeconds * 500 });
    for (;;) {
      pace.begin();
      const query = `stdout_offset=${offsets.stdout}&stderr_offset=${offsets.stderr}&limit=${pieceBytes}&wait=${waitSeconds}`;
      const path = `/execute/processes/${encodeURIComponent(id)}/output?${query}`;
      const answer = readable(stepOutput, await this.#ask("GET", path));
      this.print(answer.stdout);
      this.print(answer.stderr);
      offsets = { stdout: answer.stdout_offset, stderr: answer.stderr_offset };
      if (!answer.complete) {
        await pace.rest(this.signal);
        continue;
      }
      if (answer.exit_code === 0) return;
      const reason =
        answer.termination_reason === "out_of_memory"
          ? "it ran out of memory"
          : `exit code ${String(answer.exit_code)}`;
      throw new Error(reason);
    }
  }

  #ask(method: "GET" | "POST", path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    return this.agents.ask(this.machine, {
      method,
      path,
      ...(body && { body }),
      signal: this.signal,
      longest: longestAnswer,
    });
  }
}

const started = z.object({ process_id: z.string().check(z.minLength(1), z.maxLength(200)) });
const offset = z.int().check(z.nonnegative());
const stepOutput = z.object({
  stdout: z.string(),
  stderr: z.string(),
  stdout_offset: offset,
  stderr_offset: offset,
  complete: z.boolean(),
  exit_code: z.optional(z.int()),
  termination_reason: z.optional(z.string()),
});

/** What the agent says is what a step in the machine may have put in its place. */
function readable<Form extends z.ZodMiniType>(form: Form, answer: unknown): z.output<Form> {
  const read = z.safeParse(form, answer);
  if (read.success) return read.data;
  throw new Error("the machine's agent sent an answer that nobody can read");
}

/** What holds after a step, which does not depend on what it did. */
export function contextAfter(step: BuildStep, context: BuildContext): BuildContext {
  const { environment, workdir } = context;
  if (step.kind === "env") {
    const variables = { ...environment, [step.name]: expand(step.value, environment) };
    if (Buffer.byteLength(JSON.stringify(variables)) > environmentBytes) throw tooMuch();
    return { ...context, environment: variables };
  }
  if (step.kind !== "workdir") return context;
  const path = expand(step.path, environment);
  return { ...context, workdir: path.startsWith("/") ? path : `${workdir.replace(/\/$/, "")}/${path}` };
}

/**
 * What a command names by the place that it has in images of Python and Node.js. The vendor's `pipInstall` and
 * `npmInstall` do; on the machine it may be elsewhere.
 */
function programsOfImages(command: string): string[] {
  const named = command.matchAll(/\/usr\/local\/bin\/((?:python|pip)[\d.]*|node|npm|npx)(?![\w./-])/g);
  return [...new Set([...named].map(([, program = ""]) => program))];
}

const linkScript = `for program; do
  path=/usr/local/bin/$program
  [ -e "$path" ] || ! found=$(command -v "$program") || { mkdir -p /usr/local/bin && ln -s "$found" "$path" && echo "Note: $path is $found."; }
done`;

/** Whether a step does something in a machine. */
export const isPerformed = ({ kind }: BuildStep): boolean =>
  kind === "run" || kind === "copy" || kind === "workdir";

const longestStepSeconds = 86_400;
/** The agent answers when the step has ended, or after so many seconds. */
const waitSeconds = 1;
/** Of each output, at a time. What a build prints beyond a few of them is left out of its log. */
const pieceBytes = 256 * 1024;
/** Two of them, each of whose bytes takes six at most as JSON, and what else there is. */
const longestAnswer = 4 * 1024 * 1024;

/**
 * Before a command that cannot work without root, and does not provide for that: what its package manager says in many lines
 * is said in one, where there is no root.
 */
function rootGuard(command: string): string {
  const manager = /(?:^|[;&(\n])\s*(?:sudo\s+)?(apt-get|apt|apk|yum|dnf)\s/.exec(command)?.[1];
  if (manager === undefined || command.includes("||")) return "";
  const said = `${manager} needs root, which builds on this machine do not have: install with pip or npm instead, or install it on the host, whose programs are there in every sandbox.`;
  return `[ "$(id -u)" = 0 ] || { echo ${quoted(said)} >&2; exit 100; }\n`;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** What a program can be started with: the kernel takes 128 KiB in one piece. */
const environmentBytes = 64 * 1024;

const tooMuch = (): Error =>
  new Error(`The variables of a template may take at most ${environmentBytes / 1024} KiB.`);

/** `$NAME` and `${NAME}` of the variables so far; what is not set stays as it is written. Each may double the last. */
function expand(text: string, environment: Readonly<Record<string, string>>): string {
  let length = text.length;
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (written, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? "";
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    length += value?.length ?? 0;
    if (length > environmentBytes) throw tooMuch();
    return value ?? (name === "PATH" ? defaultPath : written);
  });
}

const defaultPath = `/home/sandbox/.local/bin:${searchPathAnywhere}`;

/**
 * Unpacks an archive aside and copies what was asked for. Names that lead out of it are refused by tar, devices by the
 * kernel; links are kept as they are, and lead nowhere but into the machine.
 */
const copyScript = `set -e
archive=$1 destination=$2 permissions=$3; shift 3
aside=$(mktemp -d -p /var/tmp)
trap 'chmod -R u+rwX "$aside"; rm -rf "$aside"' EXIT
tar -xzf "$archive" -C "$aside" --no-same-owner --delay-directory-restore
case $destination in /*) ;; *) destination=$PWD/$destination ;; esac
shopt -s nullglob dotglob
found=()
for source; do
  while case $source in ./*|/*|../*) true ;; *) false ;; esac; do source=\${source#*/}; done
  case /$source/ in */../*) echo "A source may not lead out of the archive: $source" >&2; exit 1 ;; esac
  before=\${#found[@]}
  if [ -z "$source" ] || [ "$source" = . ]; then found+=("$aside/.")
  else
    if [ -e "$aside/$source" ] || [ -L "$aside/$source" ]; then found+=("$aside/\${source%/}")
    else
      IFS=
      for match in "$aside"/$source; do found+=("\${match%/}"); done
      unset IFS
    fi
  fi
  [ "\${#found[@]}" -gt "$before" ] || { echo "Not among the files that were uploaded: $source" >&2; exit 1; }
done
into=
case $destination in */) into=1 ;; esac
[ "\${#found[@]}" -le 1 ] || into=1
[ ! -d "$destination" ] || into=1
for item in "\${found[@]}"; do
  [ -z "$permissions" ] || find "$item" -type f -exec chmod "$permissions" {} +
  if [ -d "$item" ] && [ ! -L "$item" ]; then
    mkdir -p -- "$destination"
    cp -a --no-preserve=ownership -- "$item/." "$destination/"
  elif [ -n "$into" ]; then
    mkdir -p -- "$destination"
    cp -a --no-preserve=ownership -- "$item" "$destination/"
  else
    mkdir -p -- "$(dirname -- "$destination")"
    cp -a --no-preserve=ownership -- "$item" "$destination"
  fi
done
`;
