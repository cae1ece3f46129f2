import { startLocalBackend } from "./backends/local-backend.js";
import { contractSuite } from "./contract-suite.js";
import { operationsSuite } from "./operations-suite.js";
import { statementsAreListed } from "./statements.js";

contractSuite(startLocalBackend);
operationsSuite(startLocalBackend);
statementsAreListed();
