import type { EnvironmentVariables } from "../environment-variables.js";
import { type AgentHandlers, now } from "./agent-handlers.js";

export function environmentHandlers(variables: EnvironmentVariables) {
  const answer = () => ({ env_vars: variables.shown(), count: variables.count, timestamp: now() });
  return {
    getEnvironment: answer,

    replaceEnvironment({ body }) {
      if (body.merge) variables.merge(body.env_vars);
      else variables.replace(body.env_vars);
      return answer();
    },

    mergeEnvironment({ body }) {
      variables.merge(body.env_vars);
      return answer();
    },

    clearEnvironment() {
      variables.clear();
      return answer();
    },

    deleteEnvironmentVariable({ params }) {
      variables.delete(params.key);
      return answer();
    },
  } satisfies AgentHandlers;
}
