#!/usr/bin/env node
import { keepCompiledCode } from "@cloud-sandbox/server-kit/user-cache";

keepCompiledCode();
// Loaded after the cache is in use, so that its code is kept too.
void import("./serve.js").then(({ serve }) => serve());
