import { describe, test } from "vitest";
import { homeFilesStatements } from "../sandboxes/home-files-statements.js";
import { startKubernetesServer, withoutKubernetes } from "../support/kubernetes/kubernetes-server.js";

const obstacle = withoutKubernetes();
if (obstacle !== undefined) test("files of home directories in kubernetes", ({ skip }) => skip(obstacle));
else
  describe("on a server of the runtime kubernetes,", () => {
    homeFilesStatements((args) => startKubernetesServer({ args }));
  });
