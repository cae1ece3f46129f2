import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import { type CallOptions, callInit } from "../config/call-options.js";
import { omitUndefined } from "../config/omit-undefined.js";
import { checkText, checkWhole } from "../config/option-checks.js";
import { bodyOf, successOf } from "../transport/contract-clients.js";

type WireStart = AgentSchemas["RecordingStartRequest"];

export interface RecordingOptions extends CallOptions {
  /** Images a second, 1 to 60. Default 10. */
  fps?: number | undefined;
  /** Default: mp4. */
  format?: WireStart["format"] | undefined;
  /** Default: medium. */
  quality?: WireStart["quality"] | undefined;
  /** Where in the sandbox it is written. Default: the server's choice. */
  path?: string | undefined;
}

/** A recording of the screen, as the server describes it. */
export interface Recording {
  id: string | undefined;
  status: string | undefined;
  /** Seconds. */
  durationSeconds: number | undefined;
  /** Bytes. */
  size: number | undefined;
  format: string | undefined;
  /** In the sandbox. */
  path: string | undefined;
}

/** Films of a desktop. */
export class ScreenRecorder {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): ScreenRecorder {
    return new ScreenRecorder(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Begins one (POST /desktop/recording/start). */
  async start(options: RecordingOptions = {}): Promise<Recording> {
    const { format = "mp4", fps = 10, path, quality = "medium" } = options;
    for (const [option, text] of Object.entries({ format, path, quality })) checkText(option, text);
    checkWhole("fps", fps, 1, 60);
    const body = { format, fps, quality, ...omitUndefined({ output_file: path }) };
    return recording(
      await bodyOf(this.#access.client.POST("/desktop/recording/start", { body, ...callInit(options) })),
    );
  }

  /** Ends one, the latest by default (POST /desktop/recording/stop). */
  async stop(id?: string, options?: CallOptions): Promise<Recording> {
    checkText("id", id);
    const body = omitUndefined({ recording_id: id });
    return recording(
      await bodyOf(this.#access.client.POST("/desktop/recording/stop", { body, ...callInit(options) })),
    );
  }

  /** How far one is, the latest by default (GET /desktop/recording/status). */
  async status(id?: string, options?: CallOptions): Promise<Recording> {
    checkText("id", id);
    const init = { params: { query: omitUndefined({ id }) }, ...callInit(options) };
    return recording(await bodyOf(this.#access.client.GET("/desktop/recording/status", init)));
  }

  /** The bytes of one, the latest by default (GET /desktop/recording/download). They are held in memory. */
  async download(id?: string, options?: CallOptions): Promise<Uint8Array> {
    checkText("id", id);
    const init = {
      params: { query: omitUndefined({ id }) },
      parseAs: "arrayBuffer",
      ...callInit(options),
    } as const;
    const bytes = await successOf(this.#access.client.GET("/desktop/recording/download", init));
    return new Uint8Array(bytes ?? new ArrayBuffer(0));
  }
}

function recording(wire: AgentSchemas["Recording"]): Recording {
  return {
    id: wire.recording_id,
    status: wire.status,
    durationSeconds: wire.duration,
    size: wire.file_size,
    format: wire.format,
    path: wire.output_file,
  };
}
