import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import type { BackgroundExecution } from "@cloud-sandbox/server-kit/handlers";
import * as z from "zod/mini";
import type { PrivateDirectory } from "../../machine/private-directory.js";
import { sweepMarkedProcesses } from "../programs/process-sweep.js";
import type { BackgroundEnd } from "./background-end.js";
import { RecoveredExecution, StoredOutput } from "./recovered-execution.js";

const suffix = ".json";
const maxRecordBytes = 4096;
const outputs = ["stdout", "stderr"] as const;

const count = z.int().check(z.nonnegative());
const backgroundRecord = z.object({
  id: z.string().check(z.regex(/^(cmd|proc)_[0-9a-z]{1,40}$/)),
  pid: count,
  description: z.object({
    kind: z.enum(["cmd", "proc"]),
    name: z.optional(z.string().check(z.maxLength(200))),
    language: z.optional(z.string().check(z.maxLength(40))),
  }),
  /** Time at which the execution started, in milliseconds since 1970, as `end.at` is. */
  startedAt: count,
  end: z.optional(
    z.object({
      at: count,
      reason: z.enum(["exit", "timeout", "out_of_memory", "killed", "signal", "interrupted"]),
      exitCode: count.check(z.maximum(255)),
      duration: z.number().check(z.nonnegative()),
      stdoutBytes: count,
      stderrBytes: count,
    }),
  ),
});

type BackgroundRecord = z.infer<typeof backgroundRecord>;

/**
 * Saves each execution as a file, next to the files with its output, so that the next agent finds the executions of one that was
 * killed. Programs in the sandbox can write these files too, so invalid records are ignored.
 */
export class BackgroundRecords {
  constructor(
    private readonly directory: PrivateDirectory,
    private readonly limit: number,
  ) {}

  /**
   * Saves the current state of an execution. Resolves even if the write failed (for example on a full disk); that is only
   * logged.
   */
  async write(execution: BackgroundExecution, end?: BackgroundEnd): Promise<void> {
    try {
      await this.directory.replace(execution.id + suffix, JSON.stringify(recordOf(execution, end)));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      console.error(
        `The record of execution ${execution.id} was not written (${code}): a restarted agent does not list the execution.`,
      );
    }
  }

  /** Deletes an execution's record and its output files. */
  async remove({ id }: Pick<BackgroundExecution, "id">): Promise<void> {
    const directory = await this.directory.path();
    const names = [id + suffix, ...outputs.map((output) => `${id}.${output}`)];
    await Promise.allSettled(names.map((name) => rm(join(directory, name), { force: true })));
  }

  /** Loads the executions of earlier agents, oldest first. All processes of executions that have no recorded end are killed. */
  async recover(): Promise<BackgroundExecution[]> {
    const names = await this.directory.names();
    const records = (await Promise.all(newest(names, this.limit).map((name) => this.#read(name))))
      .filter((record) => record !== undefined)
      .sort((one, other) => one.startedAt - other.startedAt);
    const orphans = records.filter(({ end }) => end === undefined);
    await sweepMarkedProcesses(new Set(orphans.map(({ id }) => id)));
    return Promise.all(records.map((record) => this.#execution(record)));
  }

  async #read(name: string): Promise<BackgroundRecord | undefined> {
    const record = backgroundRecord.safeParse(parse(await this.directory.read(name, maxRecordBytes)));
    return record.success && record.data.id + suffix === name ? record.data : undefined;
  }

  async #execution({ id, pid, description, startedAt, end }: BackgroundRecord): Promise<BackgroundExecution> {
    const directory = await this.directory.path();
    const output = async (name: (typeof outputs)[number]) => {
      const path = join(directory, `${id}.${name}`);
      const found = await lstat(path).catch(() => undefined);
      return new StoredOutput(path, end?.[`${name}Bytes`] ?? (found?.isFile() ? found.size : 0));
    };
    const now = Date.now();
    const duration = Math.max(0, now - startedAt) / 1000;
    const { at, ...outcome } = end ?? { reason: "interrupted", exitCode: 137, duration, at: now };
    const execution = new RecoveredExecution(
      id,
      pid,
      description,
      new Date(startedAt),
      new Date(at),
      outcome,
      await output("stdout"),
      await output("stderr"),
    );
    if (!end) await this.write(execution, { ...execution.outcome, at: execution.endedAt });
    return execution;
  }
}

function recordOf(execution: BackgroundExecution, end: BackgroundEnd | undefined): BackgroundRecord {
  const { id, pid, description, startedAt, stdout, stderr } = execution;
  const outputs = { stdoutBytes: stdout.bytes, stderrBytes: stderr.bytes };
  return {
    id,
    pid,
    description,
    startedAt: startedAt.getTime(),
    ...(end && { end: { ...end, at: end.at.getTime(), ...outputs } }),
  };
}

/** Ids contain their start time. If there are more records than executions are kept, use the newest. */
const newest = (names: readonly string[], limit: number) =>
  names
    .filter((name) => name.endsWith(suffix) && /^(cmd|proc)_/.test(name))
    .sort((one, other) => time(other) - time(one))
    .slice(0, limit);

const time = (name: string) => Number(/_(\d{13})/.exec(name)?.[1] ?? 0);

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
