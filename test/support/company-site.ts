import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const address = "127.0.0.2";

/** A server whose certificate is signed by an authority of a company's own. */
export interface CompanySite extends AsyncDisposable {
  readonly authority: string;
  /** `127.0.0.2` with the server's port. */
  readonly at: string;
  /** Paths of the requests so far. */
  readonly asked: Set<string>;
}

export async function startCompanySite(): Promise<CompanySite> {
  const directory = await mkdtemp(join(tmpdir(), "company-site-"));
  const openssl = (...args: string[]) => run("openssl", args, { cwd: directory });
  await writeFile(join(directory, "san"), `subjectAltName=IP:${address}\n`);
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    "req",
    "-x509",
    ...newKey,
    "-days",
    "2",
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
    "-subj",
    "/CN=Company",
  );
  await openssl("req", ...newKey, "-keyout", "site.key", "-out", "site.csr", "-subj", "/CN=site");
  const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "san"];
  await openssl("x509", "-req", "-in", "site.csr", ...signing, "-out", "site.pem");
  const read = (name: string) => readFile(join(directory, name));
  const asked = new Set<string>();
  const server = createServer(
    { key: await read("site.key"), cert: await read("site.pem") },
    (request, answer) => {
      asked.add(request.url ?? "");
      const isIndex = request.url?.includes("simple");
      answer.setHeader("content-type", isIndex ? "text/html" : "application/json");
      answer.end(isIndex ? "<!DOCTYPE html><html><body></body></html>" : "{}");
    },
  ).listen(0, address);
  await once(server, "listening");
  return {
    authority: join(directory, "ca.pem"),
    at: `${address}:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true });
    },
  };
}
