// @module-tag no-sandboxes
import { startTestingBackend } from "./backends/testing-backend.js";
import { contractSuite } from "./contract-suite.js";
import { operationsSuite } from "./operations-suite.js";

contractSuite(startTestingBackend, { forwards: false, hasLinks: false });
operationsSuite(startTestingBackend);
