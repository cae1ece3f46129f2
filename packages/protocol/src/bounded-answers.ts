export { longestAnswer } from "./answer-limits.js";
export { isModestJson } from "./modest-json.js";
