import { expect, onTestFinished, test } from "vitest";
import { type Sandbox, SandboxClient } from "../../src/index.js";
import { TestingService } from "../../src/testing/index.js";

async function sandboxOf(options = {}): Promise<Sandbox> {
  const client = new SandboxClient({ ...new TestingService().clientOptions, ...options });
  onTestFinished(() => client.close());
  return client.sandboxes.create();
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ path: `/workspace/f${at}`, content: `content ${at}` }));

test("writeMany writes text, bytes and streams, and lists the files in the order in which they were given", async () => {
  const { files } = await sandboxOf();
  const content = [new TextEncoder().encode("bytes"), new Blob(["stream"]).stream()];
  const many = [
    ...numbered(20),
    ...content.map((each, at) => ({ path: `/workspace/deep/${at}`, content: each })),
  ];
  const written = await files.writeMany(many);
  expect(written.map(({ path }) => path)).toEqual(many.map(({ path }) => path));
  expect(await files.readText("/workspace/f13")).toBe("content 13");
  expect(await files.readText("/workspace/deep/1")).toBe("stream");
  expect(await files.writeMany([])).toEqual([]);
});

test.each([1, 3, undefined])(
  "writeMany writes at most concurrency files at a time: %s",
  async (concurrency) => {
    let running = 0;
    let most = 0;
    const service = new TestingService();
    const { files } = await sandboxOf({
      ...service.clientOptions,
      fetch: async (request: Request) => {
        running++;
        most = Math.max(most, running);
        try {
          return await service.fetch(request);
        } finally {
          running--;
        }
      },
    });
    await files.writeMany(numbered(30), { concurrency });
    expect(most).toBe(concurrency ?? 8);
  },
);

test("writeMany names the files that were not written in one error, and begins no further file", async () => {
  const { files } = await sandboxOf();
  const many = numbered(6);
  many.splice(2, 0, { path: "/etc/no", content: "" });
  const failure = await files.writeMany(many, { concurrency: 1 }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "FILES_NOT_WRITTEN", cause: { name: "PermissionDeniedError" } });
  expect(failure).toMatchObject({
    summary: expect.stringMatching(
      "^5 of 7 files were not written: /etc/no, /workspace/f2, /workspace/f3, /workspace/f4, /workspace/f5\\.",
    ),
  });
  expect(await files.exists("/workspace/f1")).toBe(true);
  expect(await files.exists("/workspace/f2")).toBe(false);
});

test("a signal ends writeMany, and wrong arguments are refused before anything is written", async () => {
  const { files } = await sandboxOf();
  const aborted = files.writeMany(numbered(3), { signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
  for (const concurrency of [0, 33, 1.5])
    await expect(files.writeMany(numbered(1), { concurrency })).rejects.toThrow("concurrency");
  const unnamed = [...numbered(1), { path: "", content: "" }];
  await expect(files.writeMany(unnamed)).rejects.toThrow("path");
  expect(await files.exists("/workspace/f0")).toBe(false);
});
