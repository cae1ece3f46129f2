import { posix } from "node:path";
import type { BuildStep } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import type { AgentCalls } from "../agents/agent-calls.js";
import type { TemplateUser } from "../catalogue/template-catalogue.js";
import { PollBackoff } from "../relay/poll-backoff.js";
import type { Machine } from "../runtime/sandbox-runtime.js";
import { searchPathAnywhere } from "../runtime/search-path.js";
import { accountFunctions, asUser, findUserScript, foundUser, quoted, userVariables } from "./build-users.js";

/** Settings of ENV, WORKDIR and USER steps, for later steps and for the template. */
export interface BuildContext {
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** Default: the machine's own user. */
  readonly user?: TemplateUser | undefined;
}

/** The path, in the build machine, of the archive of the COPY step with this index. */
export const archivePath = (index: number): string => `/run/copy-${index}.tar.gz`;

/** Runs the steps of a build inside a machine: commands and uploaded archives are untrusted and never touch the host. */
export class BuildMachine {
  constructor(
    private readonly agents: AgentCalls,
    private readonly machine: Machine,
    private readonly print: (text: string) => void,
    private readonly signal: AbortSignal,
  ) {}

  /** Runs one step. Resolves with the context of the next one, and rejects with the reason when the step fails. */
  async perform(step: BuildStep, index: number, context: BuildContext): Promise<BuildContext> {
    if (step.kind === "workdir") {
      const { workdir } = contextAfter(step, context);
      await this.#run('mkdir -p -- "$1"', [workdir], { ...context, workdir: "/" });
    }
    if (step.kind === "copy") {
      const { sources, destination, permissions = "" } = step;
      await this.#run(copyScript, [archivePath(index), destination, permissions, ...sources], context);
    }
    if (step.kind === "run") {
      const programs = programsNamedByImagePath(step.command);
      if (programs.length > 0) await this.#run(linkScript, programs, context);
      const command = rootGuard(step.command) + accountFunctions(step.command) + step.command;
      await this.#run(asUser(command, context.user), [], context);
    }
    return contextAfter(step, context, step.kind === "user" ? await this.#findUser(step.name) : undefined);
  }

  async #findUser(name: string): Promise<TemplateUser> {
    const args = ["-c", findUserScript, "find-user", name];
    const body = { command: "bash", args, workdir: "/", timeout: 30 };
    const user = foundUser(String((await this.#ask("POST", "/commands/run", body)).stdout));
    if (!user) throw new Error(`there is no user ${name}; create it in an earlier step, as with RUN useradd`);
    return user;
  }

  async #run(script: string, args: readonly string[], { environment, workdir }: BuildContext): Promise<void> {
    const body = {
      language: "bash",
      code: args.length === 0 ? script : `set -- ${args.map(quoted).join(" ")}\n${script}`,
      env: environment,
      workdir,
      timeout: longestStepSeconds,
    };
    const { process_id: id } = parseAnswer(started, await this.#ask("POST", "/execute/background", body));
    let offsets = { stdout: 0, stderr: 0 };
    const backoff = new PollBackoff({ firstMs: 20, longestMs: 1000, longPollMs: waitSeconds * 500 });
    for (;;) {
      backoff.beginRequest();
      const query = `stdout_offset=${offsets.stdout}&stderr_offset=${offsets.stderr}&limit=${pieceBytes}&wait=${waitSeconds}`;
      const path = `/execute/processes/${encodeURIComponent(id)}/output?${query}`;
      const answer = parseAnswer(stepOutput, await this.#ask("GET", path));
      this.print(answer.stdout);
      this.print(answer.stderr);
      offsets = { stdout: answer.stdout_offset, stderr: answer.stderr_offset };
      if (!answer.complete) {
        await backoff.pause(this.signal);
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
      maxAnswerBytes,
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

/** Checks an agent's answer, because a build step may have replaced the agent. */
function parseAnswer<Schema extends z.ZodMiniType>(schema: Schema, answer: unknown): z.output<Schema> {
  const parsed = z.safeParse(schema, answer);
  if (parsed.success) return parsed.data;
  throw new Error("the build machine's agent sent an invalid answer");
}

/** The context after a step. `user`: the one that a USER step names. */
export function contextAfter(step: BuildStep, context: BuildContext, user?: TemplateUser): BuildContext {
  const { environment, workdir } = context;
  if (step.kind === "user" && user)
    return { ...context, user, environment: { ...environment, ...userVariables(user) } };
  if (step.kind === "env") {
    const variables = { ...environment, [step.name]: expand(step.value, environment) };
    if (Buffer.byteLength(JSON.stringify(variables)) > environmentBytes) throw environmentTooLarge();
    return { ...context, environment: variables };
  }
  if (step.kind !== "workdir") return context;
  return { ...context, workdir: posix.resolve(workdir, expand(step.path, environment)) };
}

/**
 * The programs that a command names by their path in the official Python and Node.js images, `/usr/local/bin`. HOPX's
 * `pipInstall` and `npmInstall` name them so, but on this machine the programs may be elsewhere.
 */
function programsNamedByImagePath(command: string): string[] {
  const named = command.matchAll(/\/usr\/local\/bin\/((?:python|pip)[\d.]*|node|npm|npx)(?![\w./-])/g);
  return [...new Set([...named].map(([, program = ""]) => program))];
}

const linkScript = `for program; do
  path=/usr/local/bin/$program
  [ -e "$path" ] || ! found=$(command -v "$program") || { mkdir -p /usr/local/bin && ln -s "$found" "$path" && echo "Note: $path is $found."; }
done`;

/** Whether a step runs something in a machine. */
export const needsMachine = ({ kind }: BuildStep): boolean =>
  kind === "run" || kind === "copy" || kind === "workdir" || kind === "user";

const longestStepSeconds = 86_400;
/** Seconds after which the agent answers even if the step has not ended. The request is then repeated. */
const waitSeconds = 1;
/** Bytes of stdout, and of stderr, fetched with one request. */
const pieceBytes = 256 * 1024;
/** The most bytes of an answer. Enough for two pieces as JSON, in which a byte takes at most six characters. */
const maxAnswerBytes = 4 * 1024 * 1024;

/**
 * A shell line to put before a command that installs system packages. Without root it ends the step with one clear sentence
 * instead of the package manager's errors. A command with `||` handles the failure itself and gets no such line.
 */
function rootGuard(command: string): string {
  const manager = /(?:^|[;&(\n])\s*(?:sudo\s+)?(apt-get|apt|apk|yum|dnf)\s/.exec(command)?.[1];
  if (manager === undefined || command.includes("||")) return "";
  const advice = `${manager} needs root, which builds on this machine do not have: start the server as root with --root-inside, install with pip or npm instead, or install it on the host, whose programs are in every sandbox.`;
  return `[ "$(id -u)" = 0 ] || { echo ${quoted(advice)} >&2; exit 100; }\n`;
}

/** Limit of a template's variables, so that programs can be started: the kernel accepts at most 128 KiB in one string. */
const environmentBytes = 64 * 1024;

const environmentTooLarge = (): Error =>
  new Error(`The variables of a template may take at most ${environmentBytes / 1024} KiB.`);

/** Expands `$NAME` and `${NAME}`. Unset names stay as written. The size is checked, because each ENV step may double a value. */
function expand(text: string, environment: Readonly<Record<string, string>>): string {
  let length = text.length;
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (written, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? "";
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    length += value?.length ?? 0;
    if (length > environmentBytes) throw environmentTooLarge();
    return value ?? (name === "PATH" ? defaultPath : written);
  });
}

const defaultPath = `/home/sandbox/.local/bin:${searchPathAnywhere}`;

/**
 * Unpacks an archive into a temporary directory and copies the requested files from there. Of names, what leads out of the
 * directory is left out: the vendor's builder archives directories by their path from its working directory. The kernel refuses device
 * files, and links can only point into the build machine.
 */
const copyScript = `set -e
archive=$1 destination=$2 permissions=$3; shift 3
aside=$(mktemp -d -p /var/tmp)
trap 'chmod -R u+rwX "$aside"; rm -rf "$aside"' EXIT
tar -xzf "$archive" -C "$aside" --no-same-owner --delay-directory-restore \\
  --absolute-names --transform='s,^\\(.*/\\)*\\.\\./,,S;s,^/*,,S'
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
