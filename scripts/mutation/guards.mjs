const local = (name) => `packages/local/test/${name}.test.ts`;
const agent = (name) => `packages/agent/test/${name}.test.ts`;
const client = (name) => `packages/client/test/${name}.test.ts`;
const egressRules = [local("egress/egress-policy"), local("egress/egress-patterns")];
const gatewayTraffic = ["agent-gateway", "gateway-server", "cross-origin-access", "file-tunnels"].map(
  (name) => local(`gateway/${name}`),
);

/**
 * The files that guard against attacks and mistakes, by topic, with the tests of each. Every mutation runs all tests that
 * cover it, so only the nearest tests are named, and none that starts a sandbox.
 */
export const guards = {
  addresses: {
    "packages/local/src/addresses/public-address.ts": local("egress/public-address"),
  },
  egress: {
    "packages/local/src/relay/destroy-on-abort.ts": local("relay/destroy-on-abort"),
    "packages/local/src/egress/destination-pattern.ts": egressRules,
    "packages/local/src/egress/destination.ts": egressRules,
    "packages/local/src/egress/dialer.ts": local("egress/egress-dialer"),
    "packages/local/src/egress/egress-gateway.ts": [
      local("egress/egress-proxy"),
      local("egress/egress-dialer"),
    ],
    "packages/local/src/egress/egress-log.ts": local("egress/egress-log"),
    "packages/local/src/egress/egress-policy.ts": egressRules,
    "packages/local/src/egress/egress-report.ts": local("egress/egress-settings"),
    "packages/local/src/egress/egress-rules.ts": local("egress/egress-settings"),
    "packages/local/src/egress/hop-by-hop.ts": [
      local("relay/forwarded-headers"),
      local("egress/egress-patterns"),
    ],
    "packages/local/src/egress/http-proxy.ts": [
      local("egress/egress-requests"),
      local("egress/egress-proxy"),
    ],
    "packages/local/src/egress/internet-default.ts": local("egress/egress-settings"),
    "packages/local/src/egress/internet-lack.ts": local("egress/internet-lack"),
    "packages/local/src/relay/joined-sockets.ts": local("relay/joined-sockets"),
    "packages/local/src/addresses/name-servers.ts": local("egress/name-servers.isolated"),
    "packages/local/src/egress/sandbox-egress.ts": [
      local("egress/egress-proxy"),
      local("egress/egress-requests"),
    ],
    "packages/local/src/egress/socks-messages.ts": local("egress/egress-socks"),
    "packages/local/src/egress/socks-proxy.ts": [local("egress/egress-socks"), local("egress/egress-proxy")],
    "packages/local/src/egress/upstream-proxy.ts": [
      local("egress/egress-dialer"),
      local("egress/egress-settings"),
    ],
  },
  gateway: {
    "packages/local/src/agents/agent-answer.ts": local("webhooks/webhook-follower"),
    "packages/local/src/agents/agent-connection.ts": [...gatewayTraffic, local("gateway/preview-gateway")],
    "packages/local/src/gateway/agent-gateway.ts": [
      ...gatewayTraffic,
      local("webhooks/webhook-executions"),
      local("webhooks/webhook-reports"),
    ],
    "packages/local/src/agents/agent-supervisor.ts": local("agents/agent-supervisor"),
    "packages/local/src/agents/agent-target.ts": local("agents/agent-target"),
    "packages/local/src/gateway/cross-origin-access.ts": gatewayTraffic,
    "packages/local/src/relay/exchange.ts": [
      ...gatewayTraffic,
      local("gateway/preview-gateway"),
      local("egress/egress-requests"),
    ],
    "packages/local/src/relay/forwarded-headers.ts": [
      local("relay/forwarded-headers"),
      local("gateway/preview-headers"),
    ],
    "packages/local/src/gateway/gateway-server.ts": gatewayTraffic,
    "packages/local/src/gateway/host-guard.ts": local("gateway/host-guard"),
    "packages/local/src/relay/poll-backoff.ts": local("webhooks/webhook-follower"),
    "packages/local/src/gateway/preview-gateway.ts": [
      local("gateway/preview-gateway"),
      local("gateway/preview-tokens"),
    ],
    "packages/local/src/gateway/preview-headers.ts": local("gateway/preview-headers"),
    "packages/local/src/gateway/preview-target.ts": local("gateway/preview-headers"),
    "packages/local/src/gateway/problem-page.ts": local("gateway/gateway-refusals"),
    "packages/local/src/gateway/refusal.ts": local("gateway/gateway-refusals"),
    "packages/local/src/relay/relayed-socket.ts": gatewayTraffic,
    "packages/local/src/gateway/request-routing.ts": [
      ...gatewayTraffic,
      local("webhooks/webhook-executions"),
      local("webhooks/webhook-reports"),
    ],
  },
  webhooks: {
    "packages/local/src/webhooks/async-executions.ts": [
      local("webhooks/webhook-executions"),
      local("webhooks/webhook-reports"),
    ],
    "packages/local/src/webhooks/callback-request.ts": local("webhooks/webhook-request.isolated"),
    "packages/local/src/webhooks/callback.ts": local("webhooks/webhook-callback"),
    "packages/local/src/webhooks/delivery-queue.ts": local("webhooks/webhook-retries"),
    "packages/local/src/webhooks/delivery-repository.ts": [
      local("webhooks/webhook-retries"),
      local("webhooks/webhook-executions"),
      local("webhooks/webhook-reports"),
      local("webhooks/remembered-deliveries"),
    ],
    "packages/local/src/webhooks/execution-follower.ts": local("webhooks/webhook-follower"),
    "packages/local/src/webhooks/webhooks.ts": [
      local("webhooks/webhook-executions"),
      local("webhooks/webhook-reports"),
    ],
  },
  tokens: {
    "packages/agent/src/access/token-verifier.ts": agent("access/token-verifier"),
    "packages/client/src/agent/token-cache.ts": client("transport/token-cache"),
    "packages/local/src/tokens/token-issuer.ts": local("sandboxes/token-issuer"),
    "packages/protocol/src/token-claims.ts": "packages/protocol/test/token-claims.test.ts",
    "packages/protocol/src/token-issuer.ts": "packages/protocol/test/token-claims.test.ts",
  },
  "file service": {
    "packages/agent/src/files/byte-range.ts": agent("files/file-ranges"),
    "packages/agent/src/files/file-entry.ts": agent("files/file-entries"),
    "packages/agent/src/files/file-problem.ts": agent("files/file-problem"),
    "packages/agent/src/files/file-service.ts": [
      agent("files/file-service"),
      agent("files/file-entries"),
      agent("files/file-service-moves"),
    ],
    "packages/agent/src/files/file-tunnels.ts": agent("files/file-tunnels"),
    "packages/agent/src/files/open-file.ts": agent("files/open-file"),
    "packages/agent/src/files/served-tree.ts": agent("files/file-tree"),
    "packages/agent/src/files/unreadable-name.ts": agent("files/unreadable-name"),
    "packages/agent/src/files/upload-form.ts": agent("files/upload-form"),
  },
  deletion: {
    "packages/client/src/agent/cleanup.ts": client("sandbox/cleanup"),
    "packages/client/src/sandbox/owned-sandboxes.ts": client("sandbox/owned-sandboxes.isolated"),
    "packages/local/src/sandboxes/deadlines.ts": local("sandboxes/deadlines"),
  },
};

/** Files that do their work while they are loaded: their mutations must include that code, and texts. */
export const testedWhenLoaded = new Set([
  "packages/protocol/src/token-claims.ts",
  "packages/protocol/src/token-issuer.ts",
]);

/** Files that only tests with real machines cover, which take too long to run for each mutation, with those tests. */
export const notRun = {
  "packages/local/src/sandboxes/sandbox-lifecycle.ts":
    "stopping and deleting end real machines; test/sandboxes/lifecycle.test.ts, test/server/stuck-machines.test.ts and test/chaos/chaos.test.ts look for what is left.",
  "packages/local/src/sandboxes/sandbox-fleet.ts":
    "the next start adopts or removes the sandboxes of a killed server; test/server/restart.test.ts, test/server/killed-servers.test.ts and test/server/full-data-directory.test.ts.",
};
