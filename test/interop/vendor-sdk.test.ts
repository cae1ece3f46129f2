import { describe } from "vitest";
import { startLocalServer } from "../support/local-server.js";
import { vendorSdkSuite } from "./vendor-sdk-suite.js";

describe("the vendor's npm SDK", () => vendorSdkSuite((args) => startLocalServer({ args })));
