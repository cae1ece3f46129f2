import { realpath } from "node:fs/promises";
import type {
  DisplayedValue,
  Mounts,
  Sandbox,
  SandboxClient,
  StreamedExecution,
  StreamedResult,
} from "cloud-sandbox";
import type { Call } from "../../command-line/action.js";
import { followed } from "../../connection/followed.js";
import { CommandError, failed } from "../../errors/command-error.js";
import { isWhole, reviewAndApply } from "../changes/review.js";
import { chosenTemplate } from "../chosen-template.js";
import { printEvents, type RunningProgram } from "../program-output.js";
import { makeDirectory, showPlots } from "./plots.js";
import type { ProgramText } from "./program-text.js";
import type { RunOptions } from "./run-options.js";

/** Seconds that the sandbox may live beyond the program's time limit, should this process die. */
const spareSeconds = 300;
/** Seconds for the delete of the sandbox, also after Ctrl-C. */
const longestDelete = 30;

/** Runs a program in a sandbox of its own, prints what it prints as it comes, and resolves with its exit code. */
export async function runProgram(
  call: Call<RunOptions>,
  program: ProgramText,
  args: readonly string[],
): Promise<number> {
  const { options, output, signal } = call;
  if (options.savePlots !== undefined) await makeDirectory(options.savePlots);
  const needsSandbox = args.length > 0 || options.mount !== undefined || options.work !== undefined;
  const work = await workDirectory(options);
  const client = await call.client(work === undefined ? undefined : { allowMounts: [work] });
  const { env, internet: internetAccess, secret: secrets, timeout: timeoutSeconds } = options;
  const mounts: Mounts | undefined =
    work === undefined ? options.mount : { ...options.mount, "/workspace": { host: work, mode: "copy" } };
  const template = await chosenTemplate(client, options, call);
  if (!needsSandbox) {
    const { language, name: filename, text } = program;
    const running = { env, filename, internetAccess, language, secrets, template, timeoutSeconds, signal };
    return printed(client.executeIsolatedStream(text, running), call);
  }
  const lifetime = timeoutSeconds + spareSeconds;
  output.progress("Creating a sandbox …");
  const sandbox = await client.sandboxes.create({
    template,
    internetAccess,
    mounts,
    secrets,
    timeoutSeconds: lifetime,
    signal,
  });
  let hasWork = false;
  const runInSandbox = async (): Promise<number> => {
    const running = await start(sandbox, call, program, args);
    hasWork = work !== undefined;
    const code = await printed(running, call);
    if (work === undefined) return code;
    const review = await reviewAndApply(call, sandbox, { since: "/workspace" });
    if (output.isJson) output.json({ type: "applied", changes: review.applied });
    hasWork = !isWhole(review) || review.leftOut > 0;
    return code === 0 && !isWhole(review) ? failed : code;
  };
  return followed(runInSandbox, async () => {
    // Ctrl-C leaves nothing behind.
    if (!hasWork || signal.aborted || !(await keepWork(sandbox, client, call)))
      await sandbox.delete({ requestTimeoutSeconds: longestDelete });
  });
}

/** The directory of `--work`, without links in its path. */
async function workDirectory({ work, mount }: RunOptions): Promise<string | undefined> {
  if (work === undefined) return undefined;
  if (mount && Object.hasOwn(mount, "/workspace"))
    throw new CommandError(
      "USAGE",
      "--work and --mount both name what is at /workspace.",
      "Mount the other one elsewhere, as at /data.",
    );
  return realpath(work).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "ENOENT" ? "does not exist" : `cannot be opened (${error.code})`;
    throw new CommandError(
      "WORK_UNREADABLE",
      `The directory ${JSON.stringify(work)} of --work ${reason}.`,
      "Name another one.",
    );
  });
}

/** Seconds that a sandbox stays with changes that were not applied. */
const keptSeconds = 3600;

/** Leaves the sandbox for an hour, or to its deadline, and says how to go on. Resolves with whether it stays. */
async function keepWork(
  sandbox: Sandbox,
  { backend }: SandboxClient,
  { output }: Call<RunOptions>,
): Promise<boolean> {
  if (backend === "local") {
    output.warn(
      'What is not applied is lost: without a server, sandboxes end with the command that made them. Start one with "cloud-sandbox serve".',
    );
    return false;
  }
  const isKept = await sandbox.setTimeout(keptSeconds, { requestTimeoutSeconds: longestDelete }).then(
    () => true,
    () => false,
  );
  const { id } = sandbox;
  if (output.isJson) output.json({ type: "kept", sandbox: id });
  // Its deadline ends it if it could not be moved: that is better than to delete the work because of one failed call.
  output.warn(
    `Sandbox ${id} stays ${isKept ? "for an hour" : "until its deadline"} with what is not applied: "cloud-sandbox diff ${id}" shows it, "cloud-sandbox apply ${id} [path...]" applies it, "cloud-sandbox sandbox delete ${id}" deletes it.`,
  );
  return true;
}

/** Prints a program's output and plots, and resolves with its exit code. */
async function printed(stream: RunningProgram, call: Call<RunOptions>): Promise<number> {
  const { options, output } = call;
  const { exitCode, result } = await printEvents(stream, call, options.timeout);
  const displayed: readonly DisplayedValue[] = "richOutputs" in result ? result.richOutputs : [];
  const plots = await showPlots(displayed, options.savePlots, output);
  if (output.isJson) output.json({ type: "result", ...facts(result), plots });
  return exitCode;
}

/** The fields about the program's end that `--json` prints. */
function facts(result: StreamedResult | StreamedExecution): object {
  const { executionTimeSeconds, exitCode, success, terminationReason } = result;
  const isCode = "richOutputs" in result;
  return {
    exitCode,
    success,
    executionTimeSeconds,
    terminationReason,
    ...(isCode && { value: result.value, richOutputs: result.richOutputs }),
  };
}

async function start(
  sandbox: Sandbox,
  { options, signal }: Call<RunOptions>,
  { language, name, text }: ProgramText,
  args: readonly string[],
): Promise<RunningProgram> {
  const running = { timeoutSeconds: options.timeout, env: options.env, signal };
  if (language === "python") {
    // Set the arguments in a call of their own: lines put before the program would change its line numbers.
    await sandbox.execute(`__import__("sys").argv[:] = ${JSON.stringify([name, ...args])}`, { signal });
    return sandbox.executeStream(text, { ...running, filename: name, language });
  }
  // A program in a copied directory would be one of its changes.
  const file = language === "javascript" ? javaScriptName(name) : name;
  const path = `${options.work === undefined ? "/workspace" : "/tmp"}/${file}`;
  await sandbox.files.write(path, text, { signal });
  const starts: Readonly<Record<string, readonly string[]>> = {
    javascript: ["node", path],
    bash: ["bash", path],
    // `go run` would end with 1 whatever the program's exit code is.
    go: ["sh", "-c", 'go build -o /tmp/program "$0" && exec /tmp/program "$@"', path],
  };
  const argv = starts[language];
  if (argv === undefined)
    throw new CommandError(
      "ARGUMENTS_UNAVAILABLE",
      `Programs in ${language} take no arguments here.`,
      "Leave out what follows --.",
    );
  return sandbox.commands.stream([...argv, ...args], running);
}

/** The name that Node.js runs a program by, whatever ending its file has here: that of TypeScript, which was converted, it may refuse. */
function javaScriptName(name: string): string {
  return name.replace(/(\.([cm]?)[jt]s)?$/i, ".$2js");
}
