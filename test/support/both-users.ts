import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControlPlaneCaller } from "./control-plane-caller.js";
import { cannotStartAs, type LocalServer, type StartedBy, startLocalServer } from "./local-server.js";
import { TemplateBuilding } from "./template-building.js";

/** A running server, and what talks to it. */
interface Started {
  readonly server: LocalServer;
  readonly client: SandboxClient;
  readonly api: ControlPlaneCaller;
  readonly templates: TemplateBuilding;
  /** A directory that every user can write. It is removed after the server has stopped. */
  readonly place: string;
}

export interface ServerOfUser extends Started {
  readonly who: StartedBy;
}

interface ServerSettings {
  readonly args: (place: string) => readonly string[];
  readonly env?: Record<string, string>;
  readonly apiKey?: string;
}

/**
 * Describes the same tests twice: on a server that root started, and on one that an ordinary user started. `%s` in the
 * title is who it was. The tests and their hooks may use the server; their `afterAll` runs when it has stopped.
 */
export function describeForBothUsers(
  title: string,
  { args, ...settings }: ServerSettings,
  tests: (on: ServerOfUser) => void,
): void {
  describe.each<StartedBy>(["root", "an ordinary user"])(title, (who) => {
    const obstacle = cannotStartAs(who);
    if (obstacle !== undefined) {
      test("has a server", ({ skip }) => skip(obstacle));
      return;
    }
    let started: Started | undefined;
    const running = (): Started => {
      if (started === undefined) throw new Error("The server is used before it has started.");
      return started;
    };

    beforeAll(async () => {
      const place = await mkdtemp(join(tmpdir(), "of-both-users-"));
      await chmod(place, 0o777);
      const server = await startLocalServer({ who, args: args(place), ...settings });
      started = {
        server,
        client: new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url }),
        api: new ControlPlaneCaller(server),
        templates: new TemplateBuilding(server),
        place,
      };
    });
    tests({
      who,
      get server() {
        return running().server;
      },
      get client() {
        return running().client;
      },
      get api() {
        return running().api;
      },
      get templates() {
        return running().templates;
      },
      get place() {
        return running().place;
      },
    });
    // Hooks that end run in the opposite order of their definition: this one is the first.
    afterAll(async () => {
      if (started === undefined) return;
      await started.client.close();
      expect(await started.server.stop()).toEqual({ code: 0, signal: null });
      await rm(started.place, { recursive: true, force: true });
    });
  });
}
