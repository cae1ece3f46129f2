import { startLocalBackend } from "./backends/local-backend.js";
import { contractSuite } from "./contract-suite.js";
import { operationsSuite } from "./operations-suite.js";

contractSuite(startLocalBackend);
operationsSuite(startLocalBackend);
