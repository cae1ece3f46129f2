// @module-tag openssl
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ownAuthorities } from "../../src/authorities/own-authorities.js";
import { systemBundle } from "../../src/runtime/host/system-bundle.js";

const run = promisify(execFile);

let home: string;
let authority: string;
const at = (name: string): string => join(home, name);

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "authorities-"));
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const made = ["-keyout", at("key.pem"), "-out", at("ca.pem"), "-subj", "/CN=Company"];
  await run("openssl", ["req", "-x509", ...key, "-days", "2", ...made]);
  await run("openssl", ["x509", "-in", at("ca.pem"), "-outform", "DER", "-out", at("ca.der")]);
  authority = readFileSync(at("ca.pem"), "utf8").trim();
  writeFileSync(at("with-key.pem"), `a remark\n${readFileSync(at("key.pem"))}${authority}\n`);
  writeFileSync(at("with-others.pem"), `${rootCertificates.slice(0, 3).join("\n")}\n${authority}\n`);
  writeFileSync(at("everyones.pem"), rootCertificates.slice(0, 3).join("\n"));
  writeFileSync(at("npmrc"), `registry = https://npm.corp.test\ncafile="${at("ca.pem")}"\n`);
  for (const name of [".config/pip", "of-git", "of-curl"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("of-git/.gitconfig"), `[user]\n\tname = me\n[http]\n\tsslcainfo = ${at("ca.pem")}\n`);
  writeFileSync(at("of-curl/.curlrc"), `silent\ncacert = "${at("ca.pem")}"\n`);
  mkdirSync(at("directory"));
  cpSync(at("ca.pem"), at("directory/company.crt"));
  cpSync(at("ca.pem"), at("directory/0a775a30.0"));
  cpSync(at("everyones.pem"), at("directory/everyones.crt"));
  symlinkSync("itself", at("directory/itself"));
  writeSettings({
    "xdg/pip/pip.conf": "[global]\ncert = CA\n",
    "old-pip/.pip/pip.conf": "[install]\ncert = CA\n",
    "git-in-config/.config/git/config": '[http]\n\tsslCAInfo = "CA" ; the company\'s\n',
    "two-of-git/.gitconfig":
      '[http]\n\tsslCAInfo = /nowhere/everyones\n[http "https://git.corp"]\n\tsslCAInfo = CA\n',
    "git-directory/.gitconfig": "[http]\n\tsslCAPath = DIRECTORY # the company's\n",
    "git-global": "[http]\n\tsslCAInfo = CA\n",
    "curl-in-config/.config/curlrc": "cacert = CA\n",
    "curl-directory/.curlrc": 'capath "DIRECTORY"\n',
    "npm-in-line": `registry=https://npm.corp.test\nca="${authority.replaceAll("\n", "\\n")}"\n`,
  });
  writeFileSync(at("pip.conf"), `[global]\nindex-url = https://pip.corp.test\ncert = ${at("ca.pem")}\n`);
});

function writeSettings(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(
      at(name),
      text
        .replace("CA\n", `${at("ca.pem")}\n`)
        .replace('"CA"', `"${at("ca.pem")}"`)
        .replace("DIRECTORY", at("directory")),
    );
  }
}

afterAll(() => rmSync(home, { recursive: true }));

/** How often the company's authority is in what is found, and what is named as its source. */
function found(trusted: readonly string[], env: Record<string, string>) {
  const { pem, sources, problems } = ownAuthorities(trusted, { HOME: "/nowhere", ...env });
  return {
    times: pem.split(authority).length - 1,
    hasKey: pem.includes("PRIVATE"),
    sources: sources.filter((source) => source.includes("(1)")).join(),
    problems,
  };
}

