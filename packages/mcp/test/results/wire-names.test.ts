import { expect, it } from "vitest";
import { wireNames } from "../../src/results/answer.js";

it("fields have the names of the HTTP API, dates as texts, and nothing undefined", () => {
  const record = {
    id: "20",
    createdAt: new Date(0),
    isActive: false,
    features: ["python 3"],
    resources: { memoryMb: 1024, diskGb: undefined },
    limits: { maxProcesses: undefined },
    region: null,
  };
  expect(wireNames(record)).toEqual({
    id: "20",
    created_at: "1970-01-01T00:00:00.000Z",
    is_active: false,
    features: ["python 3"],
    resources: { memory_mb: 1024 },
  });
});
