export type { MemoryFileEntry, MemoryFiles } from "./memory-files.js";
export type { ChildProgram, ProgramAnswer, ProgramResult, Programs, TestingProgram } from "./programs.js";
export type { TestingClock } from "./testing-clock.js";
export { TestingService, type TestingServiceOptions } from "./testing-service.js";
