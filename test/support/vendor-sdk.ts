/** The vendor's Node.js SDK, unmodified. Tests take it from here, because axios, which it uses, must find its module. */
import "./follow-redirects.js";

export {
  createTemplate,
  DesktopNotAvailableError,
  FileNotFoundError,
  Sandbox,
  SandboxExpiredError,
  Template,
  waitForPort,
} from "@hopx-ai/sdk";
