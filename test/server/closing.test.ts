import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { startLocalControlPlane } from "cloud-sandbox-local";
import { expect, test } from "vitest";
import { ControlPlaneCaller } from "../support/control-plane-caller.js";
import { descendants } from "../support/host-processes.js";

const gzipped = gzipSync("");

/** What a control plane in this process has on the host. */
const left = (): string[] => [
  ...descendants(process.pid).flatMap(({ commandLine }) =>
    commandLine.includes("bwrap") ? [commandLine] : [],
  ),
  ...readdirSync(tmpdir()).filter((name) => name.startsWith(`cloud-sandbox-${process.pid}-`)),
];

test("a control plane that is closed while sandboxes are being created leaves nothing of them", async () => {
  for (const milliseconds of [50, 100, 150, 200, 300]) {
    const controlPlane = await startLocalControlPlane({ pool: 0 });
    const caller = new ControlPlaneCaller(controlPlane);
    const creates = [1, 2, 3].map(() => caller.call("POST", "/sandboxes", { template_name: "base" }));
    const answers = Promise.allSettled(creates);
    await sleep(milliseconds);
    await controlPlane.close();
    expect(left(), `closed after ${milliseconds} ms`).toEqual([]);
    await answers;
  }
});

test("a control plane that keeps nothing leaves nothing of what it had in files", async () => {
  const controlPlane = await startLocalControlPlane({ pool: 0 });
  const caller = new ControlPlaneCaller(controlPlane);
  const upload = await caller.call("POST", "/templates/files/upload-link", {
    files_hash: "a".repeat(64),
    content_length: gzipped.length,
  });
  const { upload_url } = upload.body as { upload_url: string };
  expect((await fetch(upload_url, { method: "PUT", body: gzipped })).status).toBe(200);
  expect((await caller.call("POST", "/volumes", { name: "kept", size_mb: 64 })).status).toBe(201);
  const { body } = await caller.call("POST", "/sandboxes", { template_name: "base" });
  const { id } = body as { id: string };
  expect((await caller.call("POST", `/sandboxes/${id}/stop`)).status).toBe(200);
  expect(left()).not.toEqual([]);
  await controlPlane.close();
  expect(left()).toEqual([]);
});
