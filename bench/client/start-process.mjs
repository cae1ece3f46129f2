import { sides } from "./sides.mjs";

const [side, url] = process.argv.slice(2);
const started = performance.now();
await import(side === "ours" ? "cloud-sandbox" : "@hopx-ai/sdk");
const imported = performance.now() - started;
const { call } = await sides[side](url);
await call();
console.log(JSON.stringify({ imported, answered: performance.now() - started }));
process.exit();
