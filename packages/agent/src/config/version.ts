export { version as agentVersion } from "../../package.json";
export const agentName = "cloud-sandbox-agent";
