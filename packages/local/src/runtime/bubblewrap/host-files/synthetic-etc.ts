import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Mount } from "../../host/mount.js";

/** The entries of the host's `/etc` that machines see: those that programs need, and none that describes the host. */
export const sharedEtc = (): readonly string[] => [
  "alternatives",
  "ca-certificates",
  "crypto-policies",
  "fonts",
  "ld.so.cache",
  "matplotlibrc",
  "mime.types",
  "pki/ca-trust/extracted",
  "ssl/certs",
  // Debian's Java has its settings here, and does not start without them.
  ...readdirSync("/etc").filter((name) => name.startsWith("java-")),
];

/** Files of the host's `/etc` without which programs of its `/usr` do not start. Maven's settings may have passwords, so they are none. */
const copiedEtc = [
  "chromium.d/default-flags",
  "maven/logging/simplelogger.properties",
  "maven/m2.conf",
  "ssl/openssl.cnf",
];

/** Where Chromium reads which authorities it trusts. Machines whose programs trust others have a file of their own there. */
export const chromiumPolicyFile = "chromium/policies/managed/cloud-sandbox.json";

/** Makes `/etc`. With `parts`, which machines cannot change, `/etc` is writable, and files that must not change are mounted from `parts`. */
export function makeEtc(etc: string, parts: string | undefined): { shared: Mount[]; sealed: Mount[] } {
  const isWritable = parts !== undefined;
  mkdirSync(etc, { recursive: true });
  chmodSync(etc, isWritable ? 0o777 : 0o755);
  for (const [name, text] of Object.entries(etcFiles)) {
    writeFileSync(join(etc, name), text);
    chmodSync(join(etc, name), isWritable ? 0o666 : 0o644);
  }
  const shared: Mount[] = isWritable ? [] : [{ source: etc, target: "/etc" }];
  const sealed: Mount[] = [];
  for (const name of sharedEtc()) {
    const source = `/etc/${name}`;
    const status = statusOf(source);
    if (status === undefined) continue;
    const target = join(etc, name);
    if (status.isDirectory()) mkdirSync(target, { recursive: true, mode: 0o755 });
    else writeFileSync(target, "");
    shared.push({ source, target: source });
  }
  for (const name of copiedEtc) {
    if (statusOf(`/etc/${name}`) === undefined) continue;
    makeReachable(etc, dirname(name));
    copyFileSync(`/etc/${name}`, join(etc, name));
    chmodSync(join(etc, name), isWritable ? 0o666 : 0o644);
  }
  if (statusOf("/etc/chromium") !== undefined) {
    makeReachable(etc, dirname(chromiumPolicyFile));
    writeFileSync(join(etc, chromiumPolicyFile), "{}");
    chmodSync(join(etc, chromiumPolicyFile), 0o644);
  }
  for (const [name, text] of Object.entries(libraryNames)) {
    for (const path of [join(etc, name), ...(parts ? [join(parts, name)] : [])]) {
      writeFileSync(path, text);
      chmodSync(path, 0o644);
    }
    if (parts) sealed.push({ source: join(parts, name), target: `/etc/${name}` });
  }
  return { shared, sealed };
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

const etcFiles = {
  passwd:
    "root:x:0:0:root:/root:/usr/sbin/nologin\nsandbox:x:1000:1000:sandbox:/home/sandbox:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
  group: "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
  hostname: "sandbox\n",
  "resolv.conf": "",
};

/** Files that tell the C library which libraries to load into programs, the agent included. */
const libraryNames = {
  "ld.so.preload": "",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Makes a directory below `top` that every uid can enter, whatever the umask. */
export function makeReachable(top: string, path: string): void {
  mkdirSync(join(top, path), { recursive: true });
  for (let at = join(top, path); at !== top; at = dirname(at)) chmodSync(at, 0o755);
}
