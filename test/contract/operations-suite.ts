import { afterAll, beforeAll, describe, test } from "vitest";
import { ContractDocument } from "../support/documents/contract-document.js";
import type { Backend } from "./backends/backend.js";
import { changeProofs } from "./operations/changes.js";
import { environmentProofs, metricsProofs } from "./operations/environment-and-metrics.js";
import { eventProofs } from "./operations/events.js";
import { executionProofs } from "./operations/execution.js";
import { fileProofs } from "./operations/files.js";
import { keyProofs } from "./operations/keys.js";
import { programProofs } from "./operations/programs.js";
import { Bench, type Proof } from "./operations/proof.js";
import { refusalProofs } from "./operations/refusals.js";
import { sandboxProofs } from "./operations/sandboxes.js";
import { secretProofs } from "./operations/secrets.js";
import { snapshotProofs } from "./operations/snapshots.js";
import { streamProofs } from "./operations/streams.js";
import { templateProofs } from "./operations/templates.js";
import { volumeProofs } from "./operations/volumes.js";
import { webhookProofs } from "./operations/webhooks.js";

const documents = [new ContractDocument("control-plane"), new ContractDocument("agent")];

const proofs: Readonly<Record<string, Proof>> = {
  ...sandboxProofs,
  ...programProofs,
  ...templateProofs,
  ...executionProofs,
  ...fileProofs,
  ...environmentProofs,
  ...metricsProofs,
  ...streamProofs,
  ...refusalProofs,
  ...webhookProofs,
  ...keyProofs,
  ...volumeProofs,
  ...secretProofs,
  ...changeProofs,
  ...snapshotProofs,
  ...eventProofs,
};

/** Tests every operation of both contracts, but for those that the backend is known to refuse. */
export function operationsSuite(start: () => Promise<Backend>, refused: readonly string[] = []): void {
  describe("the operation", () => {
    let bench: Bench;

    beforeAll(async () => {
      const backend = await start();
      const sandbox = await backend.client.sandboxes.create({
        template: "code-interpreter",
        timeoutSeconds: 600,
      });
      const params = { path: { id: sandbox.id } };
      const { data } = await backend.client.controlPlane.POST("/v1/sandboxes/{id}/token/refresh", { params });
      bench = new Bench(backend, sandbox, data?.auth_token ?? "");
    });
    afterAll(() => bench?.backend.close());

    for (const operation of documents.flatMap(({ operations }) => operations)) {
      const proof = proofs[operation.operationId];
      if (!proof || refused.includes(operation.operationId)) continue;
      test(`${operation.operationId} ${proof.shows}`, { timeout: 120_000 }, async () => {
        await proof.run(bench);
      });
    }
  });
}

export const unproven = (): string[] =>
  documents.flatMap(({ operations }) =>
    operations.map(({ operationId }) => operationId).filter((id) => !(id in proofs)),
  );
