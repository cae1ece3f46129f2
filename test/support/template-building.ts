import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { LocalServer } from "./local-server.js";

const run = promisify(execFile);

export interface BuildStatus {
  readonly status: string;
  readonly error_message?: string;
}

/** Builds templates over plain HTTP, without the client library. */
export class TemplateBuilding {
  constructor(private readonly server: LocalServer) {}

  async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const answer = await fetch(new URL(path, this.server.url), {
      method,
      headers: { authorization: `Bearer ${this.server.apiKey}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  }

  /** Uploads files under a hash. Resolves with the status of the answer. */
  async upload(
    archive: Uint8Array,
    hash = createHash("sha256").update(archive).digest("hex"),
  ): Promise<{ hash: string; status: number }> {
    const link = await this.call("POST", "/v1/templates/files/upload-link", {
      files_hash: hash,
      content_length: archive.length,
    });
    const answer = await fetch(String(link.json.upload_url), {
      method: "PUT",
      headers: { "content-type": "application/gzip" },
      body: Buffer.from(archive),
    });
    return { hash, status: answer.status };
  }

  /** Starts a build and waits for its end. */
  async build(request: Record<string, unknown>): Promise<BuildStatus & { templateId: string; log: string }> {
    const started = await this.call("POST", "/v1/templates/build", { ...defaults, ...request });
    if (started.status !== 201) throw new Error(`${started.status}: ${JSON.stringify(started.json)}`);
    const id = String(started.json.build_id);
    for (;;) {
      const { json } = await this.call("GET", `/v1/templates/build/${id}/status`);
      if (json.status !== "active" && json.status !== "failed") {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      const logs = await this.call("GET", `/v1/templates/build/${id}/logs`);
      return {
        status: json.status,
        ...(typeof json.error_message === "string" && { error_message: json.error_message }),
        templateId: String(started.json.template_id),
        log: String(logs.json.logs),
      };
    }
  }
}

const defaults = { from_image: "base", cpu: 1, memory: 512, diskGB: 1 };

/** A gzipped tar of these files, made as clients make them. */
export async function archiveOf(
  files: Readonly<Record<string, string>>,
  tarArguments: readonly string[] = ["."],
): Promise<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), "context-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, "files", name)), { recursive: true });
      await writeFile(join(directory, "files", name), text);
    }
    const archive = join(directory, "archive.tar.gz");
    await run("tar", ["-czf", archive, "-C", join(directory, "files"), "-P", ...tarArguments]);
    return await readFile(archive);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
