import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ContractDocument,
  type DocumentedOperation,
  type Plane,
} from "../support/documents/contract-document.js";
import { undocumented } from "./answer-check.js";
import { FuzzTarget } from "./fuzz-target.js";
import { meaningful } from "./meaningful-values.js";
import { requestsFor } from "./request-arbitrary.js";
import { cases, seed } from "./run-size.js";
import { SchemaArbitraries } from "./schema-arbitrary.js";

/** How often each operation answered with each status. */
const answered = new Map<string, Map<number, number>>();
let undocumentedAnswers = 0;
let target: FuzzTarget;

beforeAll(async () => {
  target = await FuzzTarget.start();
});

afterAll(async () => {
  await target.close();
  const rows = [...answered].map(([operation, statuses]) => {
    const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}×${count}`);
    return `  ${operation.padEnd(40)} ${counts.join(" ")}`;
  });
  const total = [...answered.values()]
    .flatMap((statuses) => [...statuses.values()])
    .reduce((a, b) => a + b, 0);
  console.log(
    `${rows.join("\n")}\nfuzz: ${rows.length} operations, ${total} cases, undocumented answers: ${undocumentedAnswers} (FUZZ_SEED=${seed})`,
  );
});

for (const plane of ["control-plane", "agent"] as const satisfies readonly Plane[]) {
  const document = new ContractDocument(plane);
  const arbitraries = new SchemaArbitraries(document, meaningful);
  describe(`every request to the ${plane}`, () => {
    test.each(document.operations)(
      "$operationId is answered as documented",
      { timeout: 150_000 + cases * 2000 },
      async (operation) => {
        if (plane === "agent") await target.restore();
        const property = fc.asyncProperty(requestsFor(operation, arbitraries), async (request) => {
          const answer = await target.send(operation, request);
          count(operation, answer.status);
          // A request with a changed path or method may reach another operation: check the answer with the contract of
          // that one.
          const reached = document.operationAt(request.method, request.target) ?? operation;
          const problems = undocumented(reached, request.method, answer, target.secrets);
          undocumentedAnswers += problems.length > 0 ? 1 : 0;
          expect(problems).toEqual([]);
        });
        await fc.assert(property, {
          seed,
          numRuns: cases,
          interruptAfterTimeLimit: 120_000 + cases * 1000,
          markInterruptAsFailure: true,
        });
      },
    );
  });
}

test("after all that everything still works", async () => {
  expect(await target.damage()).toEqual([]);
});

function count({ plane, operationId }: DocumentedOperation, status: number): void {
  const name = `${plane} ${operationId}`;
  const statuses = answered.get(name) ?? new Map<number, number>();
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  answered.set(name, statuses);
}
