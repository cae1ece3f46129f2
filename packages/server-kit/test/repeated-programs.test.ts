import { expect, test, vi } from "vitest";
import { RepeatedPrograms } from "../src/handlers/index.js";

const programs = () => new RepeatedPrograms((request) => request);

test("a program is run once for each key, while it runs and afterwards", async () => {
  const repeated = programs();
  const program = vi.fn(async (onStart: () => void) => {
    onStart();
    await Promise.resolve();
    return "answer";
  });
  const [first, second] = await Promise.all([repeated.run("a", {}, program), repeated.run("a", {}, program)]);
  expect([first, second, await repeated.run("a", {}, program)]).toEqual(["answer", "answer", "answer"]);
  expect(program).toHaveBeenCalledOnce();
  await repeated.run("b", {}, program);
  await repeated.run(undefined, {}, program);
  expect(program).toHaveBeenCalledTimes(3);
});

test("a key is refused for another request", async () => {
  const repeated = programs();
  await repeated.run("a", { code: "1" }, async () => "answer");
  await expect(repeated.run("a", { code: "2" }, async () => "other")).rejects.toMatchObject({ status: 409 });
});

test("a program that was refused may be run under its key, one that had started may not", async () => {
  const repeated = programs();
  await expect(repeated.run("a", {}, () => Promise.reject(new Error("full")))).rejects.toThrow("full");
  expect(await repeated.run("a", {}, async () => "answer")).toBe("answer");

  const started = (onStart: () => void) => {
    onStart();
    return Promise.reject<string>(new Error("gone"));
  };
  await expect(repeated.run("b", {}, started)).rejects.toThrow("gone");
  await expect(repeated.run("b", {}, async () => "answer")).rejects.toMatchObject({ status: 409 });
});

test("an answer too large to be kept is told as such, and all of them together are bounded", async () => {
  const repeated = programs();
  await repeated.run("large", {}, async () => "x".repeat(2 ** 20 + 1));
  await expect(repeated.run("large", {}, async () => "again")).rejects.toMatchObject({ status: 409 });
  for (let index = 0; index <= 18; index += 1)
    await repeated.run(`${index}`, {}, async () => "x".repeat(2 ** 20));
  await expect(repeated.run("0", {}, async () => "again")).rejects.toMatchObject({ status: 409 });
  expect(await repeated.run("18", {}, async () => "again")).toHaveLength(2 ** 20);
});
