import { contractSuite } from "./contract-suite.js";
import { startLocalBackend } from "./local-backend.js";
import { operationsSuite } from "./operations-suite.js";
import { statementsAreListed } from "./statements.js";

contractSuite(startLocalBackend);
operationsSuite(startLocalBackend);
statementsAreListed();
