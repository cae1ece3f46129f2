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
import { buffer } from "node:stream/consumers";
import { beforeAll, describe, test } from "vitest";
import { savedImage, tarOf } from "../../packages/local/test/support/image-archives.js";
import { desktopStatements } from "../sandboxes/desktop-statements.js";
import { baseFiles } from "../support/docker/base-image.js";
import { desktopImagePackages } from "../support/docker/desktop-packages.js";
import {
  ownCluster,
  startKubernetesServer,
  withoutKubernetes,
} from "../support/kubernetes/kubernetes-server.js";
import { loadImage } from "../support/kubernetes/load-image.js";

const reference = "docker.io/library/cloud-sandbox-desktop:local";

/** Debian's alternatives, which are in no package. */
const libraries = `usr/lib/${process.arch === "x64" ? "x86_64" : "aarch64"}-linux-gnu`;
const links = tarOf([
  { path: "usr/bin/import", type: "SymbolicLink", link: "import-im6.q16" },
  { path: "usr/bin/convert", type: "SymbolicLink", link: "convert-im6.q16" },
  { path: `${libraries}/libblas.so.3`, type: "SymbolicLink", link: "blas/libblas.so.3" },
  { path: `${libraries}/liblapack.so.3`, type: "SymbolicLink", link: "lapack/liblapack.so.3" },
]);

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("a desktop in a Pod", ({ skip }) => skip(obstacle));
else
  describe("a desktop in a Pod", () => {
    beforeAll(async () => {
      const layers = [await buffer(await baseFiles(desktopImagePackages)), links];
      await loadImage(ownCluster().directory, savedImage({ layers, reference, config: {} }));
    }, 300_000);
    desktopStatements(() =>
      startKubernetesServer({ args: ["--kubernetes-image", reference, "--pool", "0"] }),
    );
  });
