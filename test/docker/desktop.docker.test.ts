// @module-tag tigervnc-standalone-server
// @module-tag openbox
// @module-tag xdotool
// @module-tag wmctrl
// @module-tag xclip
// @module-tag imagemagick
// @module-tag x11-utils
// @module-tag x11-xserver-utils
// @module-tag xfonts-base
// @module-tag xterm
import { execFileSync } from "node:child_process";
import { beforeAll, describe, inject, test } from "vitest";
import { desktopStatements } from "../sandboxes/desktop-statements.js";
import { importDebianImage } from "../support/docker/debian-image.js";
import { desktopImagePackages } from "../support/docker/desktop-packages.js";
import { startDockerServer, withoutDocker, withoutGvisor } from "../support/docker/docker-server.js";

describe.each([
  ["a container", withoutDocker(), []],
  ["a container with gVisor", withoutGvisor(), ["--docker-runtime", "runsc"]],
] as const)("a desktop in %s", (_, obstacle, args) => {
  if (obstacle !== undefined) {
    test("works", ({ skip }) => skip(obstacle));
    return;
  }
  beforeAll(async () => {
    const docker = inject("docker");
    if ("missing" in docker) return;
    await importDebianImage(docker.host, "desktop-files", desktopImagePackages);
    // Links of Debian's alternatives are in no package.
    const dockerfile = `FROM desktop-files
RUN ln -s import-im6.q16 /usr/bin/import && ln -s convert-im6.q16 /usr/bin/convert && cd /usr/lib/*-linux-gnu && ln -s blas/libblas.so.3 lapack/liblapack.so.3 . && fc-cache
`;
    const build = ["--host", docker.host, "build", "--network", "none", "--tag", "desktop", "-"];
    execFileSync("docker", build, { input: dockerfile, stdio: ["pipe", "ignore", "pipe"] });
  }, 300_000);
  const images = (): string[] => {
    const docker = inject("docker");
    return "missing" in docker ? [] : ["--docker-image", docker.image, "--docker-image", "desktop"];
  };
  // xterm cannot open a terminal of gVisor's.
  const lacks = { lacksTerminals: args.length > 0 };
  desktopStatements(() => startDockerServer({ args: [...args, ...images(), "--pool", "0"] }), lacks);
});
