import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { carriers, rejection } from "../support/clients.js";
import { ok, sandboxWith } from "../support/sandbox-of-service.js";
import { inTurn } from "../support/scripted-server.js";

describe.each(carriers)("over %s, files", (_, carrier) => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);

  test("are listed in both spellings of servers, without fields that are null", async () => {
    const modified = "2026-11-01T10:00:00Z";
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/list": inTurn(
          ok({
            path: "/workspace",
            files: [
              {
                name: "a",
                path: "/workspace/a",
                size: 3,
                is_directory: false,
                modified_time: modified,
                mode: "0644",
              },
              null,
              { name: "b", path: "/workspace/b", size: 0, is_dir: true, modified, permissions: "drwxr-xr-x" },
            ],
            total: 20,
            truncated: true,
          }),
          ok({ files: null }),
        ),
      },
      carrier,
    );
    const modifiedAt = new Date(modified);
    expect(await sandbox.files.list()).toEqual({
      path: "/workspace",
      entries: [
        {
          name: "a",
          path: "/workspace/a",
          size: 3,
          isDirectory: false,
          isSymlink: false,
          modifiedAt,
          permissions: "0644",
        },
        {
          name: "b",
          path: "/workspace/b",
          size: 0,
          isDirectory: true,
          isSymlink: false,
          modifiedAt,
          permissions: "drwxr-xr-x",
        },
      ],
      total: 20,
      truncated: true,
    });
    expect(await sandbox.files.list("/tmp")).toEqual({
      path: "/tmp",
      entries: [],
      total: 0,
      truncated: false,
    });
    expect(agent.calls()).toEqual(["GET /files/list?path=%2Fworkspace", "GET /files/list?path=%2Ftmp"]);
  });

  test("end their transfer with an error that the caller's own function throws", async () => {
    const { sandbox, agent } = await sandboxWith(
      {
        "POST /files/upload": ok({}),
        "GET /files/download": (_, response) => response.end(bytes),
      },
      carrier,
    );
    const mine = new Error("mine");
    const onProgress = (): never => {
      throw mine;
    };
    const here = fileURLToPath(import.meta.url);
    const directory = await mkdtemp(join(tmpdir(), "download-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    expect(await rejection(sandbox.files.upload(here, "a", { onProgress }))).toBe(mine);
    expect(await rejection(sandbox.files.download("a", join(directory, "a"), { onProgress }))).toBe(mine);
    expect(await rejection(sandbox.files.uploadDirectory(dirname(here), "a", { exclude: onProgress }))).toBe(
      mine,
    );
    expect(await readdir(directory)).toEqual([]);
    expect(agent.calls().filter((call) => call.startsWith("POST")).length).toBeLessThan(2);
  });

  test("are looked for, made and removed", async () => {
    const { sandbox, agent } = await sandboxWith(
      {
        "GET /files/exists": ok({ exists: false, path: "/a" }),
        "POST /files/mkdir": ok({}),
        "DELETE /files/remove": (_, response) => response.writeHead(204).end(),
      },
      carrier,
    );
    expect(await sandbox.files.exists("/a")).toBe(false);
    await sandbox.files.mkdir("/a");
    await sandbox.files.remove("/a");
    expect(agent.calls()).toEqual([
      "GET /files/exists?path=%2Fa",
      "POST /files/mkdir",
      "DELETE /files/remove?path=%2Fa",
    ]);
  });
});
