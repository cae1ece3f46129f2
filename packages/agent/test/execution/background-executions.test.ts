import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeptOutput } from "@cloud-sandbox/server-kit/execution";
import { afterAll, expect, test } from "vitest";
import {
  BackgroundExecutions,
  type BackgroundTerms,
} from "../../src/execution/background/background-executions.js";
import { BackgroundRecords } from "../../src/execution/background/background-records.js";
import { OutputFiles } from "../../src/execution/output/output-files.js";
import type { Execution } from "../../src/execution/programs/executor.js";
import { PrivateDirectory } from "../../src/machine/private-directory.js";

const temporary = mkdtempSync(join(tmpdir(), "background-jobs-"));
afterAll(() => rmSync(temporary, { recursive: true }));

/** Aborts the caller's request before it writes the record of the job's start to disk. */
class SlowRecords extends BackgroundRecords {
  override async write(...job: Parameters<BackgroundRecords["write"]>): Promise<void> {
    caller.abort();
    await super.write(...job);
  }
}

const caller = new AbortController();

/** A program that runs until it is stopped. */
async function launch({ id, signal, background }: BackgroundTerms): Promise<Execution> {
  const output = () => new KeptOutput(1024, () => background.create("output"));
  const ended = new Promise((resolve) => signal.addEventListener("abort", resolve));
  const outcome = ended.then(() => {
    const text = { text: "", bytes: 0, truncated: false };
    return { id, reason: "killed", exitCode: 137, pid: 1, duration: 0, stdout: text, stderr: text } as const;
  });
  return { id, pid: 1, stdout: output(), stderr: output(), outcome };
}

test("a job is ended if its caller goes away before the answer with its id", async () => {
  const directory = new PrivateDirectory(temporary);
  const jobs = new BackgroundExecutions(new OutputFiles(directory, 1024), new SlowRecords(directory, 10));
  const job = await jobs.start(launch, { kind: "proc" }, caller.signal);
  await job.ended;
  expect(job).toMatchObject({ status: "killed", outcome: { exitCode: 137 } });
});
