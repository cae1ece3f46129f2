import type { RunningAgent } from "./running-agent.js";

/** The line between the parts of a form. */
export const boundary = "-----------------------------boundary";
export const multipart = { "content-type": `multipart/form-data; boundary=${boundary}` };

/** The part of a form that contains a file. */
export const file = (name: string, content: string | Buffer) =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
    ),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);

/** The part of a form that contains a field. */
export const field = (name: string, value: string) =>
  Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);

/** Functions that call the file operations of an agent. */
export function fileCalls(agent: () => RunningAgent) {
  const query = (path: string) => `path=${encodeURIComponent(path)}`;
  const list = (path: string) => agent().call("GET", `/files/list?${query(path)}`);
  return {
    query,
    list,
    read: (path: string) => agent().call("GET", `/files/read?${query(path)}`),
    entries: async (path: string) => (await list(path)).body.files as Record<string, unknown>[],
    exists: (path: string) => agent().call("GET", `/files/exists?${query(path)}`),
    remove: (path: string) => agent().call("DELETE", `/files/remove?${query(path)}`),
    download: (path: string) => agent().call("GET", `/files/download?${query(path)}`),
    write: (path: string, content: string, more: object = {}) =>
      agent().call("POST", "/files/write", { path, content, ...more }),
    upload: (form: readonly Buffer[], search = "") =>
      agent().call(
        "POST",
        `/files/upload${search}`,
        Buffer.concat([...form, Buffer.from(`--${boundary}--\r\n`)]),
        { headers: multipart },
      ),
    makeDirectory: (path: string) => agent().call("POST", "/files/mkdir", { path }),
  };
}
