import { expect, test } from "vitest";
import { RuntimeUnavailableError, startLocalControlPlane } from "../../src/index.js";
import type { RuntimeName } from "../../src/runtimes.js";

test.each(["podmann", "toString"])(
  "a runtime named %s is refused with the names of those that exist",
  async (name) => {
    const started = startLocalControlPlane({ runtime: name as RuntimeName });
    await expect(started).rejects.toThrow(RuntimeUnavailableError);
    await expect(started).rejects.toThrow(`no runtime named "${name}"; use one of: auto, bubblewrap`);
  },
);
