/** What sandboxes and tests need on this machine, besides Node.js: packages of Debian, and whether they are there. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where programs are that sandboxes see too: of this machine they see only /usr. */
const programPlaces = ["/usr/bin", "/usr/sbin"];

/**
 * A package that is there if one of its files is: the check starts no process, and also finds what another system has under another
 * name.
 */
function program(debian, file = debian) {
  return { debian, isThere: () => programPlaces.some((place) => existsSync(join(place, file))) };
}

/** A package with a module of the system's Python, by which it is recognized. */
function pythonModule(debian, name) {
  return { debian, isThere: () => pythonPlaces().some((place) => existsSync(join(place, name))) };
}

/** A package with a shared library, by which it is recognized. */
function library(debian, file) {
  return { debian, isThere: () => libraryPlaces().some((place) => existsSync(join(place, file))) };
}

function libraryPlaces() {
  return ["/usr/lib", "/usr/lib64", ...listed("/usr/lib").filter((path) => path.endsWith("-linux-gnu"))];
}

function listed(directory) {
  return existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];
}

function pythonPlaces() {
  return ["/usr/lib", "/usr/lib64"]
    .flatMap(listed)
    .filter((path) => /\/python3[.\d]*$/.test(path))
    .flatMap((path) => [join(path, "dist-packages"), join(path, "site-packages")]);
}

/** What every sandbox of bubblewrap needs. */
export const sandboxPackages = [
  program("bubblewrap", "bwrap"),
  program("python3"),
  program("util-linux", "setpriv"),
  program("mount"),
];

/** What the desktop of a sandbox needs, and a program with a window. */
export const desktopPackages = [
  program("tigervnc-standalone-server", "Xtigervnc"),
  program("openbox"),
  program("xdotool"),
  program("wmctrl"),
  program("xclip"),
  program("imagemagick", "import"),
  program("x11-utils", "xprop"),
  program("x11-xserver-utils", "xrandr"),
  { debian: "xfonts-base", isThere: () => existsSync("/usr/share/fonts/X11/misc") },
  program("tesseract-ocr", "tesseract"),
  program("ffmpeg"),
  { debian: "novnc", isThere: () => existsSync("/usr/share/novnc/core/rfb.js") },
  program("xterm"),
];

/** What single tests need: languages, libraries and tools that run in sandboxes, and programs beside them. */
export const testPackages = [
  program("python3-pip", "pip3"),
  pythonModule("python3-ipython", "IPython"),
  pythonModule("python3-matplotlib", "matplotlib"),
  pythonModule("python3-pandas", "pandas"),
  program("golang-go", "go"),
  program("g++"),
  program("make"),
  program("default-jre-headless", "java"),
  program("git"),
  program("openssh-client", "ssh"),
  program("openssl"),
  program("procps", "ps"),
  program("bsdutils", "script"),
  program("perl"),
  program("apt", "apt-get"),
  program("curl"),
  program("wget"),
  program("vim-tiny", "vi"),
  // Node.js 26 is linked with it.
  library("libatomic1", "libatomic.so.1"),
  program("tmux"),
  ...desktopPackages,
  program("chromium"),
  program("docker.io", "dockerd"),
  program("tini", "docker-init"),
  program("e2fsprogs", "mkfs.ext4"),
  program("caddy"),
  program("prometheus"),
  program("mmdebstrap"),
  program("skopeo"),
  program("docker-registry"),
  ...(isDebian12()
    ? [
        // Those of this release are too old for the tests, or there are none.
        { ...program("runsc"), suite: "bookworm-backports" },
        { debian: "docker-compose", suite: "trixie", isThere: hasCompose },
      ]
    : []),
];

/** Whether Docker has Compose 2, which is a plug-in. */
function hasCompose() {
  return ["/usr/libexec", "/usr/lib", "/usr/local/libexec", "/usr/local/lib"].some((place) =>
    existsSync(join(place, "docker/cli-plugins/docker-compose")),
  );
}

/** What a Kubernetes cluster of the tests' own needs besides the programs of Kubernetes. */
export const clusterPackages = [
  program("etcd-server", "etcd"),
  program("containerd"),
  {
    debian: "containernetworking-plugins",
    isThere: () => existsSync("/usr/lib/cni/bridge"),
  },
  program("iptables"),
  program("conntrack"),
  program("socat"),
  program("busybox-static", "busybox"),
];

/** Those of the packages that are not there. */
export function missingOf(packages) {
  return packages.filter(({ isThere }) => !isThere());
}

/** Why no sandbox of bubblewrap can be started here, with what to do. Undefined if one can. */
export function sandboxObstacle() {
  const missing = missingOf(sandboxPackages);
  if (missing.length > 0) return `no sandbox can be started here without ${installSentence(missing)}`;
  try {
    // Changes nothing. The Node.js of Debian 13 refuses it, and with it every sandbox of a server that root starts.
    if (process.getuid() === 0) process.setegid(process.getegid());
  } catch ({ message }) {
    return `root can start no sandbox with this Node.js (${message}): run this as an ordinary user, or with a Node.js from https://nodejs.org`;
  }
  // Not all of "/": bubblewrap fails at a mount that goes meanwhile.
  const mounts = ["/usr", "/bin", "/sbin", "/lib", "/lib64"].flatMap((path) => ["--ro-bind-try", path, path]);
  const profile = ["--unshare-user", "--unshare-pid", "--unshare-net", ...mounts];
  const { status, stderr } = spawnSync("bwrap", [...profile, "true"], { encoding: "utf8" });
  if (status === 0) return undefined;
  const reason = stderr.trim().split("\n")[0];
  return `no sandbox can be started here (${reason}): "node packages/local/dist/main.js doctor" says what to do`;
}

/** The names of packages, with the command that installs them on this system. */
export function installSentence(packages) {
  const names = packages.map(({ debian }) => debian).join(" ");
  const installers = {
    "apt-get": "apt-get install -y --no-install-recommends",
    dnf: "dnf install -y",
    pacman: "pacman -S",
    apk: "apk add",
  };
  const installer = Object.keys(installers).find((tool) => program(tool).isThere());
  if (!installer) return `${names} (Debian's names)`;
  const otherNames = installer === "apt-get" ? "" : ", with this system's names in place of Debian's";
  return `${names}. To install: sudo ${installers[installer]} ${names}${otherNames}`;
}

/** Whether a file system can be mounted here. Root of a container may often not. */
export function canMount() {
  if (process.getuid?.() !== 0 || !existsSync("/proc/self/status")) return false;
  const [, held = "0"] = /^CapEff:\s*(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  const administersSystem = 1n << 21n;
  return (BigInt(`0x${held}`) & administersSystem) !== 0n;
}

/** Whether packages can be installed here: as root, on Debian or Ubuntu. */
export function canInstall() {
  return (
    process.getuid?.() === 0 &&
    program("apt-get").isThere() &&
    /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(systemRelease())
  );
}

/** Whether this is the release of Debian in which Kubernetes can be built, and whose gVisor and Docker Compose are too old. */
export function isDebian12() {
  return /^VERSION_CODENAME=bookworm$/m.test(systemRelease());
}

function systemRelease() {
  return existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
}
