/**
 * Stands in for the SDK's platform module in the bundle. The original carries a JSON Schema validator, a third of
 * the bundle, for the answers to questions that this server never asks its client.
 */
export { default as process } from "node:process";

export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("This server asks its client for nothing that needs validation.");
  }
}
