#!/usr/bin/env node
import { keepCompiledCode } from "@cloud-sandbox/server-kit/user-cache";

keepCompiledCode();
// Loaded after the cache is in use, so that the code of the commands is kept too.
void import("./parse.js").then(({ parse }) => parse(process.argv.slice(2)));
