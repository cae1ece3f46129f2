import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentSchemas } from "@cloud-sandbox/protocol";
import { Problem } from "@cloud-sandbox/server-kit";
import { killGroup } from "../execution/programs/process-sweep.js";
import { startProcess } from "../execution/programs/started-program.js";
import type { FileService } from "../files/file-service.js";
import type { OpenFile } from "../files/open-file.js";
import type { ServedTree } from "../files/served-tree.js";
import type { Desktop } from "./desktop.js";
import { requirePrograms } from "./desktop-programs.js";
import type { Screen } from "./screen.js";

type Start = AgentSchemas["RecordingStartRequest"];

/** Records that are kept. Their files stay until somebody removes them. */
const mostRecords = 20;
/** A recording that nobody stops ends after so many seconds, or bytes. */
const longestSeconds = 3600;
const largestFile = 1024 * 1024 * 1024;
/** Milliseconds that ffmpeg may take to finish the file. */
const stopLimitMs = 10_000;
/** Milliseconds that ffmpeg may take to the first frame. */
const startLimitMs = 10_000;

/** Constant rate factors of both encoders: less is better. */
const rates = {
  mp4: { low: "32", medium: "26", high: "20" },
  webm: { low: "45", medium: "36", high: "28" },
} as const;

interface Recorded {
  readonly id: string;
  readonly format: "mp4" | "webm";
  readonly path: string;
  readonly startedAt: number;
  readonly ended: Promise<void>;
  readonly stop: () => void;
  readonly kill: () => void;
  endedAt?: number;
  error?: string;
}

/** Records the screen with ffmpeg, one recording at a time, into files of the sandbox. */
export class Recordings {
  readonly #records = new Map<string, Recorded>();
  #isStarting = false;

  constructor(
    private readonly desktop: Desktop,
    private readonly screen: Screen,
    private readonly files: FileService,
    private readonly tree: ServedTree,
    /** The directory of recordings without a path. */
    private readonly directory: string,
  ) {}

  async start(request: Start, signal: AbortSignal): Promise<AgentSchemas["Recording"]> {
    await requirePrograms(this.desktop.options.programs, ["ffmpeg"]);
    const { width, height, display } = await this.screen.size(signal);
    const running = [...this.#records.values()].find(({ endedAt }) => endedAt === undefined);
    if (running || this.#isStarting) throw alreadyRunning(running?.id);
    this.#isStarting = true;
    try {
      return await this.#start(request, `:${display}`, `${width}x${height}`);
    } finally {
      this.#isStarting = false;
    }
  }

  async #start(
    { fps = 10, format = "mp4", quality = "medium", output_file }: Start,
    display: string,
    size: string,
  ): Promise<AgentSchemas["Recording"]> {
    const id = randomUUID();
    const path = this.tree.resolve(output_file ?? posix.join(this.directory, `recording-${id}.${format}`));
    const args = [
      ...[
        "-nostdin",
        "-loglevel",
        "error",
        "-progress",
        "pipe:1",
        "-stats_period",
        "0.1",
        "-f",
        "x11grab",
        "-framerate",
        String(fps),
      ],
      ...["-video_size", size, "-i", display, "-t", String(longestSeconds), "-fs", String(largestFile)],
      ...[...encoder(format, quality), "-n", `file:${path}`],
    ];
    const env = await this.desktop.environment();
    const stdio: ("ignore" | "pipe")[] = ["ignore", "pipe", "pipe"];
    const options = { cwd: "/", env, stdio, id: this.desktop.id };
    const { child, pid, exit } = await startProcess({ command: "ffmpeg", args }, options);
    let complaint = "";
    let isStopped = false;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(-2000);
    });
    this.desktop.log.follow("ffmpeg", child.stderr);
    const record: Recorded = {
      ...{ id, format, path, startedAt: Date.now() },
      stop: () => {
        isStopped = true;
        killGroup(pid, "SIGINT");
      },
      kill: () => killGroup(pid, "SIGKILL"),
      ended: exit.then(async ([code]) => {
        const endedAt = Date.now();
        // ffmpeg that is interrupted finishes the file, and exits with 255.
        if (code !== 0 && code !== 255) record.error = failureIn(complaint);
        // It takes the end of the X server, and a screen that is smaller by now, for the end of what there is to record.
        else if (!isStopped && !(await this.#isAtLimit(record)))
          record.error =
            "the screen became smaller, or the X server ended; what was recorded before is in the file";
        // Last: until then it is not known how it ended.
        record.endedAt = endedAt;
      }),
    };
    this.#keep(record);
    // A program that is interrupted before it can handle that has written nothing.
    const hasBegun = new Promise((resolve) => child.stdout?.once("data", resolve));
    await Promise.race([hasBegun, record.ended, sleep(startLimitMs, undefined, { ref: false })]);
    child.stdout?.resume();
    if (record.error !== undefined) {
      this.#records.delete(id);
      throw new Problem(409, "DESKTOP_FAILED", `The recording did not start: ${record.error}.`, {
        hint: "GET /desktop/debug/logs has what ffmpeg said.",
      });
    }
    return this.#describe(record);
  }

  async stop(id: string | undefined): Promise<AgentSchemas["Recording"]> {
    const record = this.#find(id);
    if (record.endedAt === undefined) {
      record.stop();
      const limit = new AbortController();
      const late = sleep(stopLimitMs, undefined, { signal: limit.signal }).then(record.kill, () => undefined);
      await Promise.race([record.ended, late]);
      limit.abort();
      await record.ended;
    }
    return this.#describe(record);
  }

  status(id: string | undefined): Promise<AgentSchemas["Recording"]> {
    return this.#describe(this.#find(id));
  }

  /** The file of a recording, open. The caller closes it. */
  async open(id: string | undefined): Promise<{ file: OpenFile; format: "mp4" | "webm" }> {
    const { path, format } = this.#find(id);
    return { file: await this.files.open(path), format };
  }

  async #describe(record: Recorded): Promise<AgentSchemas["Recording"]> {
    const { id, format, path, startedAt, endedAt, error } = record;
    const found = await this.files.stat(path).catch(() => undefined);
    return {
      recording_id: id,
      status: error !== undefined ? "failed" : endedAt === undefined ? "recording" : "stopped",
      ...(error !== undefined && { error }),
      duration: Math.round((endedAt ?? Date.now()) - startedAt) / 1000,
      file_size: found?.size ?? 0,
      format,
      output_file: path,
    };
  }

