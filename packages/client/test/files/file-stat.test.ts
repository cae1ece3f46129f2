import { expect, test } from "vitest";
import { rejection } from "../support/clients.js";
import { sandboxService, withSandbox } from "../support/sandbox-service.js";
import { json } from "../support/scripted-server.js";

const listed = { name: "data.csv", path: "/workspace/data.csv", size: 12, is_directory: false };

async function onAServerWithoutStat() {
  const { agent } = await sandboxService({
    "GET /files/list": (_, response) => json(response, 200, { path: "/workspace", files: [listed] }),
  });
  return { agent, files: (await withSandbox(agent.url)).files };
}

test.each(["/workspace/data.csv", "data.csv", "/workspace//data.csv/"])(
  "on a server without the operation, stat asks for the directory of %s",
  async (path) => {
    const { agent, files } = await onAServerWithoutStat();
    expect(await files.stat(path)).toMatchObject({ name: "data.csv", size: 12, isDirectory: false });
    expect(agent.requests.at(-1)?.path).toBe("/files/list?path=%2Fworkspace");
  },
);

test.each([
  ["/workspace", "/workspace"],
  ["/tmp/", "/tmp"],
  [".", "/workspace"],
])(
  "on a server without the operation, stat asks for %s itself, because it has no directory above it",
  async (path, asked) => {
    const { agent } = await sandboxService({
      "GET /files/list": (request, response) =>
        request.path === `/files/list?path=${encodeURIComponent(asked)}`
          ? json(response, 200, { path: asked, files: [] })
          : json(response, 404, { error: "No such directory", code: "FILE_NOT_FOUND" }),
    });
    const { files } = await withSandbox(agent.url);
    expect(await files.stat(path)).toMatchObject({ name: asked.slice(1), path: asked, isDirectory: true });
  },
);

test("stat reports a file that is not in its directory as not found", async () => {
  const { files } = await onAServerWithoutStat();
  expect(await rejection(files.stat("/workspace/other"))).toMatchObject({
    name: "NotFoundError",
    code: "FILE_NOT_FOUND",
  });
});
