import { TestRunner } from "vitest";

/** What nearly all tests of a project need: its files have that as a tag. */
const needed: Readonly<Record<string, string>> = { agent: "python3" };

export default class ProjectRunner extends TestRunner {
  override onCollectStart(file: Parameters<TestRunner["onCollectStart"]>[0]): void {
    super.onCollectStart(file);
    const need = needed[this.config.name ?? ""] ?? "sandboxes";
    if (!file.tags?.includes("no-sandboxes")) file.tags = [...(file.tags ?? []), need];
  }
}
