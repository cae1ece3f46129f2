import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { promisify } from "node:util";
import { gitBackend } from "./git-backend.js";

const run = promisify(execFile);

/** Package indexes for pip, npm, git and go, served over HTTP and HTTPS on loopback. */
export interface PackageServer extends AsyncDisposable {
  readonly httpPort: number;
  readonly httpsPort: number;
  /** The certificate of the HTTPS side, for `names`. */
  readonly certificate: string;
  /** The `Host` header and path of each request so far. */
  readonly asked: readonly string[];
  /** The `authorization` headers of the requests so far. */
  readonly authorizations: Set<string>;
}

export async function startPackageServer(name: string): Promise<PackageServer> {
  const directory = await mkdtemp(join(tmpdir(), "package-server-"));
  const files = join(directory, "files");
  await mkdir(files);
  await writeFile(join(directory, "make.py"), makePackages);
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.test"];
  await Promise.all([
    run("python3", [join(directory, "make.py"), files]),
    run("openssl", [
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
      ],
      ...["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`],
      ...["-keyout", join(directory, "key.pem"), "-out", join(directory, "certificate.pem")],
    ]),
    run("git", ["init", "-q", join(directory, "work")]).then(async () => {
      const work = ["-C", join(directory, "work"), ...identity];
      await run("git", [...work, "commit", "-q", "--allow-empty", "-m", "cloned through the proxy"]);
      await run("git", ["clone", "-q", "--bare", join(directory, "work"), join(files, "repository.git")]);
      await run("git", ["-C", join(files, "repository.git"), "update-server-info"]);
      await run("git", ["init", "-q", "--bare", "-b", "main", join(files, "pushed.git")]);
    }),
  ]);
  const asked: string[] = [];
  const authorizations = new Set<string>();
  const answer: RequestListener = async (request, response) => {
    const { authorization } = request.headers;
    if (authorization !== undefined) authorizations.add(authorization);
    const [, isPrivate, path = ""] = /^(\/private(?=\/))?([^?]*)/.exec(request.url ?? "") ?? [];
    if (isPrivate && authorization === undefined)
      return void response.writeHead(401, { "www-authenticate": "Basic realm=private" }).end();
    if (path.startsWith("/git/")) {
      if (authorization !== undefined) return gitBackend(files, request, response);
      return void response.writeHead(401, { "www-authenticate": "Basic realm=git" }).end();
    }
    asked.push(`${request.headers.host}${path}`);
    const protocol = "encrypted" in request.socket ? "https" : "http";
    if (path === "/hello") return void response.end(`hello over ${protocol}\n`);
    const content = await readFile(join(files, normalize(path).replace(/\/$/, "/index.html"))).catch(
      () => undefined,
    );
    if (!content) return void response.writeHead(404).end();
    const isPage = path.endsWith("/") || path === "/hello-npm";
    response.setHeader(
      "content-type",
      isPage ? (path.endsWith("/") ? "text/html" : "application/json") : "application/octet-stream",
    );
    // The index entries contain this server's own address.
    response.end(
      isPage ? content.toString().replaceAll("SERVER", `${protocol}://${request.headers.host}`) : content,
    );
  };
  const certificate = await readFile(join(directory, "certificate.pem"), "utf8");
  const http = createServer(answer);
  const https = createTlsServer(
    { cert: certificate, key: await readFile(join(directory, "key.pem")) },
    answer,
  );
  const [httpPort, httpsPort] = await Promise.all([listen(http), listen(https)]);
  return {
    httpPort,
    httpsPort,
    certificate,
    asked,
    authorizations,
    async [Symbol.asyncDispose]() {
      for (const server of [http, https]) {
        server.closeAllConnections();
        server.close();
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function listen(server: Pick<Server, "listen" | "address" | "once">): Promise<number> {
  server.listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

const makePackages = `
import base64, hashlib, io, json, os, sys, tarfile, zipfile
root = sys.argv[1]
def write(path, content):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()

def wheel(project, module, code):
    info = f"{module}-1.0.dist-info"
    name = f"{module}-1.0-py3-none-any.whl"
    write(name, zipped({
        f"{module}.py": code,
        info + "/METADATA": f"Metadata-Version: 2.1\\nName: {project}\\nVersion: 1.0\\n",
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        info + "/entry_points.txt": f"[console_scripts]\\n{module} = {module}:main\\n",
        info + "/RECORD": f"{module}.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n",
    }))
    write(f"simple/{project}/index.html", f'<a href="/{name}">{name}</a>'.encode())

wheel("hello-pip", "hello_pip", "print('installed by pip')\\n")
# What people expect of a code interpreter.
for project in "pandas numpy matplotlib scipy scikit-learn requests httpx beautifulsoup4 ipykernel pip uv".split():
    wheel(project, project.replace("-", "_"), f"def main(): print('{project} of the index')\\n")

buffer = io.BytesIO()
with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
    for name, text in {"package.json": '{"name":"hello-npm","version":"1.0.0","main":"index.js"}', "index.js": "console.log('installed by npm')"}.items():
        entry = tarfile.TarInfo("package/" + name)
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text.encode()))
tarball = buffer.getvalue()
integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
version = {"name": "hello-npm", "version": "1.0.0", "dist": {"tarball": "SERVER/hello-npm-1.0.0.tgz", "integrity": integrity}}
write("hello-npm", json.dumps({"name": "hello-npm", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode())
write("hello-npm-1.0.0.tgz", tarball)

module = "example.test/hello"
mod = f"module {module}\\n\\ngo 1.16\\n"
base = f"{module}/@v/"
write(base + "list", b"v1.0.0\\n")
write(base + "v1.0.0.info", b'{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}')
write(base + "v1.0.0.mod", mod.encode())
write(base + "v1.0.0.zip", zipped({f"{module}@v1.0.0/go.mod": mod, f"{module}@v1.0.0/hello.go": "package main\\n\\nfunc main() { println(\\"installed by go\\") }\\n"}))
`;
