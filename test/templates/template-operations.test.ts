import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostProcesses } from "../support/host-processes.js";
import { type LocalServer, startLocalServer } from "../support/local-server.js";
import { archiveOf, TemplateBuilding } from "../support/template-building.js";

const run = (command: string) => ({ type: "RUN", args: [command] });
const order = ["own", "active", "failed"];
const whole = { name: "refused", from_image: "base", cpu: 1, memory: 512, diskGB: 1 };

describe("the template operations", () => {
  let server: LocalServer;
  let building: TemplateBuilding;

  beforeAll(async () => {
    server = await startLocalServer({ args: ["--pool", "0"] });
    building = new TemplateBuilding(server);
  });

  afterAll(async () => {
    await server.stop();
  });

  test.for([
    [
      "an image that is not this machine",
      { from_image: "alpine:3" },
      400,
      /Build from one of base, .*python:3\.|Build from one of .*python:3\./,
    ],
    [
      "another version of a language",
      { from_image: "python:2.7-slim" },
      400,
      /is not available on this machine/,
    ],
    ["a user that cannot be", { steps: [{ type: "USER", args: ["$(id)"] }] }, 400, /Step 1 \(USER\)/],
    [
      "files that were not uploaded",
      { steps: [{ type: "COPY", args: ["a", "/b"], filesHash: "0" }] },
      400,
      /not uploaded/,
    ],
    ["a COPY without a hash", { steps: [{ type: "COPY", args: ["a", "/b"] }] }, 400, /filesHash/],
    ["a variable without a name", { steps: [{ type: "ENV", args: ["=x"] }] }, 400, /Step 1 \(ENV\)/],
    ["a RUN of nothing", { steps: [{ type: "RUN", args: [] }] }, 400, /exactly one command/],
    ["a ready check of nothing", { readyCmd: { type: "port" } }, 400, /needs the field port/],
    ["a step of no kind", { steps: [{ type: "FLY" }] }, 400, /type/],
    ["too little memory", { memory: 1 }, 400, /memory/],
    ["too many processors", { cpu: 100 }, 400, /cpu/],
    ["a name that is an id", { name: "1001" }, 400, /numbers are ids/],
    ["an update of what is not there", { name: "absent", update: true }, 404, /named "absent" to update/],
    ["the name of a public template", { name: "base", update: true }, 409, /exists already/],
  ] as const)("refuse a build with %s", async ([, change, status, reason]) => {
    const answer = await building.call("POST", "/v1/templates/build", { ...whole, ...change });
    expect(answer.json.message).toMatch(reason);
    expect(answer.status).toBe(status);
  });

  test("build from another minor version and another system, with a note in the log and the record", async () => {
    const { json } = await building.call("GET", "/v1/templates/base");
    const version = (language: string): string =>
      (json.features as string[]).find((feature) => feature.startsWith(`${language} `))?.split(" ")[1] ?? "";
    const node = version("javascript").split(".")[0];
    const notes: readonly (readonly [image: string, language: string, note: RegExp])[] = [
      ["python:3.0", "python", /^python:3\.0 asks for Python 3\.0; the server has Python 3\.\d/],
      [`ubuntu/node:${node}-20.04_edge`, "javascript", /asks for ubuntu 20\.04; the operating system is \w/],
      [`node:${node}-buster`, "javascript", /asks for buster; the operating system is \w/],
      ["ubuntu:18.04", "multi", /^ubuntu:18\.04 asks for ubuntu 18\.04; the operating system is \w/],
    ];
    for (const [index, [image, language, note]] of notes.entries()) {
      const name = `noted-${index}`;
      const built = await building.build({ name, from_image: image, steps: [] });
      expect(built.status, built.log).toBe("active");
      expect(built.log).toMatch(new RegExp(`^Note: .*${note.source.replace(/^\^/, "")}`, "m"));
      const { json: record } = await building.call("GET", `/v1/templates/${name}`);
      expect(record).toMatchObject({ language, differences: [expect.stringMatching(note)] });
      expect(record.description).toContain((record.differences as string[])[0]);
    }
    // A template that is built from another has its language, and the same notes on differences.
    await building.build({ name: "on-noted", from_image: "noted-0", steps: [] });
    const { json: record } = await building.call("GET", "/v1/templates/on-noted");
    expect(record).toMatchObject({ language: "python", differences: [expect.stringMatching(/Python 3\.0/)] });
  });

  test("build from the images that this machine is", async () => {
    const { json } = await building.call("GET", "/v1/templates/base");
    const python = (json.features as string[])
      .find((feature) => feature.startsWith("python "))
      ?.split(/[ .]/);
    const built = await building.build({
      name: "python",
      from_image: `python:${python?.[1]}.${python?.[2]}-slim`,
      steps: [],
    });
    expect(built.status).toBe("active");
    expect(built.log).not.toContain("Note:");
  });

  test("list the machine's own first, then what sandboxes can be made of, then what failed, page by page", async () => {
    await building.build({ name: "zz-good", steps: [] });
    await building.build({ name: "zz-failed", steps: [run("exit 1")] });
    const listed: string[] = [];
    for (let cursor = ""; ; ) {
      const { json } = await building.call("GET", `/v1/templates?limit=1${cursor}`);
      for (const { name, status, is_public } of json.data as Record<string, unknown>[])
        listed.push(`${is_public ? "own" : status}: ${name}`);
      if (json.next_cursor === undefined) break;
      cursor = `&cursor=${json.next_cursor}`;
    }
    const kinds = listed.map((entry) => entry.split(":")[0]);
    expect(listed).toContain("failed: zz-failed");
    expect(kinds).toEqual([...kinds].sort((a, b) => order.indexOf(a ?? "") - order.indexOf(b ?? "")));
    expect(listed.slice(0, 2).sort()).toEqual(["own: base", "own: code-interpreter"]);
  });

  test("take uploads only as they were announced", async () => {
    const archive = await archiveOf({ a: "a" });
    const link = await building.call("POST", "/v1/templates/files/upload-link", {
      files_hash: "h",
      content_length: archive.length,
    });
    expect(Object.keys(link.json).sort()).toEqual([
      "expires_at",
      "files_hash",
      "present",
      "request_id",
      "upload_url",
    ]);
    const put = async (url: string, body: Uint8Array) =>
      (
        await fetch(url, {
          method: "PUT",
          headers: { "content-type": "application/gzip" },
          body: Buffer.from(body),
        })
      ).status;
    const url = String(link.json.upload_url);
    expect(await put(url.replace(/grant=.*/, "grant=guessed"), archive)).toBe(401);
    expect(await put(url.replace("/h?", "/other?"), archive)).toBe(401);
    expect(await put(url, Buffer.concat([archive, archive]))).toBe(400);
    expect(await put(url, Buffer.from("not gzip"))).toBe(400);
    expect(await put(url, archive)).toBe(200);
    const tooLarge = await building.call("POST", "/v1/templates/files/upload-link", {
      files_hash: "h",
      content_length: 2 ** 40,
    });
    expect(tooLarge.status).toBe(400);
    const inNoUrl = await building.call("POST", "/v1/templates/files/upload-link", {
      files_hash: "\ud800",
      content_length: 1,
    });
    expect(inNoUrl.status).toBe(400);
  });

  test("let many send the same files at a time, and build with them", async () => {
    const archive = await archiveOf({ a: "a" });
    const announce = { files_hash: "same", content_length: archive.length };
    const links = await Promise.all(
      [1, 2].map(() => building.call("POST", "/v1/templates/files/upload-link", announce)),
    );
    const send = async (): Promise<number[]> =>
      Promise.all(
        links.map(async ({ json }) => {
          const body = Buffer.from(archive);
          const headers = { "content-type": "application/gzip" };
          return (await fetch(String(json.upload_url), { method: "PUT", headers, body })).status;
        }),
      );
    expect(await send()).toEqual([200, 200]);
    // The server runs two builds at a time, so the last build has to wait. The files that it copies are replaced
    // meanwhile.
    const busy = ["one", "two"].map((name) => building.build({ name, steps: [run("sleep 1")] }));
    const copy = { type: "COPY", args: ["a", "/workspace/"], filesHash: "same" };
    const waiting = building.call("POST", "/v1/templates/build", { ...whole, name: "late", steps: [copy] });
    const id = String((await waiting).json.build_id);
    expect(await send()).toEqual([200, 200]);
    const state = async () => {
      const { json } = await building.call("GET", `/v1/templates/build/${id}/status`);
      return { status: json.status, error: json.error_message };
    };
    await expect.poll(state).toMatchObject({ status: expect.stringMatching(/^(active|failed)$/) });
    expect(await state()).toMatchObject({ status: "active" });
    await Promise.all(busy);
  });

  test("show values of variables to nobody else on the host", async () => {
    const value = `value-${randomUUID()}`;
    await building.build({ name: "secretive", steps: [{ type: "ENV", key: "TOKEN", value }] });
    const created = await building.call("POST", "/v1/sandboxes", { template_name: "secretive" });
    expect(created.status).toBe(201);
    const lines = hostProcesses().map(({ commandLine }) => commandLine);
    expect(lines.some((line) => line.includes("bwrap"))).toBe(true);
    expect(lines.filter((line) => line.includes(value))).toEqual([]);
    await building.call("DELETE", `/v1/sandboxes/${String(created.json.id)}`);
  });

  test.each([
    ["is too long", [{ type: "ENV", args: ["A", "a".repeat(70_000)] }]],
    ["doubles the last", Array.from({ length: 40 }, () => ({ type: "ENV", args: ["A", "$A$A-"] }))],
    [
      "repeats the last",
      ["a".repeat(30_000), "$A".repeat(100_000)].map((value) => ({ type: "ENV", args: ["A", value] })),
    ],
  ])("fail a build whose variable %s", async (_, steps) => {
    const { status, error_message } = await building.build({ name: "growing", steps });
    expect(status).toBe("failed");
    expect(error_message).toMatch(/at most 64 KiB/);
  });

  test("take for a variable only what is one", async () => {
    const steps = [
      { type: "WORKDIR", args: ["/srv/$constructor"] },
      { type: "RUN", args: ["pwd"] },
    ];
    expect((await building.build({ name: "literal", steps })).log).toContain("\n/srv/$constructor\n");
  });

  test("show a build while it runs and after, by its own id and its template's", async () => {
    const started = await building.call("POST", "/v1/templates/build", {
      ...whole,
      name: "shown",
      steps: [{ type: "ENV", args: ["SECRET", "hunter2"] }, run("echo one; echo two")],
    });
    expect(Object.keys(started.json).sort()).toEqual([
      "build_id",
      "logs_url",
      "request_id",
      "status",
      "template_id",
    ]);
    const id = String(started.json.template_id);
    expect(started.json.build_id).not.toBe(id);
    const events = await fetch(new URL(`/v1/templates/build/${id}/logs`, server.url), {
      headers: { "x-api-key": server.apiKey, accept: "text/event-stream" },
    });
    expect(events.headers.get("content-type")).toMatch("text/event-stream");
    const stream = await events.text();
    expect(stream).toMatch(/event: log\ndata: \{"level":"info","message":"one"/);
    expect(stream).toMatch(/event: done\ndata: \{"status":"active"\}\n\n$/);
    const first = await building.call("GET", `/v1/templates/build/${id}/logs?offset=0`);
    expect(first.json).toMatchObject({ status: "active", complete: true });
    const rest = await building.call("GET", `/v1/templates/build/${id}/logs?offset=${first.json.offset}`);
    expect(rest.json).toMatchObject({ logs: "", offset: first.json.offset, complete: true });
    const { json } = await building.call("GET", `/v1/templates/build/${id}/status`);
    const known = [
      "build_id",
      "template_id",
      "status",
      "progress",
      "started_at",
      "current_step",
      "completed_at",
      "error_message",
      "build_duration_ms",
      "request_id",
    ];
    expect(Object.keys(json).filter((key) => !known.includes(key))).toEqual([]);
    const template = await building.call("GET", "/v1/templates/shown");
    expect(template.json).toMatchObject({ id, status: "active", is_active: true, is_public: false });
    expect(JSON.stringify([first.json, json, template.json, stream])).not.toContain("hunter2");
    expect((await building.call("GET", "/v1/templates/build/no-such/status")).json.code).toBe(
      "BUILD_NOT_FOUND",
    );
  });

  test("replace a template only when told to, and delete it", async () => {
    const first = await building.build({ name: "replaced", steps: [run("echo 1 > /version")] });
    expect((await building.call("POST", "/v1/templates/build", { ...whole, name: "replaced" })).status).toBe(
      409,
    );
    const second = await building.build({
      name: "replaced",
      update: true,
      steps: [run("echo 2 > /version")],
    });
    expect(second).toMatchObject({ status: "active", templateId: first.templateId });
    const failed = await building.build({ name: "replaced", update: true, steps: [run("false")] });
    expect(failed.status).toBe("failed");
    const { json: newest } = await building.call("GET", `/v1/templates/build/${first.templateId}/logs`);
    expect(newest.logs).toBe(failed.log);
    const kept = await building.call("GET", `/v1/templates/${first.templateId}`);
    expect(kept.json).toMatchObject({ name: "replaced", is_active: true });
    expect((await building.call("DELETE", "/v1/templates/20")).status).toBe(403);
    expect((await building.call("DELETE", `/v1/templates/${first.templateId}`)).json).toMatchObject({
      deleted: true,
    });
    expect((await building.call("GET", "/v1/templates/replaced")).status).toBe(404);
  });

  test("make one template of a name that several builds begin at the same time", async () => {
    const started = await Promise.all(
      [1, 2, 3, 4].map((build) =>
        building.call("POST", "/v1/templates/build", {
          ...{ ...whole, name: "contested", steps: [run(`echo ${build}`)] },
        }),
      ),
    );
    expect(started.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const { json } = await building.call("GET", "/v1/templates?limit=100");
    const names = (json.data as { name: string }[]).map(({ name }) => name);
    expect(names.filter((name) => name === "contested")).toHaveLength(1);
    expect((await building.call("DELETE", "/v1/templates/contested")).status).toBe(200);
  });

  test("build on a template that was deleted while the build waited for its turn", async () => {
    await building.build({ name: "below", steps: [run("echo below > /opt/below")] });
    const start = (request: object) => building.call("POST", "/v1/templates/build", { ...whole, ...request });
    // The server runs two builds at a time.
    for (const name of ["other-1", "other-2"]) await start({ name, steps: [run("sleep 2")] });
    const waiting = await start({ name: "above", from_image: "below", steps: [run("cat /opt/below")] });
    expect((await building.call("DELETE", "/v1/templates/below")).status).toBe(200);
    const status = async () =>
      (await building.call("GET", `/v1/templates/build/${waiting.json.build_id}/status`)).json.status;
    await expect.poll(status).toMatch(/active|failed/);
    expect(await status()).toBe("active");
  });

  test("replace a template while a sandbox of it waits to be started", async () => {
    const create = async (template_name: string) =>
      (await building.call("POST", "/v1/sandboxes", { template_name })).status;
    // A machine is started until the ready check passes, and as many are started at a time as there are processors.
    const readyCmd = {
      ...{ type: "command", timeout: 60_000, interval: 200 },
      command: "[ -e /tmp/since ] || touch /tmp/since; find /tmp/since -mmin +0.05 | grep .",
    };
    await building.build({ name: "waited-for", steps: [run("echo 1 > /version")] });
    const slow = await building.build({ name: "slow", steps: [], startCmd: "true", readyCmd });
    expect(slow.status, slow.log).toBe("active");
    const starting = Array.from({ length: Math.max(2, availableParallelism()) }, () => create("slow"));
    await sleep(200);
    const waiting = create("waited-for");
    await sleep(200);
    await building.build({ name: "waited-for", update: true, steps: [run("echo 2 > /version")] });
    expect(await waiting).toBe(201);
    await Promise.all(starting);
  });

  test("are listed with the language that is asked for, where they have several", async () => {
    const { json } = await building.call("GET", "/v1/templates?language=python");
    const [first] = json.data as { name: string; language: string }[];
    expect(first).toMatchObject({ name: "code-interpreter", language: "python" });
  });

  test("say what this machine really has", async () => {
    const { json } = await building.call("GET", "/v1/templates/code-interpreter");
    expect(json.features).toContain(`javascript ${process.versions.node}`);
    expect(json.description).toContain(`javascript ${process.versions.node}`);
    const { json: list } = await building.call("GET", "/v1/templates?category=development");
    expect((list.data as { name: string }[]).map(({ name }) => name)).toEqual(["code-interpreter"]);
  });
});

test("templates and builds are kept over a crash; a build it cut short has failed, and leaves no layer", async () => {
  const directory = await mkdtemp(join(tmpdir(), "kept-templates-"));
  const start = () => startLocalServer({ args: ["--pool", "0", "--data-dir", directory] });
  try {
    const before = await start();
    const building = new TemplateBuilding(before);
    const kept = await building.build({ name: "kept", steps: [run("echo kept > /kept")] });
    const layers = await readdir(join(directory, "layers"));
    const cut = await building.call("POST", "/v1/templates/build", {
      ...whole,
      name: "cut",
      steps: [run("sleep 100")],
    });
    const cutId = String(cut.json.build_id);
    await expect
      .poll(async () => (await building.call("GET", `/v1/templates/build/${cutId}/status`)).json.current_step)
      .toContain("sleep");
    await before.stop("SIGKILL");

    const after = await start();
    const rebuilt = new TemplateBuilding(after);
    expect((await rebuilt.call("GET", "/v1/templates/kept")).json).toMatchObject({
      id: kept.templateId,
      is_active: true,
    });
    expect((await rebuilt.call("GET", `/v1/templates/build/${cutId}/status`)).json).toMatchObject({
      status: "failed",
    });
    expect((await rebuilt.call("GET", "/v1/templates/cut")).json).toMatchObject({ is_active: false });
    const onTop = await rebuilt.build({
      name: "on-top",
      from_image: "kept",
      steps: [run("grep kept /kept")],
    });
    expect(onTop.status).toBe("active");
    await rebuilt.call("DELETE", `/v1/templates/${onTop.templateId}`);
    expect(await readdir(join(directory, "layers"))).toEqual(layers);
    await after.stop();

    // The id of a deleted template still finds its builds, so nothing else may get it.
    const last = await start();
    const answer = await new TemplateBuilding(last).call("POST", "/v1/templates/build", {
      ...whole,
      name: "later",
      steps: [run("true")],
    });
    expect(Number(answer.json.build_id)).toBeGreaterThan(Number(onTop.templateId));
    await last.stop();
  } finally {
    await rm(directory, { recursive: true, force: true });
    expect(existsSync(directory)).toBe(false);
  }
});

test("no template is built where it would fill the disk", { tags: ["mount"] }, async () => {
  const disk = await mkdtemp(join(tmpdir(), "small-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", disk]);
  try {
    const server = await startLocalServer({ args: ["--pool", "0", "--data-dir", join(disk, "data")] });
    const answer = await new TemplateBuilding(server).call("POST", "/v1/templates/build", {
      ...whole,
      steps: [run("true")],
    });
    await server.stop();
    expect(answer).toMatchObject({ status: 507, json: { code: "STORAGE_FULL" } });
    expect(answer.json.message).toMatch(/Delete templates/);
  } finally {
    execFileSync("umount", [disk]);
    await rm(disk, { recursive: true });
  }
});

test("a template whose files somebody has removed gives no sandbox, and the server ends all the same", async () => {
  const directory = await mkdtemp(join(tmpdir(), "lost-layers-"));
  try {
    const server = await startLocalServer({ args: ["--pool", "0", "--data-dir", directory] });
    const building = new TemplateBuilding(server);
    await building.build({ name: "lost", steps: [run("true > /lost")] });
    await rm(join(directory, "layers"), { recursive: true });
    expect((await building.call("POST", "/v1/sandboxes", { template_name: "lost" })).status).toBe(503);
    const ended = server.stop();
    const late = sleep(30_000, undefined, { ref: false }).then(() => server.stop("SIGKILL"));
    expect(await Promise.race([ended, late])).toEqual({ code: 0, signal: null });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
