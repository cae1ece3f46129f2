export { languages, limits } from "@cloud-sandbox/protocol/limits";
