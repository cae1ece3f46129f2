import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { importImage } from "../../src/images/image-import.js";
import { type Entry, type ImageParts, imageLayout, savedImage, tarOf } from "../support/image-archives.js";

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), "image-import-"));
  await mkdir(join(place, "outside"));
  await writeFile(join(place, "outside", "file"), "the host's");
  return () => rm(place, { recursive: true, force: true });
});

const usual = { bytes: 2 ** 26, entries: 1000 };
const at = (path: string): string => join(place, "layer", path);
const importOf = (archive: Buffer, limits = usual, signal = new AbortController().signal) =>
  importImage(Readable.from([archive]), join(place, "layer"), limits, signal);
const layersOf = (...layers: readonly (readonly Entry[])[]): ImageParts => ({ layers: layers.map(tarOf) });

describe("an image", () => {
  test("becomes a layer: later layers replace, whiteouts hide, links and modes stay", async () => {
    const parts = {
      ...layersOf(
        [
          { path: "./usr/bin/", type: "Directory" },
          { path: "usr/bin/tool", text: "old", mode: 0o4755 },
          { path: "usr/bin/same", type: "Link", link: "usr/bin/tool" },
          { path: "bin", type: "SymbolicLink", link: "usr/bin" },
          { path: "gone/a", text: "a" },
          { path: "emptied/below", text: "below" },
          { path: "dev/null", type: "CharacterDevice" },
          { path: `${"long".repeat(60)}/name`, text: "long" },
        ],
        [
          { path: "bin/added", text: "through the link" },
          { path: "usr/bin/tool", text: "new", mode: 0o755 },
          { path: ".wh.gone", text: "" },
          { path: "emptied/above", text: "above" },
          { path: "emptied/.wh..wh..opq", text: "" },
          { path: "home/sandbox/mine", text: "home" },
        ],
        [],
      ),
      config: { Env: ["PATH=/usr/bin", "A=b=c"], WorkingDir: "/app", User: "app", Cmd: ["tool"] },
    };
    for (const archive of [savedImage(parts), imageLayout(parts), gzipSync(savedImage(parts))]) {
      const image = await importOf(archive);
      expect(image).toMatchObject({
        reference: "made:1",
        environment: { PATH: "/usr/bin", A: "b=c" },
        workdir: "/app",
      });
      expect(image.differences.join(" ")).toMatch(/user.*not started.*1 device/);
      expect(readFileSync(at("usr/bin/tool"), "utf8")).toBe("new");
      expect(statSync(at("usr/bin/tool")).mode & 0o7777).toBe(0o777);
      expect(readFileSync(at("usr/bin/same"), "utf8")).toBe("old");
      expect(readFileSync(at("usr/bin/added"), "utf8")).toBe("through the link");
      expect(readlinkSync(at("root/bin"))).toBe("usr/bin");
      expect(readdirSync(at("root/emptied"))).toEqual(["above"]);
      expect(readdirSync(at("root"))).not.toContain("gone");
      expect(readFileSync(at(`root/${"long".repeat(60)}/name`), "utf8")).toBe("long");
      expect(readdirSync(at("home"))).toEqual(["mine"]);
      expect(readdirSync(at("root/dev"))).toEqual([]);
      expect(readFileSync(at("root/etc/passwd"), "utf8")).toContain("sandbox:x:1000:1000");
      expect(readdirSync(at("."))).toEqual(["home", "root", "usr", "workspace"]);
      await rm(at("."), { recursive: true });
    }
  });

  test("is the one for this machine, of several", async () => {
    const other = { ...layersOf([{ path: "other" }]), architecture: "s390x" };
    await importOf(imageLayout(other, layersOf([{ path: "own" }])));
    expect(readdirSync(at("root"))).toEqual(expect.arrayContaining(["own"]));
    expect(readdirSync(at("root"))).not.toContain("other");
  });
});

const one = (...entries: Entry[]): Buffer => savedImage(layersOf(entries));
const manifest = (text: string): Buffer => tarOf([{ path: "manifest.json", text }]);

