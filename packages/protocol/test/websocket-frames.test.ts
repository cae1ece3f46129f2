import { expectTypeOf, test } from "vitest";
import type { AgentSchemas, ExecuteStreamFrame, TerminalFrame, WatchFrame } from "../src/index.js";

test("every frame that the contract allows a server to send can be read by a client", () => {
  expectTypeOf<AgentSchemas["ExecuteStreamFrame"]>().toExtend<Named<ExecuteStreamFrame>>();
  expectTypeOf<AgentSchemas["TerminalServerFrame"]>().toExtend<Named<TerminalFrame>>();
  expectTypeOf<AgentSchemas["WatchFrame"]>().toExtend<Named<WatchFrame>>();
});

/** Only the named fields of a loose object, which also allows all other fields. */
type Named<Frame> = Frame extends unknown
  ? { [Key in keyof Frame as string extends Key ? never : Key]: Frame[Key] }
  : never;
