import { compare } from "../measure.mjs";
import { cloudSandbox, runCommand } from "./run-command.mjs";

const count = 20;

/** Commands at a time with one server, against the same commands one after the other. */
export async function benchSessions({ env }) {
  const one = (index) =>
    runCommand([...cloudSandbox, "run", "--code", `print(${index})`], env, String(index));
  return compare({
    name: `${count} of cloud-sandbox run at once, over the same one after the other`,
    limit: 1,
    rounds: 1,
    floor: async () => {
      for (let index = 0; index < count; index += 1) await one(index);
    },
    subject: () => Promise.all(Array.from({ length: count }, (_, index) => one(index))),
  });
}
