import { expect } from "vitest";
import { type Attack, bash, python } from "./attack.js";

/** Attempts on the cluster that a sandbox's Pod is part of. */
export const inCluster: readonly Attack[] = [
  {
    name: "find a token of the cluster",
    async attempt({ sandbox }) {
      const { stdout } = await bash(
        sandbox,
        "find / -xdev -path '*serviceaccount*' 2>/dev/null; grep -l serviceaccount /proc/self/mountinfo; echo looked",
      );
      expect(stdout).toBe("looked\n");
      return "the Pod has none";
    },
  },
  {
    name: "use the cluster's API",
    async attempt({ sandbox }) {
      const { stdout } = await python(
        sandbox,
        `
import os, ssl, urllib.error, urllib.request
context = ssl._create_unverified_context()
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
for path in ("api/v1/pods", "api/v1/secrets", "apis/apps/v1/deployments"):
    try:
        print(path, opener.open(f"https://{host}/{path}", timeout=5).status)
    except urllib.error.HTTPError as error:
        print("refused" if error.code in (401, 403) else f"{path} {error.code}")
    except OSError as error:
        print("refused")`,
      );
      expect(stdout).toBe("refused\n".repeat(3));
      return "refused without rights, where it can be reached at all";
    },
  },
];
