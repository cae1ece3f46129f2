import { contractSuite } from "./contract-suite.js";
import { startLocalBackend } from "./local-backend.js";

contractSuite("the local backend", startLocalBackend);
