import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A server over TLS on loopback, whose certificate is for its names, that records the credentials it gets. */
export interface SecretSite extends AsyncDisposable {
  /** The file with the authority of its certificate. */
  readonly authority: string;
  /** Its name and port. */
  readonly at: string;
  readonly port: number;
  /** A command that starts a server which finds this one by its name. Only root may use it. */
  readonly through: readonly string[];
  /** Each request so far, with the port of its connection. */
  readonly asked: {
    readonly path: string;
    readonly authorization: string | undefined;
    readonly from: number | undefined;
  }[];
}

/** `strange`: names that lead to it too, and that its certificate is not for. */
export async function startSecretSite(
  names: string | readonly string[] = "api.secret.test",
  answer: RequestListener = (_, response) => response.end("{}"),
  strange: readonly string[] = [],
): Promise<SecretSite> {
  const all = [names].flat();
  const directory = await mkdtemp(join(tmpdir(), "secret-site-"));
  const openssl = (...args: string[]) => run("openssl", args, { cwd: directory });
  // Servers that an ordinary user starts read the authority too.
  await chmod(directory, 0o755);
  await writeFile(join(directory, "san"), `subjectAltName=${all.map((name) => `DNS:${name}`)}\n`);
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl(
    "req",
    "-x509",
    ...key,
    "-days",
    "2",
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
    "-subj",
    "/CN=Site authority",
  );
  await openssl("req", ...key, "-keyout", "site.key", "-out", "site.csr", "-subj", "/CN=site");
  const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "san"];
  await openssl("x509", "-req", "-in", "site.csr", ...signing, "-out", "site.pem");
  const read = (file: string) => readFile(join(directory, file));
  const hosts = join(directory, "hosts");
  await writeFile(hosts, `127.0.0.1 localhost ${[...all, ...strange].join(" ")}\n`);
  const asked: SecretSite["asked"] = [];
  const server = createServer(
    { key: await read("site.key"), cert: await read("site.pem") },
    (request, response) => {
      const { url: path = "", headers, socket } = request;
      asked.push({ path, authorization: headers.authorization, from: socket.remotePort });
      answer(request, response);
    },
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    authority: join(directory, "ca.pem"),
    at: `${all[0]}:${port}`,
    port,
    through: [
      "unshare",
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      `mount --bind ${hosts} /etc/hosts; exec "$@"`,
      "sh",
    ],
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true });
    },
  };
}
