import { ApiException, type CoreV1Api, type V1Secret } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { ClusterStoredSecrets } from "../../src/cluster/cluster-stored-secrets.js";

test("a secret for which the cluster has no room is refused for good, and others are changed and deleted", async () => {
  let secret: V1Secret | undefined;
  let bytes = 0;
  const put = async ({ body }: { body: V1Secret }) => {
    const sizes = Object.values(body.data ?? {}).map((text) => Buffer.from(text, "base64").length);
    bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (bytes > 1024 * 1024) throw new ApiException(422, "", { message: "data: Too long" }, {});
    secret = body;
  };
  const core = {
    readNamespacedSecret: async () => {
      if (!secret) throw new ApiException(404, "", undefined, {});
      return secret;
    },
    createNamespacedSecret: put,
    replaceNamespacedSecret: put,
  } as unknown as CoreV1Api;
  const cluster = { core, coordination: undefined as never, namespace: "default" };
  const secrets = new ClusterStoredSecrets(cluster, { isHeld: true });
  const none = { basic: undefined, methods: undefined, paths: undefined };
  const rules = { ...none, placeholder: "csb_secret_1", hosts: ["a.example"], headers: {} };
  const recordOf = (name: string, length: number) => ({
    ...{ name, keyId: undefined, id: name, rules },
    ...{ sealed: "x".repeat(length), createdAt: new Date(0), updatedAt: new Date(0) },
  });
  await secrets.save(recordOf("large", 1_000_000));
  await expect(secrets.save(recordOf("another", 50_000))).rejects.toMatchObject({
    status: 400,
    code: "RESOURCE_LIMIT_ERROR",
    message: expect.stringContaining("Secret (cloud-sandbox-secrets), which holds 1 MiB"),
  });
  await secrets.save(recordOf("large", 900_000));
  await secrets.save(recordOf("another", 50_000));
  await secrets.remove({ name: "large", keyId: undefined });
  expect(bytes).toBeLessThan(60_000);
});
