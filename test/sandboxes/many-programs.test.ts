import { type ManyExecutionsOutcome, NetworkError, SandboxClient } from "cloud-sandbox";
import { expect, onTestFailed, onTestFinished, test } from "vitest";
import { leftovers } from "../chaos/leftovers.js";
import { randomNumbers } from "../chaos/random-numbers.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";

// The long form, with a thousand programs: MANY_PROGRAMS=1000 npx vitest run test/sandboxes/many-programs.test.ts
const count = Number(process.env.MANY_PROGRAMS ?? 32);
const seed = 20_260_101;
const timeout = 60_000 + count * 1000;

interface Generated {
  readonly kind: string;
  readonly code: string;
  readonly language?: string;
  readonly timeoutSeconds?: number;
  /** The fields that the program's result must have. */
  readonly result: object;
}

/** A program like those that language models write: it succeeds, fails, never ends, prints very much, or is killed. */
function generated(number: number, random: () => number): Generated {
  const terms = Array.from({ length: 5 }, () => Math.floor(random() * 1000));
  const sum = terms.reduce((one, other) => one + other, 0);
  const kinds: readonly Generated[] = [
    {
      kind: "correct",
      code: `def total(rows):\n    return sum(rows)\n\nassert total([${terms}]) == ${sum}\nprint(${number}, total([${terms}]))`,
      result: { exitCode: 0, success: true, stdout: `${number} ${sum}\n`, stderr: "" },
    },
    {
      kind: "correct JavaScript",
      language: "javascript",
      code: `console.log(${number}, [${terms}].reduce((one, other) => one + other))`,
      result: { exitCode: 0, stdout: `${number} ${sum}\n`, stderr: "" },
    },
    {
      kind: "failing",
      code: `def total(rows):\n    return sum(rows) + 1\n\nassert total([${terms}]) == ${sum}, "${number}"`,
      result: { exitCode: 1, stdout: "", stderr: expect.stringContaining(`AssertionError: ${number}`) },
    },
    {
      kind: "endless",
      code: `print(${number}, flush=True)\nwhile True: pass`,
      timeoutSeconds: 1,
      result: { exitCode: 124, terminationReason: "timeout", stdout: `${number}\n` },
    },
    {
      kind: "huge output",
      code: `print("${number} " * 400_000)`,
      result: {
        exitCode: 0,
        stdout: expect.stringMatching(new RegExp(`^(${number} )+`)),
        output: { stdout: { bytes: `${number} `.length * 400_000 + 1 } },
      },
    },
    {
      kind: "exit code",
      language: "bash",
      code: `echo ${number}; exit ${number % 100}`,
      result: { exitCode: number % 100, stdout: `${number}\n` },
    },
    {
      kind: "killed",
      code: `import os\nprint(${number}, flush=True)\nos.kill(os.getpid(), 9)`,
      result: { exitCode: 137, stdout: `${number}\n` },
    },
  ];
  // Only one program in fifty never ends, because each of those takes a second.
  const kind = number % 50 === 3 ? 3 : [0, 0, 0, 1, 2, 2, 4, 5, 6][number % 9];
  return kinds[kind ?? 0] as Generated;
}

function programs(): Generated[] {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, (_, number) => generated(number, random));
}

async function started(): Promise<LocalServer> {
  const server = await startLocalServer({ args: ["--pool", "0"] });
  onTestFailed(() => console.error(server.log()));
  onTestFinished(async () => {
    await server.stop();
  });
  return server;
}

const runMany = (client: SandboxClient, all: readonly Generated[]): AsyncGenerator<ManyExecutionsOutcome> =>
  client.executeIsolatedMany(
    all.map(({ code, language, timeoutSeconds = 60 }) => ({ code, language, timeoutSeconds })),
    { concurrency: 8 },
  );

test(`${count} generated programs each get their own result, and leave nothing`, { timeout }, async () => {
  const server = await started();
  await using client = new SandboxClient({ baseUrl: server.url, apiKey: server.apiKey });
  const all = programs();
  const told = new Map<number, string>();
  const began = performance.now();
  for await (const { index, result, error } of runMany(client, all)) {
    expect(error).toBeUndefined();
    expect({ index, ...result }).toMatchObject({ index, ...all[index]?.result });
    told.set(index, String(all[index]?.kind));
  }
  const seconds = (performance.now() - began) / 1000;
  expect(told.size).toBe(count);
  console.log(`${count} programs in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} a second`);
  console.table(tally(told.values()));
  await server.stop();
  expect(leftovers(new Set([server.pid]))).toEqual([]);
});

test(`when the server is killed, callers of ${count} programs learn which have run, may have run, and have not`, {
  timeout,
}, async () => {
  const server = await started();
  await using client = new SandboxClient({
    ...{ baseUrl: server.url, apiKey: server.apiKey },
    retry: { attempts: 1 },
  });
  const all = programs();
  const told = new Map<number, string>();
  for await (const { index, result, error } of runMany(client, all)) {
    if (result) expect({ index, ...result }).toMatchObject({ index, ...all[index]?.result });
    else expect(error).toBeInstanceOf(NetworkError);
    // If the request was sent, the program may have run. Otherwise it certainly has not.
    told.set(index, result ? "result" : (error as NetworkError).wasSent ? "may have run" : "has not run");
    if (told.size === Math.floor(count / 2)) await server.stop("SIGKILL");
  }
  expect(told.size).toBe(count);
  const became = tally(told.values());
  console.table(became);
  expect(became.result).toBeGreaterThanOrEqual(Math.floor(count / 2));
  expect(became["may have run"] ?? 0).toBeLessThanOrEqual(8);
  expect(became["has not run"]).toBeGreaterThan(0);
  const next = await started();
  await expect.poll(() => leftovers(new Set([server.pid]))).toEqual([]);
  await next.stop();
  expect(leftovers(new Set([next.pid]))).toEqual([]);
});

function tally(values: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
