/** Calls for templates that few programs make, loaded with the first of them. */
export { matchImage } from "./image-match.js";
export { buildTemplate } from "./template-build.js";
export { importTemplate } from "./template-import.js";
