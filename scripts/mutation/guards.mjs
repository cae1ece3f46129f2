const local = (name) => `packages/local/test/${name}.test.ts`;
const agent = (name) => `packages/agent/test/${name}.test.ts`;
const client = (name) => `packages/client/test/${name}.test.ts`;
const egressRules = [local("egress-policy"), local("egress-patterns")];
const gatewayTraffic = ["agent-gateway", "gateway-server", "cross-origin-access", "file-tunnels"].map(local);

/**
 * The rooms that guard, their files, and the tests of each. A bug costs a run of the tests that come by it, so they are
 * the nearest ones, and none of them starts a sandbox.
 */
export const guards = {
  addresses: {
    "packages/local/src/addresses/public-address.ts": local("public-address"),
  },
  egress: {
    "packages/local/src/relay/destroy-on-abort.ts": local("destroy-on-abort"),
    "packages/local/src/egress/destination-pattern.ts": egressRules,
    "packages/local/src/egress/destination.ts": egressRules,
    "packages/local/src/egress/dialer.ts": local("egress-dialer"),
    "packages/local/src/egress/egress-gateway.ts": [local("egress-proxy"), local("egress-dialer")],
    "packages/local/src/egress/egress-log.ts": local("egress-log"),
    "packages/local/src/egress/egress-policy.ts": egressRules,
    "packages/local/src/egress/egress-report.ts": local("egress-settings"),
    "packages/local/src/egress/egress-wish.ts": local("egress-settings"),
    "packages/local/src/egress/hop-by-hop.ts": [local("forwarded-headers"), local("egress-patterns")],
    "packages/local/src/egress/http-proxy.ts": [local("egress-requests"), local("egress-proxy")],
    "packages/local/src/egress/internet-default.ts": local("egress-settings"),
    "packages/local/src/egress/internet-lack.ts": local("internet-lack"),
    "packages/local/src/relay/joined-sockets.ts": local("joined-sockets"),
    "packages/local/src/egress/name-resolver.ts": local("name-resolver.isolated"),
    "packages/local/src/egress/sandbox-egress.ts": [local("egress-proxy"), local("egress-requests")],
    "packages/local/src/egress/socks-messages.ts": local("egress-socks"),
    "packages/local/src/egress/socks-proxy.ts": [local("egress-socks"), local("egress-proxy")],
    "packages/local/src/egress/upstream-proxy.ts": [local("egress-dialer"), local("egress-settings")],
  },
  gateway: {
    "packages/local/src/agents/agent-answer.ts": local("webhook-follower"),
    "packages/local/src/agents/agent-connection.ts": [...gatewayTraffic, local("preview-gateway")],
    "packages/local/src/gateway/agent-gateway.ts": [...gatewayTraffic, local("webhook-executions")],
    "packages/local/src/agents/agent-supervisor.ts": local("agent-supervisor"),
    "packages/local/src/agents/agent-target.ts": local("agent-target"),
    "packages/local/src/gateway/cross-origin-access.ts": gatewayTraffic,
    "packages/local/src/relay/exchange.ts": [
      ...gatewayTraffic,
      local("preview-gateway"),
      local("egress-requests"),
    ],
    "packages/local/src/relay/forwarded-headers.ts": [local("forwarded-headers"), local("preview-headers")],
    "packages/local/src/gateway/gateway-server.ts": gatewayTraffic,
    "packages/local/src/gateway/host-guard.ts": local("host-guard"),
    "packages/local/src/relay/poll-backoff.ts": local("webhook-follower"),
    "packages/local/src/gateway/preview-gateway.ts": [local("preview-gateway"), local("preview-tokens")],
    "packages/local/src/gateway/preview-headers.ts": local("preview-headers"),
    "packages/local/src/gateway/preview-target.ts": local("preview-headers"),
    "packages/local/src/gateway/problem-page.ts": local("gateway-refusals"),
    "packages/local/src/gateway/refusal.ts": local("gateway-refusals"),
    "packages/local/src/relay/relayed-socket.ts": gatewayTraffic,
    "packages/local/src/gateway/request-routing.ts": [...gatewayTraffic, local("webhook-executions")],
  },
  webhooks: {
    "packages/local/src/webhooks/async-executions.ts": local("webhook-executions"),
    "packages/local/src/webhooks/callback-request.ts": local("webhook-request.isolated"),
    "packages/local/src/webhooks/callback.ts": local("webhook-callback"),
    "packages/local/src/webhooks/delivery-queue.ts": local("webhook-retries"),
    "packages/local/src/webhooks/delivery-repository.ts": [
      local("webhook-retries"),
      local("webhook-executions"),
      local("remembered-deliveries"),
    ],
    "packages/local/src/webhooks/execution-follower.ts": local("webhook-follower"),
    "packages/local/src/webhooks/webhooks.ts": local("webhook-executions"),
  },
  tokens: {
    "packages/agent/src/access/token-verifier.ts": agent("token-verifier"),
    "packages/client/src/agent/token-cache.ts": client("transport/token-cache"),
    "packages/local/src/tokens/token-issuer.ts": local("token-issuer"),
    "packages/protocol/src/token-claims.ts": "packages/protocol/test/token-claims.test.ts",
    "packages/protocol/src/token-issuer.ts": "packages/protocol/test/token-claims.test.ts",
  },
  "file service": {
    "packages/agent/src/files/byte-range.ts": agent("file-ranges"),
    "packages/agent/src/files/file-entry.ts": agent("file-service"),
    "packages/agent/src/files/file-problem.ts": agent("file-service"),
    "packages/agent/src/files/file-service.ts": agent("file-service"),
    "packages/agent/src/files/file-tunnels.ts": agent("file-tunnels"),
    "packages/agent/src/files/open-file.ts": agent("file-service"),
    "packages/agent/src/files/served-tree.ts": agent("file-tree"),
    "packages/agent/src/files/unreadable-name.ts": agent("file-service"),
    "packages/agent/src/files/upload-form.ts": agent("upload-form"),
  },
  deletion: {
    "packages/client/src/agent/cleanup.ts": client("sandbox/cleanup"),
    "packages/client/src/sandbox/owned-sandboxes.ts": client("sandbox/owned-sandboxes.isolated"),
    "packages/local/src/sandboxes/deadlines.ts": local("deadlines"),
  },
};

/** All they have is there when they are loaded, texts that others depend on. */
export const testedWhenLoaded = new Set([
  "packages/protocol/src/token-claims.ts",
  "packages/protocol/src/token-issuer.ts",
]);

/** Files of these rooms that no quick test reaches: they end machines, so only real ones prove them. What guards each. */
export const notRun = {
  "packages/local/src/sandboxes/sandbox-lifecycle.ts":
    "stopping and deleting end real machines; test/lifecycle.test.ts, test/stuck-machines.test.ts and test/chaos/chaos.test.ts look for what is left.",
  "packages/local/src/sandboxes/sandbox-fleet.ts":
    "what was killed is taken over or removed at the next start; test/restart.test.ts, test/killed-servers.test.ts and test/full-data-directory.test.ts.",
};
