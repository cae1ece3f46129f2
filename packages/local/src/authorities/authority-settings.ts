import { readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { authorityVariables } from "@cloud-sandbox/server-kit/execution";
import { systemBundle } from "../runtime/host/system-bundle.js";

/** A file or a directory with authorities, and what names it. */
export interface NamedAuthorities {
  readonly source: string;
  readonly path: string;
}

/** Variables of package managers, which in sandboxes read others. */
const managerVariables = [
  "npm_config_cafile",
  "NPM_CONFIG_CAFILE",
  "YARN_HTTPS_CA_FILE_PATH",
  "BUNDLE_SSL_CA_CERT",
];
/** Variables with directories, of which SSL_CERT_DIR may list several. */
const directoryVariables = ["SSL_CERT_DIR", "GIT_SSL_CAPATH"];

const ofNpm = /^\s*cafile\s*=\s*"?([^"\n]+?)"?\s*$/gm;
/** npm also takes the certificates themselves. */
const inNpm = /^\s*ca(?:\[\])?\s*=\s*"?-----BEGIN/m;
const ofPip = /^\s*cert\s*=\s*([^\n]+?)\s*$/gm;
const ofGit = /^\s*sslCA(?:Info|Path)\s*=\s*"?([^"\n;#]+?)"?\s*(?:[;#].*)?$/gim;
const ofCurl = /^\s*-{0,2}ca(?:cert|path)\s*[\s=:]\s*"?([^"\n]+?)"?\s*$/gm;

/** The authorities that variables and settings of this host's programs name. The system's own are in sandboxes anyway. */
export function namedAuthorities(env: NodeJS.ProcessEnv): NamedAuthorities[] {
  const ofVariables = [...authorityVariables, ...managerVariables].flatMap((name) => named(name, env[name]));
  const ofDirectories = directoryVariables.flatMap((name) =>
    (env[name] ?? "").split(delimiter).flatMap((path) => named(name, path)),
  );
  const system = systemBundle();
  const ofSystem = system === undefined ? [] : [system, dirname(system)];
  // Node.js does not read the system's, so a variable of its own may name that file to add what is only there.
  return [...ofVariables, ...ofDirectories, ...settings(env)].filter(
    ({ source, path }) => source === "NODE_EXTRA_CA_CERTS" || !ofSystem.includes(realPath(path)),
  );
}

function settings(env: NodeJS.ProcessEnv): NamedAuthorities[] {
  const home = env.HOME ?? homeDirectory();
  const config = env.XDG_CONFIG_HOME || join(home, ".config");
  const npm = [
    env.npm_config_userconfig || join(home, ".npmrc"),
    env.npm_config_globalconfig || join(dirname(process.execPath), "../etc/npmrc"),
  ];
  const pip = [
    env.PIP_CONFIG_FILE || join(config, "pip/pip.conf"),
    join(home, ".pip/pip.conf"),
    "/etc/pip.conf",
    "/etc/xdg/pip/pip.conf",
  ];
  const git = env.GIT_CONFIG_GLOBAL
    ? [env.GIT_CONFIG_GLOBAL]
    : [join(config, "git/config"), join(home, ".gitconfig")];
  const curl = [join(home, ".curlrc"), join(config, "curlrc")];
  return [
    ...npm.flatMap((file) => setting(file, ofNpm)),
    ...npm.filter((file) => inNpm.test(textOf(file))).map((file) => ({ source: file, path: file })),
    ...pip.flatMap((file) => setting(file, ofPip)),
    ...[...git, "/etc/gitconfig"].flatMap((file) => setting(file, ofGit)),
    ...curl.flatMap((file) => setting(file, ofCurl)),
  ];
}

const named = (source: string, path: string | undefined): NamedAuthorities[] =>
  path ? [{ source, path }] : [];

/** The paths that a file of settings has, each once. */
function setting(file: string, pattern: RegExp): NamedAuthorities[] {
  const paths = [...textOf(file).matchAll(pattern)].map(([, path = ""]) => path);
  return [...new Set(paths)].map((path) => ({
    source: file,
    path: path.replace(/^\$\{HOME\}|^~(?=\/)/, homeDirectory()),
  }));
}

/** Empty if the file cannot be read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Users of services often have no home directory, which is an error for Node.js. */
function homeDirectory(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
