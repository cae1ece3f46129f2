import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sharedEtc } from "./host-files/synthetic-etc.js";
import type { MachineImages } from "./machine-image.js";
import { WritableRoot } from "./writable-root.js";

const run = promisify(execFile);

/** What machines have in which code is root. */
export interface RootInside extends Pick<MachineImages, "image" | "importedImage"> {
  readonly root: WritableRoot;
}

/**
 * Prepares the root of machines in which code is root, in `directory`, from that of other machines. There is more of a
 * system in it: the package manager's records, so that it knows what `/usr` has, and the settings of its programs. Package
 * managers replace files of `/etc`, so those are copies and not mounts.
 */
export async function prepareRootInside(
  directory: string,
  { skeleton }: WritableRoot,
  images: MachineImages,
): Promise<RootInside> {
  const root = await WritableRoot.openMapped(directory);
  const shared = sharedEtc();
  const copied = [...shared, ...systemEtc];
  await run("/bin/sh", ["-c", systemScript, "system", skeleton, root.skeleton, ...copied], { cwd: "/" });
  const isCopied = (path: string): boolean => shared.some((name) => `${path}/`.startsWith(`/etc/${name}/`));
  const forRoot = (image: MachineImages["image"]): MachineImages["image"] => ({
    ...image,
    disk: root.disk,
    mounts: image.mounts.filter(({ target }) => !isCopied(target)),
    user: "root",
    command: image.commandForRoot,
  });
  return {
    root,
    image: forRoot(images.image),
    importedImage: images.importedImage && forRoot(images.importedImage),
  };
}

/** Settings of package managers, and of the programs with which packages make and become users. None tells who may log in. */
const systemEtc = [
  ...[
    "adduser.conf",
    "apt/keyrings",
    "apt/trusted.gpg.d",
    "debconf.conf",
    "debian_version",
    "default/useradd",
  ],
  ...["deluser.conf", "dpkg", "ld.so.conf", "ld.so.conf.d", "login.defs", "pam.conf", "pam.d", "perl"],
  ...["protocols", "security", "services", "shells", "skel"],
];

/**
 * Users are those that every Debian has. Lines of the host's package sources that contain a password are left out.
 */
const systemScript = `set -e
umask 022
cd "$2"
cp -a "$1/." .
find . -type d ! -perm -1000 -exec chmod 755 {} +
find . -type f -exec chmod 644 {} +
shift 2
for name do
  [ -e "/etc/$name" ] || continue
  rm -rf "etc/$name"
  mkdir -p "etc/$(dirname "$name")"
  cp -a "/etc/$name" "etc/$name"
done
users=/usr/share/base-passwd
if [ -r $users/passwd.master ] && [ -r $users/group.master ]; then
  { sed 's/:[*]:/:x:/' $users/passwd.master; echo _apt:x:42:65534::/nonexistent:/usr/sbin/nologin; } > etc/passwd
  { sed 's/:[*]:/:x:/' $users/group.master; echo sandbox:x:1000:; } > etc/group
  echo sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/bash >> etc/passwd
fi
sed -i 's,^root:.*,root:x:0:0:root:/home/sandbox:/bin/bash,' etc/passwd
sed 's/:.*/:*:19000:0:99999:7:::/' etc/passwd > etc/shadow
sed 's/:.*/:*::/' etc/group > etc/gshadow
chmod 640 etc/shadow etc/gshadow
echo 'root ALL=(ALL:ALL) NOPASSWD: ALL' > etc/sudoers
chmod 440 etc/sudoers
mkdir -p var/backups var/cache/debconf var/cache/ldconfig var/mail var/spool
if [ -d /var/lib/dpkg ]; then
  mkdir -p etc/apt/apt.conf.d etc/apt/preferences.d etc/apt/sources.list.d
  mkdir -p var/cache/apt/archives/partial var/lib/apt/lists/partial var/log/apt
  cp -a /var/lib/dpkg var/lib/
  # Overrides name users and groups of the host, and dpkg fails if one is missing.
  : > var/lib/dpkg/statoverride
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$file" ] || grep -v '://[^/ ]*@' "$file" > "./$file" || true
  done
fi
`;
