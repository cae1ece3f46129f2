import type { ControlPlaneOperations, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import type { Exchange, NodeExchange } from "../../http/exchange.js";
import { Reply } from "../../http/reply.js";
import type { Handlers } from "../../router/handlers.js";
import { ownLimitsOf } from "./own-limits.js";
import type { RepeatedPrograms } from "./repeated-programs.js";
import type { EgressWish } from "./sandbox-answers.js";
import { egressWish, templateReference } from "./sandbox-handlers.js";
import type { OwnLimits } from "./template-facts.js";

/** The template of a program whose request names none. */
const usualTemplate = "code-interpreter";

/** A checked request to run a program that leaves no sandbox behind. */
export interface ProgramWish {
  readonly code: string;
  readonly language: string;
  readonly timeoutSeconds: number;
  readonly workdir: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly template: string;
  readonly egress: EgressWish;
  readonly limits: OwnLimits | undefined;
  readonly minIsolation: ControlPlaneSchemas["Isolation"] | undefined;
  readonly wantsRich: boolean;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** To be called when the program may have begun. */
  readonly onStart: () => void;
}

export type ProgramAnswer = ControlPlaneSchemas["ProgramResult"];

export interface ProgramHandlerParts {
  readonly runProgram: (wish: ProgramWish) => Promise<ProgramAnswer>;
  readonly repeated: RepeatedPrograms;
  readonly usualEgress?: EgressWish;
}

type Body = ControlPlaneOperations["runProgram"]["requestBody"]["content"]["application/json"];

/** The operation that runs one program and keeps nothing of it. */
export function programHandlers<Over extends Exchange = NodeExchange>({
  runProgram,
  repeated,
  usualEgress = { internetAccess: true },
}: ProgramHandlerParts) {
  return {
    runProgram: async (call) => {
      const { body, signal } = call;
      const answer = await repeated.run(call.header("idempotency-key"), body, async (onStart) =>
        JSON.stringify(await runProgram(programWish(body, usualEgress, signal, onStart))),
      );
      return new Reply(answer, { "content-type": "application/json" }, 200);
    },
  } satisfies Pick<Handlers<ControlPlaneContract, undefined, Over>, "runProgram">;
}

function programWish(
  body: Body & { readonly language: string; readonly timeout: number; readonly capture_rich: boolean },
  usualEgress: EgressWish,
  signal: AbortSignal,
  onStart: () => void,
): ProgramWish {
  return {
    code: body.code,
    language: body.language,
    timeoutSeconds: body.timeout,
    workdir: body.workdir,
    environment: body.env ?? {},
    template:
      body.template_name ??
      (body.template_id === undefined ? usualTemplate : templateReference(body.template_id)),
    egress: egressWish(body, usualEgress),
    limits: ownLimitsOf(body.limits),
    minIsolation: body.min_isolation,
    wantsRich: body.capture_rich,
    ...{ signal, onStart },
  };
}
