import { contractSuite } from "./contract-suite.js";
import { operationsSuite } from "./operations-suite.js";
import { statementsAreListed } from "./statements.js";
import { startTestingBackend } from "./testing-backend.js";

contractSuite(startTestingBackend);
operationsSuite(startTestingBackend);
statementsAreListed();
