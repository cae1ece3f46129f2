import { expect } from "vitest";
import { type Proof, proof, success } from "./proof.js";

const write = (path: string, content: string, more = {}) => ({ body: { path, content, ...more } });
const at = (path: string) => ({ params: { query: { path } } });

export const fileProofs: Readonly<Record<string, Proof>> = {
  readFile: proof("reads the text that was written", async ({ agent }) => {
    await success(agent.POST("/files/write", write("proof/read.txt", "übung")));
    const read = await success(agent.GET("/files/read", at("proof/read.txt")));
    expect(read).toEqual({ path: "/workspace/proof/read.txt", content: "übung", size: 6 });
    const large = "12 MiB ".repeat((12 * 1024 * 1024) / 7);
    await success(agent.POST("/files/write", write("proof/large.txt", large)));
    const all = await success(agent.GET("/files/read", at("proof/large.txt")));
    expect(all.content === large && all.size === large.length).toBe(true);
  }),

  writeFile: proof("writes text or base64, with a mode, over nothing unless told to", async ({ agent }) => {
    const path = "proof/write.bin";
    const body = { encoding: "base64" as const, mode: "0600" };
    expect(await success(agent.POST("/files/write", write(path, "AP8=", body)))).toMatchObject({ size: 2 });
    const refused = await agent.POST("/files/write", write(path, "", { overwrite: false }));
    expect(refused.error).toMatchObject({ code: "FILE_ALREADY_EXISTS" });
    const line = { body: { command: `stat -c "%s %a" ${path}` } };
    expect((await success(agent.POST("/commands/run", line))).stdout).toBe("2 600\n");
    await success(agent.POST("/files/write", write(path, "new")));
    expect(await success(agent.GET("/files/stat", at(path)))).toMatchObject({ size: 3, mode: "0600" });
  }),

  listFiles: proof("lists entries in both spellings that clients read", async ({ agent }) => {
    await success(agent.POST("/files/write", write("proof/listed/file", "text")));
    const { files } = await success(agent.GET("/files/list", at("proof/listed")));
    expect(files).toEqual([
      expect.objectContaining({ name: "file", size: 4, is_directory: false, is_dir: false, mode: "0644" }),
    ]);
  }),

  fileExists: proof("tells what is there from what is not", async ({ agent }) => {
    expect(await success(agent.GET("/files/exists", at("/workspace")))).toMatchObject({ exists: true });
    expect(await success(agent.GET("/files/exists", at("proof/never")))).toMatchObject({ exists: false });
  }),

  removeFile: proof("removes a directory with what is in it", async ({ agent }) => {
    await success(agent.POST("/files/write", write("proof/removed/deep/file", "text")));
    await success(agent.DELETE("/files/remove", at("proof/removed")));
    expect(await success(agent.GET("/files/exists", at("proof/removed")))).toMatchObject({ exists: false });
  }),

  makeDirectory: proof("makes a directory and its parents, once or again", async ({ agent }) => {
    const body = { path: "proof/made/deep" };
    await success(agent.POST("/files/mkdir", { body }));
    expect(await success(agent.POST("/files/mkdir", { body }))).toMatchObject({ success: true });
  }),

  renameFile: proof("moves a file, over another only when told to", async ({ agent }) => {
    await success(agent.POST("/files/write", write("proof/from.txt", "moved")));
    await success(agent.POST("/files/write", write("proof/to.txt", "there")));
    const body = { path: "proof/from.txt", new_path: "proof/to.txt", overwrite: false };
    expect((await agent.POST("/files/rename", { body })).error).toMatchObject({
      code: "FILE_ALREADY_EXISTS",
    });
    await success(agent.POST("/files/rename", { body: { ...body, overwrite: true } }));
    expect((await success(agent.GET("/files/read", at("proof/to.txt")))).content).toBe("moved");
    expect(await success(agent.GET("/files/exists", at("proof/from.txt")))).toMatchObject({ exists: false });
  }),

  statFile: proof("describes one entry as a listing does", async ({ agent }) => {
    await success(agent.POST("/files/write", write("proof/stat/file", "text", { mode: "0640" })));
    const { files } = await success(agent.GET("/files/list", at("proof/stat")));
    const described = await success(agent.GET("/files/stat", at("proof/stat/file")));
    expect(described).toMatchObject({ size: 4, mode: "0640", is_directory: false });
    expect([described]).toEqual(files);
  }),

  uploadFile: proof(
    "takes a form whose path comes behind its file, and a file as it is, with a mode, over nothing unless told to",
    async ({ agent, request }) => {
      const form = new FormData();
      form.append("file", new Blob([Buffer.from([0, 255, 10])]), "local.bin");
      form.append("path", "/workspace/proof-uploaded.bin");
      expect((await request("POST", "/files/upload", { body: form })).status).toBe(200);
      const line = { body: { command: "od -An -tu1 proof-uploaded.bin" } };
      expect((await success(agent.POST("/commands/run", line))).stdout.trim()).toBe("0 255  10");
      const headers = { "content-type": "application/octet-stream" };
      const bare = (search: string) =>
        request("POST", `/files/upload${search}`, { headers, body: new Uint8Array([255, 0]) });
      expect((await bare("?path=proof-uploaded.bin")).status).toBe(200);
      expect((await success(agent.POST("/commands/run", line))).stdout.trim()).toBe("255   0");
      expect((await bare("")).status).toBe(400);
      await success(agent.POST("/files/mkdir", { body: { path: "proof/directory" } }));
      for (const directory of ["proof/directory", "proof/none/"])
        expect((await bare(`?path=${directory}`)).status).toBe(400);
      const named = (name: string, search = ""): Promise<Response> => {
        const body = new FormData();
        body.append("file", new Blob(["form"]), name);
        return request("POST", `/files/upload${search}`, { body });
      };
      const runnable = "path=proof/upload.sh";
      const stat = () => success(agent.GET("/files/stat", at("proof/upload.sh")));
      expect((await bare(`?${runnable}&mode=0755&overwrite=false`)).status).toBe(200);
      for (const again of [bare, (search: string) => named("upload.sh", search)]) {
        expect((await again(`?${runnable}&overwrite=false`)).status).toBe(409);
        expect((await again(`?${runnable}`)).status).toBe(200);
        expect(await stat()).toMatchObject({ mode: "0755" });
      }
      expect((await named("upload.sh", `?${runnable}&mode=0700`)).status).toBe(200);
      expect(await stat()).toMatchObject({ size: 4, mode: "0700" });
      expect((await bare(`?${runnable}&mode=rwx`)).status).toBe(400);
      // A form without a path, which the agent keeps elsewhere until it ends.
      expect((await named("proof-mode.sh", "?mode=0750")).status).toBe(200);
      expect((await named("proof-mode.sh")).status).toBe(200);
      expect((await named("proof-mode.sh", "?overwrite=false")).status).toBe(409);
      expect(await success(agent.GET("/files/stat", at("proof-mode.sh")))).toMatchObject({ mode: "0750" });
    },
  ),

  downloadFile: proof("gives the bytes as they are, with their name", async ({ agent, request }) => {
    await success(agent.POST("/files/write", write("proof/down.bin", "AP8K", { encoding: "base64" })));
    const answer = await request("GET", "/files/download?path=proof/down.bin");
    expect(answer.headers.get("content-disposition")).toContain("down.bin");
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(new Uint8Array([0, 255, 10]));
  }),
};
