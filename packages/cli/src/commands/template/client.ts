/** The client library, for modules that define a template: a file of its own in the build. */
export * from "cloud-sandbox";
