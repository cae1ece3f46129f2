#!/usr/bin/env node
/** Starts the server. What takes long to load is loaded once a client that waits for it has had its first answer. */
import { greet } from "./server/greeting.js";

const greeted = await greet(process);
const { serve } = await import("./serve.js");
await serve(greeted);
