export type { MemoryFileEntry, MemoryFiles } from "./memory/memory-files.js";
export type {
  ChildProgram,
  ProgramAnswer,
  ProgramResult,
  Programs,
  TestingProgram,
} from "./memory/programs.js";
export type { TestingClock } from "./memory/testing-clock.js";
export { TestingService, type TestingServiceOptions } from "./testing-service.js";