describe("a file that is refused", () => {
  test.each<[string, Buffer, RegExp]>([
    ["leads out", one({ path: "a/../../outside/file", text: "x" }), /leads out of it/],
    ["has an absolute name", one({ path: "/etc/passwd", text: "x" }), /absolute name/],
    [
      "is behind a link that leads out",
      one({ path: "link", type: "SymbolicLink", link: "../../outside" }, { path: "link/file", text: "x" }),
      /behind a link that leads out/,
    ],
    [
      "is a hard link to a file outside",
      one({ path: "hard", type: "Link", link: "../../outside/file" }),
      /leads out of it/,
    ],
    [
      "is behind links in a circle",
      one(
        { path: "a", type: "SymbolicLink", link: "b" },
        { path: "b", type: "SymbolicLink", link: "a" },
        { path: "a/x", text: "x" },
      ),
      /too many links/,
    ],
    ["is below a file", one({ path: "a", text: "x" }, { path: "a/b", text: "x" }), /no directory/],
    ["hides what is above it", one({ path: "a/.wh..." }), /invalid whiteout/],
    ["is sparse", one({ path: "a", type: "SparseFile", text: "x" }), /sparse/],
    [
      "has another digest",
      savedImage({ ...layersOf([{ path: "a" }]), unpackedDigests: [`sha256:${"0".repeat(64)}`] }),
      /Layer 1 of 1 is not what the image says/,
    ],
    [
      "is for another CPU",
      savedImage({ ...layersOf([]), architecture: "s390x" }),
      /linux\/s390x.*this machine is linux/,
    ],
    [
      "unpacks to more than there is room for",
      imageLayout(layersOf([{ path: "zeros", text: Buffer.alloc(80 * 2 ** 20) }])),
      /too large.*64 MiB/,
    ],
    [
      "has too many entries",
      one(...Array.from({ length: 1001 }, (_, n) => ({ path: `f${n}` }))),
      /more than 1000 files/,
    ],
    [
      "is cut off",
      savedImage(layersOf([{ path: "a", text: "x".repeat(5000) }])).subarray(0, 4000),
      /damaged/,
    ],
    ["is no tar", Buffer.from("This is text. ".repeat(100)), /not a tar/],
    ["is empty", Buffer.alloc(0), /empty/],
    ["has no index", tarOf([{ path: "etc/passwd", text: "root" }]), /neither manifest.json/],
    ["has an index that is no JSON", manifest("{"), /not JSON/],
    ["has an index of another form", manifest("[{}]"), /not as it must be/],
    ["misses a layer", manifest('[{"Config":"c.json","Layers":["l"]}]'), /does not contain it/],
  ])("%s", async (_, archive, reason) => {
    await expect(importOf(archive)).rejects.toMatchObject({ message: expect.stringMatching(reason) });
    expect(readdirSync(place)).toEqual(["outside"]);
    expect(readdirSync(join(place, "outside"))).toEqual(["file"]);
    expect(readFileSync(join(place, "outside", "file"), "utf8")).toBe("the host's");
  });

  test("never gets past the root, however its links are", async () => {
    const absolute = [
      { path: "link", type: "SymbolicLink", link: join(place, "outside") },
      { path: "link/file", text: "inside" },
      { path: "link/.wh.file" },
      { path: "etc", type: "SymbolicLink", link: "/usr/etc" },
    ] as const;
    await importOf(one(...absolute));
    expect(readFileSync(join(place, "outside", "file"), "utf8")).toBe("the host's");
    expect(lstatSync(at("root/etc")).isDirectory()).toBe(true);
  });

  test("is removed when the import is cancelled", async () => {
    const stop = new AbortController();
    async function* slow(): AsyncGenerator<Buffer> {
      yield one({ path: "a", text: "x".repeat(5000) }).subarray(0, 4096);
      stop.abort(new Error("no longer wanted"));
      yield Buffer.alloc(512);
    }
    const importing = importImage(Readable.from(slow()), join(place, "layer"), usual, stop.signal);
    await expect(importing).rejects.toThrow();
    expect(readdirSync(place)).toEqual(["outside"]);
  });
});
