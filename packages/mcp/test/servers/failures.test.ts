import { McpInstallError } from "cloud-sandbox-mcp-runner";
import { expect, test } from "vitest";
import { failureOf } from "../../src/servers/failures.js";

test.each([
  [true, "No registry. Give it a network. The user must do this."],
  [false, "No registry. The user must correct the server's install commands."],
])("an installation that failed tells whether the network did (%s)", (isOffline, said) => {
  const error = new McpInstallError({
    ...{ summary: "No registry.", hint: "Give it a network.", code: "INSTALL_FAILED" },
    ...{ output: "", isOffline },
  });
  const place = { name: "files", what: "tools/list", reach: "none" } as const;
  expect(failureOf(error, place)).toMatchObject({ message: said });
});
