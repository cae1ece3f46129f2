import type { ControlPlaneOperations, ControlPlaneSchemas } from "@cloud-sandbox/protocol";
import type { ControlPlaneContract } from "../../generated/control-plane-contract.js";
import { type Exchange, type NodeExchange, Reply } from "../../http/exchange.js";
import { internalProblem, type Problem } from "../../http/problem.js";
import type { Handlers } from "../../router/handlers.js";
import { type ProgramAnswer, type ProgramReader, streamedProgram } from "./program-stream.js";
import type { RepeatedPrograms } from "./repeated-programs.js";
import type { RequestedEgress } from "./sandbox-answers.js";
import { requestedEgress, templateReference } from "./sandbox-handlers.js";
import { type OwnLimits, ownLimitsOf } from "./template-facts.js";

/** The template of a program whose request names none. */
const defaultTemplate = "code-interpreter";

/** A checked request to run a program that leaves no sandbox behind. */
export interface ProgramSpec {
  readonly code: string;
  readonly language: string;
  /** The name of the program's file in its working directory. */
  readonly filename: string | undefined;
  readonly timeoutSeconds: number;
  readonly workdir: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly template: string;
  readonly egress: RequestedEgress;
  readonly limits: OwnLimits | undefined;
  readonly minIsolation: ControlPlaneSchemas["Isolation"] | undefined;
  readonly wantsRich: boolean;
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** Called when the program may have begun. */
  readonly onStart: () => void;
  /** Reads the program's output while the program runs. Without a reader, the answer contains the whole output. */
  readonly reader?: ProgramReader | undefined;
}

export interface ProgramHandlerParts<Over extends Exchange = NodeExchange> {
  readonly runProgram: (spec: ProgramSpec) => Promise<ProgramAnswer>;
  readonly repeated: RepeatedPrograms;
  readonly defaultEgress?: RequestedEgress;
  /** Turns pieces of text into the stream type of this server. */
  readonly stream: (pieces: AsyncGenerator<string>) => Over["stream"];
  readonly log?: (message: string) => void;
}

type Body = ControlPlaneOperations["runProgram"]["requestBody"]["content"]["application/json"];

/** The operation that runs a program without a sandbox (POST /v1/executions). */
export function programHandlers<Over extends Exchange = NodeExchange>({
  runProgram,
  repeated,
  defaultEgress = { internetAccess: true },
  stream,
  log = () => undefined,
}: ProgramHandlerParts<Over>) {
  return {
    runProgram: async (call) => {
      const { body, signal, requestId } = call;
      const key = call.header("idempotency-key");
      if (body.stream) {
        const onError = (error: unknown): Problem => {
          log(`runProgram failed (${requestId}): ${error instanceof Error ? error.stack : String(error)}`);
          return internalProblem(requestId);
        };
        return streamedProgram({ accept: call.header("accept"), signal, stream, onError }, (reader) =>
          repeated.runUnstored(key, body, (onStart) =>
            runProgram({ ...programSpec(body, defaultEgress, signal, onStart), reader }),
          ),
        );
      }
      const answer = await repeated.run(key, body, async (onStart) =>
        JSON.stringify(await runProgram(programSpec(body, defaultEgress, signal, onStart))),
      );
      return new Reply(answer, { "content-type": "application/json" }, 200);
    },
  } satisfies Pick<Handlers<ControlPlaneContract, unknown, Over>, "runProgram">;
}

function programSpec(
  body: Body & { readonly language: string; readonly timeout: number; readonly capture_rich: boolean },
  defaultEgress: RequestedEgress,
  signal: AbortSignal,
  onStart: () => void,
): ProgramSpec {
  return {
    code: body.code,
    language: body.language,
    filename: body.filename,
    timeoutSeconds: body.timeout,
    workdir: body.workdir,
    environment: body.env ?? {},
    template:
      body.template_name ??
      (body.template_id === undefined ? defaultTemplate : templateReference(body.template_id)),
    egress: requestedEgress(body, defaultEgress),
    limits: ownLimitsOf(body.limits),
    minIsolation: body.min_isolation,
    wantsRich: body.capture_rich,
    signal,
    onStart,
  };
}
