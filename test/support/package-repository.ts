import { execFile } from "node:child_process";
import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A repository for apt on loopback, with the package `greeting`. */
export class PackageRepository {
  private constructor(private readonly server: Server) {}

  /** `directory`: where its files are made. */
  static async start(directory: string): Promise<PackageRepository> {
    await makeRepository(directory);
    const server = createServer((request, response) => {
      readFile(join(directory, new URL(request.url ?? "/", "http://x").pathname)).then(
        (file) => response.end(file),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return new PackageRepository(server);
  }

  /** Host and port. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Commands after which apt uses this repository alone. */
  get use(): string {
    return `rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] http://${this.address} ./' > /etc/apt/sources.list`;
  }

  close(): void {
    this.server.close();
  }
}

/** Makes a repository of one package, whose installation makes a user and a directory that belongs to it. */
async function makeRepository(directory: string): Promise<void> {
  const tree = join(directory, "tree");
  const files = {
    "DEBIAN/control":
      "Package: greeting\nVersion: 1\nArchitecture: all\nMaintainer: Test <test@example.test>\nDepends: adduser\nDescription: greets\n",
    "DEBIAN/postinst": `#!/bin/sh
set -e
adduser --quiet --system --group --no-create-home --home /var/lib/greeting greeting
install -d -o greeting -g greeting -m 750 /var/lib/greeting
ldconfig
`,
    "usr/bin/greeting": "#!/bin/sh\necho hello\n",
    "usr/share/icons/hicolor/48x48/apps/greeting": "icon\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(tree, name, ".."), { recursive: true });
    await writeFile(join(tree, name), text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  }
  const archive = join(directory, "greeting.deb");
  await run("dpkg-deb", ["--root-owner-group", "--build", tree, archive]);
  const { stdout: sums } = await run("sha256sum", [archive]);
  const { size } = await lstat(archive);
  await writeFile(
    join(directory, "Packages"),
    `${files["DEBIAN/control"]}Filename: ./greeting.deb\nSize: ${size}\nSHA256: ${sums.split(" ")[0]}\n`,
  );
}
