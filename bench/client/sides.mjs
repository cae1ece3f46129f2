const path = "/workspace/a";

/**
 * The clients that are compared, by name. Each opens a client that makes one small call, and loads its library only
 * then, because the time to load it is measured too.
 */
export const sides = {
  async raw(url) {
    const { Agent, request } = await import("undici");
    const dispatcher = new Agent({ connections: 512 });
    const headers = { authorization: "Bearer token" };
    const address = `${url}/agent/1/files/exists?path=${encodeURIComponent(path)}`;
    return {
      call: async () => (await request(address, { dispatcher, headers })).body.json(),
      close: () => dispatcher.close(),
    };
  },

  ours: (url) => openClient(url),

  /** This client with a logger at the lowest level and all hooks set. */
  watched: (url) => {
    const nothing = () => undefined;
    const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
    const hooks = { onRequest: nothing, onResponse: nothing, onRetry: nothing, onError: nothing };
    return openClient(url, { logger, hooks });
  },

  async vendor(url) {
    const { Sandbox } = await import("@hopx-ai/sdk");
    const sandbox = await Sandbox.connect("1", "bench", url);
    return { call: () => sandbox.files.exists(path), close: async () => undefined };
  },
};

async function openClient(url, options) {
  const { SandboxClient } = await import("cloud-sandbox");
  const client = new SandboxClient({ apiKey: "bench", baseUrl: url, ...options });
  const sandbox = await client.sandboxes.get("1");
  return { call: () => sandbox.files.exists(path), close: () => client.close() };
}