test.each<[string, readonly string[], Record<string, string>, string]>([
  ["--trust-ca", ["ca.pem"], {}, "--trust-ca"],
  ["--trust-ca in DER", ["ca.der"], {}, "--trust-ca"],
  ["--trust-ca beside a key and a remark", ["with-key.pem"], {}, "--trust-ca"],
  ["--trust-ca beside everybody's", ["with-others.pem"], {}, "--trust-ca"],
  ["--trust-ca twice, and a variable", ["ca.pem", "ca.der"], { SSL_CERT_FILE: "ca.pem" }, "--trust-ca"],
  ...[
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "npm_config_cafile",
    "YARN_HTTPS_CA_FILE_PATH",
    "BUNDLE_SSL_CA_CERT",
  ].map(
    (name) => [name, [], { [name]: "ca.pem" }, name] as [string, string[], Record<string, string>, string],
  ),
  ["the settings of npm", [], { npm_config_userconfig: "npmrc" }, "npmrc"],
  ["the settings of pip", [], { PIP_CONFIG_FILE: "pip.conf" }, "pip.conf"],
  ["the settings of git", [], { HOME: "of-git" }, ".gitconfig"],
  ["the settings of curl", [], { HOME: "of-curl" }, ".curlrc"],
  ["--trust-ca of a directory", ["directory"], {}, "--trust-ca"],
  ...["SSL_CERT_DIR", "GIT_SSL_CAPATH", "REQUESTS_CA_BUNDLE"].map(
    (name) =>
      [`the directory of ${name}`, [], { [name]: "directory" }, name] as [
        string,
        string[],
        Record<string, string>,
        string,
      ],
  ),
  ["the settings of pip in another place", [], { XDG_CONFIG_HOME: "xdg" }, "xdg/pip/pip.conf"],
  ["the settings of pip in its old place", [], { HOME: "old-pip" }, ".pip/pip.conf"],
  ["the settings of git in another place", [], { HOME: "git-in-config" }, ".config/git/config"],
  ["a directory in the settings of git", [], { HOME: "git-directory" }, ".gitconfig"],
  ["the settings of git that a variable names", [], { GIT_CONFIG_GLOBAL: "git-global" }, "git-global"],
  ["the settings of curl in another place", [], { HOME: "curl-in-config" }, ".config/curlrc"],
  ["a directory in the settings of curl", [], { HOME: "curl-directory" }, ".curlrc"],
  ["a certificate in the settings of npm", [], { npm_config_userconfig: "npm-in-line" }, "npm-in-line"],
  ["settings of npm for all users", [], { npm_config_globalconfig: "npmrc" }, "npmrc"],
])("an authority of one's own is found by %s, once and without a key", (_, trusted, env, source) => {
  const named = Object.fromEntries(Object.entries(env).map(([name, file]) => [name, at(file)]));
  expect(found(trusted.map(at), named)).toEqual({
    times: 1,
    hasKey: false,
    sources: expect.stringContaining(source),
    problems: [],
  });
});

test("each directory of SSL_CERT_DIR and each setting of a file is read", () => {
  expect(found([], { SSL_CERT_DIR: `/etc/ssl/certs:${at("directory")}` })).toMatchObject({
    times: 1,
    problems: [],
  });
  expect(found([], { HOME: at("two-of-git") })).toMatchObject({
    times: 1,
    problems: [expect.stringMatching(/\.gitconfig names \/nowhere\/everyones, .*ENOENT/)],
  });
  mkdirSync(at("empty"));
  expect(found([], { SSL_CERT_DIR: at("empty") }).problems).toEqual([
    expect.stringMatching(/^SSL_CERT_DIR names .*empty, which adds no authorities: it has no certificate/),
  ]);
});

test("everybody's authorities, and those of the system, are nobody's own", () => {
  const { pem: here } = ownAuthorities([], { HOME: "/nowhere" });
  const system = systemBundle() ?? at("everyones.pem");
  const env = { HOME: "/nowhere", SSL_CERT_FILE: system, REQUESTS_CA_BUNDLE: at("everyones.pem") };
  expect(ownAuthorities([], env)).toMatchObject({ pem: here, problems: [] });
});

test("a variable that names no certificates is a remark, and an option is an error", () => {
  const missing = at("missing.pem");
  const { problems } = found([], { SSL_CERT_FILE: missing, PIP_CERT: at("npmrc") });
  expect(problems).toEqual([
    expect.stringMatching(/^SSL_CERT_FILE names .*missing\.pem, which adds no authorities: ENOENT/),
    expect.stringMatching(/^PIP_CERT names .*npmrc, which adds no authorities: it has no certificate/),
  ]);
  expect(() => ownAuthorities([missing], {})).toThrow(
    /missing\.pem cannot be trusted: ENOENT.*BEGIN CERTIFICATE/,
  );
});

test("more certificates than sandboxes take are left out, and an error of --trust-ca", async () => {
  const key = [
    "-newkey",
    "rsa:4096",
    "-nodes",
    "-days",
    "2",
    "-keyout",
    at("key.pem"),
    "-subj",
    "/CN=Company",
  ];
  const large = ["-addext", `nsComment=${"x".repeat(50_000)}`, "-out", at("large.pem")];
  await run("openssl", ["req", "-x509", ...key, ...large]);
  const said = /sandboxes take 65536 bytes of certificates, and with its 1 there would be \d{5,}/;
  expect(() => ownAuthorities([at("large.pem")], { HOME: "/nowhere" })).toThrow(said);
  const env = { SSL_CERT_FILE: at("large.pem"), PIP_CERT: at("ca.pem") };
  expect(found([], env)).toMatchObject({
    times: 1,
    problems: [expect.stringMatching(/^SSL_CERT_FILE names .*large\.pem, which adds no authorities: /)],
  });
});
