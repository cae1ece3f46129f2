import type { AgentSchemas } from "@cloud-sandbox/protocol";
import type { AgentAccess } from "../agent/agent-access.js";
import {
  type CallOptions,
  callInit,
  callOptionNames,
  checkKnown,
  checkText,
  checkWhole,
  type OptionNames,
  omitUndefined,
  requestInit,
} from "../config/options.js";
import { bodyOf, successOf } from "../transport/contract-clients.js";

type WireStart = AgentSchemas["RecordingStartRequest"];

/** Options of `recording.start`. */
export interface RecordingOptions extends CallOptions {
  /** Frames per second, 1 to 60. Default 10. */
  fps?: number | undefined;
  /** File format. Default: mp4. */
  format?: WireStart["format"] | undefined;
  /** Quality of the video. Default: medium. */
  quality?: WireStart["quality"] | undefined;
  /** Path of the video file in the sandbox. Default: the server's choice. */
  path?: string | undefined;
}

const recordingOptionNames: OptionNames<RecordingOptions> = {
  ...callOptionNames,
  fps: true,
  format: true,
  quality: true,
  path: true,
};

/** A screen recording, as the server describes it. */
export interface Recording {
  id: string | undefined;
  status: string | undefined;
  /** Why it failed, if it did. */
  error: string | undefined;
  /** Length in seconds. */
  durationSeconds: number | undefined;
  /** Size in bytes. */
  size: number | undefined;
  format: string | undefined;
  /** Path of the file in the sandbox. */
  path: string | undefined;
}

/** Records the screen of a desktop. */
export class ScreenRecorder {
  readonly #access: AgentAccess;

  /** @internal */
  static of(access: AgentAccess): ScreenRecorder {
    return new ScreenRecorder(access);
  }

  private constructor(access: AgentAccess) {
    this.#access = access;
  }

  /** Starts a recording (POST /desktop/recording/start). */
  async start(options: RecordingOptions = {}): Promise<Recording> {
    checkKnown("recording.start", options, recordingOptionNames);
    const { format = "mp4", fps = 10, path, quality = "medium" } = options;
    for (const [option, text] of Object.entries({ format, path, quality })) checkText(option, text);
    checkWhole("fps", fps, 1, 60);
    const body = { format, fps, quality, ...omitUndefined({ output_file: path }) };
    return recording(
      await bodyOf(this.#access.client.POST("/desktop/recording/start", { body, ...requestInit(options) })),
    );
  }

  /** Stops a recording, by default the latest (POST /desktop/recording/stop). */
  async stop(id?: string, options?: CallOptions): Promise<Recording> {
    checkText("id", id);
    const body = omitUndefined({ recording_id: id });
    return recording(
      await bodyOf(this.#access.client.POST("/desktop/recording/stop", { body, ...callInit(options) })),
    );
  }

  /** State of a recording, by default the latest (GET /desktop/recording/status). */
  async status(id?: string, options?: CallOptions): Promise<Recording> {
    checkText("id", id);
    const init = { params: { query: omitUndefined({ id }) }, ...callInit(options) };
    return recording(await bodyOf(this.#access.client.GET("/desktop/recording/status", init)));
  }

  /** Downloads a recording, by default the latest, into memory (GET /desktop/recording/download). */
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
    error: wire.error,
    durationSeconds: wire.duration,
    size: wire.file_size,
    format: wire.format,
    path: wire.output_file,
  };
}
