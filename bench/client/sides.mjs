const path = "/workspace/a";

/** Those who are compared: each knows how to make one small call. What they are made of is loaded when it is asked for. */
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

  /** With a log that takes every line, and hooks for every event. */
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
