import { describe, expect, test } from "vitest";
import { WarmPool } from "../src/control-plane/warm-pool.js";
import type { Machine, MachineExit } from "../src/runtime/sandbox-runtime.js";

describe("a warm pool", () => {
  test("boots as many machines as it is told to, and hands out one that waits", async () => {
    const host = new Host();
    const pool = host.pool(2);
    pool.fill();
    await expect.poll(() => pool.ready).toBe(2);
    expect((await pool.claim()).id).toBe("1");
    await expect.poll(() => host.booted).toBe(3);
    await pool.close();
  });

  test("gives a machine to each of more callers than it has", async () => {
    const host = new Host();
    const pool = host.pool(1);
    pool.fill();
    const ids = await Promise.all([1, 2, 3].map(async () => (await pool.claim()).id));
    expect(new Set(ids).size).toBe(3);
    await pool.close();
  });

  test("does not hand out a machine that has ended while it waited, and replaces it", async () => {
    const host = new Host();
    const pool = host.pool(1);
    pool.fill();
    await expect.poll(() => pool.ready).toBe(1);
    await host.machines[0]?.destroy();
    await expect.poll(() => host.booted).toBe(2);
    expect((await pool.claim()).id).toBe("2");
    await pool.close();
  });

  test("reports a failed boot, tries again, and lets a claim in between fail with its reason", async () => {
    const host = new Host();
    host.failure = new Error("no memory");
    const pool = host.pool(1);
    pool.fill();
    await expect.poll(() => host.failures).toEqual(["no memory"]);
    await expect(pool.claim()).rejects.toThrow("no memory");
    host.failure = undefined;
    await expect.poll(() => pool.ready, { timeout: 5000 }).toBe(1);
    await pool.close();
  });

  test("destroys what waits when it closes, also what is booting still", async () => {
    const host = new Host();
    const pool = host.pool(3);
    pool.fill();
    await pool.close();
    expect(host.running).toBe(0);
    expect(host.booted).toBe(3);
  });
});

/** Machines that are nothing but their state: what is tested is who gets which, and when. */
class Host {
  readonly machines: Machine[] = [];
  readonly failures: string[] = [];
  failure: Error | undefined;
  booted = 0;
  running = 0;

  pool(size: number): WarmPool {
    return new WarmPool(
      size,
      () => this.#boot(),
      (error) => this.failures.push((error as Error).message),
    );
  }

  async #boot(): Promise<Machine> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure) throw this.failure;
    this.booted += 1;
    this.running += 1;
    let end: (exit: MachineExit) => void = () => undefined;
    const exited = new Promise<MachineExit>((resolve) => {
      end = resolve;
    });
    const machine: Machine = {
      id: String(this.booted),
      isolation: "namespace",
      socketPath: "",
      exited,
      pause: async () => undefined,
      resume: async () => undefined,
      destroy: async () => {
        this.running -= 1;
        end({ reason: "killed", message: "" });
      },
    };
    this.machines.push(machine);
    return machine;
  }
}
