import type { Sandbox } from "cloud-sandbox";
import { describe, expect, test } from "vitest";

/** What every backend that keeps variables between executions must do. */
export function contextSuite(sandbox: () => Sandbox): void {
  async function execute(
    body: Record<string, unknown> & { code: string },
    path: "/execute" | "/execute/rich" = "/execute",
  ) {
    const options = { body: { language: "python", timeout: 60, capture_rich: true, cache: false, ...body } };
    const { data, error } = await sandbox().agent.POST(path, options);
    if (!data) throw new Error(JSON.stringify(error));
    return data;
  }

  describe("contexts", () => {
    test.each([
      ["python", "x = 1", "x += 1", "x", "2"],
      ["javascript", "let x = 1", "x += 1", "x", "2"],
    ])(
      "of %s keep variables from one execution to the next",
      async (language, first, second, value, expected) => {
        for (const code of [first, second]) await execute({ code, language, context: "kept" });
        expect((await execute({ code: value, language, context: "kept" })).result).toBe(expected);
        expect((await execute({ code: value, language, context: "other" })).success).toBe(false);
      },
    );

    test.each([
      ["python", "x = 1", "import time; time.sleep(60)", "x"],
      ["javascript", "let x = 1", "await new Promise((resolve) => setTimeout(resolve, 60_000))", "x"],
    ])("of %s keep them over a timeout", async (language, first, slow, value) => {
      await execute({ code: first, language, context: "slow" });
      const ended = await execute({ code: slow, language, context: "slow", timeout: 1 });
      expect(ended).toMatchObject({ exit_code: 124, termination_reason: "timeout" });
      expect((await execute({ code: value, language, context: "slow" })).result).toBe("1");
    });

    test("say when variables are gone", async () => {
      await execute({ code: "x = 1", context: "lost" });
      const ended = await execute({ code: "import os; os._exit(3)", context: "lost" });
      expect(ended).toMatchObject({ exit_code: 3, context_lost: true });
      expect((await execute({ code: "'x' in globals()", context: "lost" })).result).toBe("False");
    });

    test("of more than eight, one ends, and says with its next execution that its variables are gone", async () => {
      for (const name of ["first", ...Array.from({ length: 8 }, (_, index) => `other-${index}`)])
        await execute({ code: "x = 1", context: name });
      const again = await execute({ code: "'x' in globals()", context: "first" });
      expect(again).toMatchObject({ result: "False", exit_code: 0, context_lost: true });
      expect((await execute({ code: "'x' in globals()", context: "first" })).context_lost).toBeUndefined();
    });

    test("are begun, restarted and ended by name, and say at the first unknown name that they were restarted", async () => {
      const { contexts } = sandbox();
      const names = async () => (await contexts.list()).map(({ name }) => name);
      await contexts.create("worker");
      await execute({ code: "x = 1", context: "worker" });
      await contexts.restart("worker");
      expect(await names()).toContain("worker");
      const missed = async () => (await execute({ code: "x", context: "worker" })).stderr;
      expect(await missed()).toContain("This context was restarted");
      expect(await missed()).not.toContain("This context was restarted");
      await contexts.delete("worker");
      expect(await names()).not.toContain("worker");
      await contexts.delete("worker");
    });

    test("are listed", async () => {
      await execute({ code: "1", context: "listed" });
      const { data } = await sandbox().agent.GET("/jupyter/sessions");
      expect(data?.sessions?.find(({ context }) => context === "listed")).toMatchObject({
        execution_state: "idle",
        language: "python",
      });
    });

    test("collect what code displays", async () => {
      const code =
        "class Shown:\n  def _repr_html_(self): return '<b>1</b>'\ndisplay({'text/markdown': '*2*'}, raw=True)\nShown()";
      const shown = await execute({ code }, "/execute/rich");
      expect(shown).toMatchObject({ html: "<b>1</b>", markdown: "*2*" });
      expect("rich_outputs" in shown && shown.rich_outputs?.map(({ type }) => type)).toEqual([
        "text/markdown",
        "text/html",
      ]);
    });

    test("have no part in executions that may be given from the cache", async () => {
      const code = "import os; print(os.getpid(), 'x' in globals())";
      await execute({ code: "x = 1" });
      const first = await execute({ code, cache: true });
      expect(first).toMatchObject({ cached: false, stdout: expect.stringMatching(/^\d+ False\n$/) });
      expect(await execute({ code, cache: true })).toMatchObject({ cached: true, stdout: first.stdout });
    });
  });
}