  /** Whether a recording has ended because it was as long or as large as one may be. */
  async #isAtLimit({ path, startedAt }: Recorded): Promise<boolean> {
    if (Date.now() - startedAt >= longestSeconds * 1000) return true;
    const found = await this.files.stat(path).catch(() => undefined);
    return (found?.size ?? 0) >= 0.9 * largestFile;
  }

  /** A recording by its id, by default the latest. */
  #find(id: string | undefined): Recorded {
    const record = id === undefined ? [...this.#records.values()].at(-1) : this.#records.get(id);
    if (record) return record;
    throw new Problem(
      404,
      "RECORDING_NOT_FOUND",
      id === undefined ? "There is no recording." : "There is no recording of this id.",
      { hint: `Start one. The ${mostRecords} latest are known.` },
    );
  }

  #keep(record: Recorded): void {
    this.#records.set(record.id, record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > mostRecords && oldest !== undefined) this.#records.delete(oldest);
  }
}

const alreadyRunning = (id: string | undefined): Problem =>
  new Problem(409, "RECORDING_RUNNING", "A recording is running, and one at a time can.", {
    hint: "Stop it first.",
    ...(id !== undefined && { details: { recording_id: id } }),
  });

/** Options of the encoders. Both want even sides. The file of an mp4 is made of fragments, so that it can be played however it ended. */
function encoder(format: "mp4" | "webm", quality: "low" | "medium" | "high"): readonly string[] {
  const even = [
    "-vf",
    "crop=trunc(iw/2)*2:trunc(ih/2)*2",
    "-pix_fmt",
    "yuv420p",
    "-crf",
    rates[format][quality],
  ];
  if (format === "mp4")
    return [
      "-c:v",
      "libx264",
      "-preset",
      "ultrafast",
      ...even,
      "-movflags",
      "frag_keyframe+empty_moov",
      "-g",
      "50",
    ];
  return ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "2M", ...even];
}

function failureIn(complaint: string): string {
  if (/No space left|Disk quota/i.test(complaint)) return "the disk is full";
  if (/already exists/i.test(complaint)) return "a file of this name exists already";
  if (/cannot open display|Broken pipe|Input\/output error|Connection/i.test(complaint))
    return "the X server ended";
  return complaint.trim().split("\n").at(-1)?.slice(0, 300) || "ffmpeg ended";
}
