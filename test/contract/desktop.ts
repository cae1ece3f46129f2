import { ConflictError, NotFoundError, type Sandbox, type SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** What holds for the desktop of each backend whose templates have one. */
export function desktopSuite(client: () => SandboxClient): void {
  describe("a desktop", () => {
    let sandbox: Sandbox | undefined;

    beforeAll(async () => {
      const template = await client()
        .templates.get("desktop")
        .catch(() => undefined);
      if (template === undefined) return;
      sandbox = await client().sandboxes.create({ template: "desktop", timeoutSeconds: 1800 });
    });
    afterAll(async () => {
      await sandbox?.delete();
    });

    const cases: readonly [string, (sandbox: Sandbox) => Promise<unknown>][] = [
      [
        "has a screen of a size that can be set",
        async ({ desktop }) => {
          expect(await desktop.display()).toEqual({ width: 1280, height: 800, depth: 24 });
          expect(await desktop.resolutions()).toContainEqual({ width: 1024, height: 768 });
          await desktop.setResolution({ width: 1024, height: 768 });
          expect(await desktop.display()).toMatchObject({ width: 1024, height: 768 });
        },
      ],
      [
        "gives pictures",
        async ({ desktop }) => {
          expect(await desktop.screenshot()).toMatchObject({ format: "png" });
          const region = { x: 0, y: 0, width: 1, height: 1 };
          expect(await desktop.screenshot(region, { maxEdge: 100 })).toMatchObject({ format: "png" });
        },
      ],
      [
        "keeps the texts of its clipboard",
        async ({ desktop }) => {
          for (const text of ["first", "second"]) await desktop.setClipboard(text);
          expect(await desktop.clipboard()).toBe("second");
          expect(await desktop.clipboardHistory()).toEqual(["second", "first"]);
        },
      ],
      [
        "takes mouse and keys",
        async ({ desktop: { mouse, keyboard } }) => {
          await mouse.move({ x: 1, y: 1 });
          await mouse.click({ x: 2, y: 2 });
          await mouse.scroll(1);
          await keyboard.type("text");
          await keyboard.press("Return");
          await keyboard.combination(["ctrl", "c"]);
        },
      ],
      [
        "has no window at first, and says that one is gone",
        async ({ desktop: { windows } }) => {
          expect(await windows.list()).toEqual([]);
          await expect(windows.focus("1")).rejects.toThrow(NotFoundError);
        },
      ],
      [
        "records once at a time",
        async ({ desktop: { recording } }) => {
          const { id } = await recording.start();
          await expect(recording.start()).rejects.toThrow(ConflictError);
          expect(await recording.stop(id)).toMatchObject({ id, status: "stopped" });
          expect(await recording.download(id)).toBeInstanceOf(Uint8Array);
        },
      ],
      [
        "refuses what no screen is",
        async ({ agent }) => {
          for (const body of [
            { width: 0, height: 0 },
            { width: 100_000, height: 100_000 },
          ]) {
            const { error } = await agent.POST("/desktop/display/set", { body });
            expect(error).toMatchObject({ code: "INVALID_REQUEST" });
          }
        },
      ],
    ];
    for (const [name, statement] of cases)
      test(name, { tags: ["ffmpeg"] }, async ({ skip }) => {
        if (sandbox === undefined) skip("this backend has no template desktop");
        else await statement(sandbox);
      });
  });
}
