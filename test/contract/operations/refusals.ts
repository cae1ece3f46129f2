import { expect } from "vitest";
import { ContractDocument } from "../../support/documents/contract-document.js";
import { type Proof, proof } from "./proof.js";

/** Operations that are refused: those of the desktop, because the sandbox has none, and the update of an agent. */
export const refusalProofs: Readonly<Record<string, Proof>> = {
  ...refused("/desktop", 400, "DESKTOP_NOT_AVAILABLE"),
  ...refused("/update", 403, "PERMISSION_DENIED"),
};

function refused(prefix: string, status: number, code: string): Record<string, Proof> {
  const operations = new ContractDocument("agent").operations.filter(({ path }) => path.startsWith(prefix));
  return Object.fromEntries(
    operations.map(({ operationId, method, path }) => [
      operationId,
      proof(`is refused with ${status} ${code}`, async ({ request }) => {
        const answer = await request(method, path.replace(/\{\w+\}/g, "1"));
        expect(answer.status).toBe(status);
        expect(await answer.json()).toMatchObject({ code, error: expect.stringMatching(/\.$/) });
      }),
    ]),
  );
}
