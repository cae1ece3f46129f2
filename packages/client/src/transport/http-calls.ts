/** The part of the transport that speaks HTTP. It is loaded with the first call. */
export { incomplete, lacking, malformed, refused } from "./answers/failed-answer.js";
export { openapiClient } from "./openapi-client.js";
