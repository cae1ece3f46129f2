#!/usr/bin/env node
// Puts small bugs into the rooms that guard and counts those that their tests find: npm run mutate -- PATH
// PATH is a room's folder or one of its files; the report is docs/reports/mutation.md, a row for each room that was run.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const report = join(root, "docs/reports/mutation.md");

/** The tests of each start no sandbox: a mutant costs a run of them. */
const rooms = {
  addresses: ["packages/local/src/addresses", "packages/local/test/public-address.test.ts"],
  egress: ["packages/local/src/egress", "packages/local/test/{egress-,abandoned-,internet-}*.test.ts"],
  gateway: [
    "packages/local/src/gateway",
    "packages/local/test/{agent-,cross-,file-t,forwarded-,gateway-,preview-}*.test.ts",
  ],
  webhooks: ["packages/local/src/webhooks", "packages/local/test/{webhook-,remembered-}*.test.ts"],
  "token claims": ["packages/protocol/src/token-claims.ts", "packages/protocol/test/token-claims.test.ts"],
  "agent's tokens": [
    "packages/agent/src/token-verifier.ts",
    "packages/agent/test/{authentication,token-verifier}.test.ts",
  ],
  "client's tokens": ["packages/client/src/agent/token-cache.ts", "packages/client/test/token*.test.ts"],
  "agent's files": ["packages/agent/src/files", "packages/agent/test/file*.test.ts"],
  "owned sandboxes": [
    "packages/client/src/sandbox/owned-sandboxes.ts",
    "packages/client/test/owned-sandboxes.test.ts",
  ],
  "clean-up": ["packages/client/src/agent/cleanup.ts", "packages/client/test/{cleanup,creation}.test.ts"],
};

/** Files of them that have tests without a server or a wait: enough alone, and done in seconds. */
const quick = {
  "packages/local/src/egress/destination-pattern.ts": "packages/local/test/egress-{policy,patterns}.test.ts",
  "packages/local/src/egress/destination.ts": "packages/local/test/egress-{policy,patterns}.test.ts",
  "packages/local/src/egress/egress-policy.ts": "packages/local/test/egress-{policy,patterns}.test.ts",
  "packages/local/src/egress/hop-by-hop.ts":
    "packages/local/test/{forwarded-headers,egress-patterns}.test.ts",
  "packages/local/src/egress/name-resolver.ts": "packages/local/test/name-resolver.test.ts",
  "packages/local/src/gateway/forwarded-headers.ts":
    "packages/local/test/{forwarded-headers,preview-headers}.test.ts",
  "packages/local/src/gateway/host-guard.ts": "packages/local/test/host-guard.test.ts",
  "packages/local/src/gateway/preview-headers.ts": "packages/local/test/preview-headers.test.ts",
  "packages/local/src/gateway/preview-target.ts": "packages/local/test/preview-headers.test.ts",
  "packages/local/src/webhooks/callback.ts": "packages/local/test/webhook-callback.test.ts",
  "packages/local/src/webhooks/callback-request.ts": "packages/local/test/webhook-request.test.ts",
  "packages/client/src/agent/cleanup.ts": "packages/client/test/cleanup.test.ts",
  "packages/client/src/agent/token-cache.ts": "packages/client/test/token-cache.test.ts",
  "packages/agent/src/token-verifier.ts": "packages/agent/test/token-verifier.test.ts",
  "packages/agent/src/files/served-tree.ts": "packages/agent/test/file-tree.test.ts",
  "packages/agent/src/files/byte-range.ts": "packages/agent/test/file-ranges.test.ts",
};

/** What they say is said when they are loaded, and to say something else does not break that. */
const isData = new Set(["packages/protocol/src/token-claims.ts"]);

const [path] = process.argv.slice(2).map((given) => given.replace(/^\.\//, "").replace(/\/$/, ""));
const chosen = Object.entries(rooms).filter(
  ([, [place]]) => path !== undefined && (place.startsWith(path) || path.startsWith(place)),
);
if (chosen.length === 0) {
  const places = Object.values(rooms).map(([place]) => place);
  console.error(`Give one of these, a file in it, or a folder above it:\n  ${places.join("\n  ")}`);
  process.exit(1);
}
for (const [room, [place, tests]] of chosen) {
  const mutated = path.startsWith(place) ? path : place;
  tell(
    room,
    mutated,
    await survivorsOf(mutated.endsWith(".ts") ? mutated : `${mutated}/**/*.ts`, quick[mutated] ?? tests),
  );
}

/** What became of each bug. */
async function survivorsOf(mutate, tests) {
  const folder = mkdtempSync(join(tmpdir(), "mutate-"));
  try {
    const [vitest, config, result] = ["vitest.config.mjs", "stryker.json", "result.json"].map((name) =>
      join(folder, name),
    );
    // Some conditions hold after a few seconds only, more than what Vitest waits by itself.
    const test = { include: [tests], testTimeout: 60_000, expect: { poll: { timeout: 15_000 } } };
    writeFileSync(vitest, `export default ${JSON.stringify({ test })};\n`);
    const settings = {
      testRunner: "vitest",
      plugins: ["@stryker-mutator/vitest-runner"],
      vitest: { configFile: vitest, related: false },
      mutate: [mutate],
      // Texts of messages are for people.
      mutator: { excludedMutations: ["StringLiteral"] },
      coverageAnalysis: "perTest",
      // What runs when a file is loaded breaks the loading, which no test counts as found.
      ignoreStatic: !isData.has(mutate),
      concurrency: 1,
      timeoutMS: 10_000,
      tempDirName: join(folder, "copy"),
      ignorePatterns: ["docs", "bench", "examples", "packages/*/dist/testing"],
      reporters: ["json", "progress-append-only"],
      jsonReporter: { fileName: result },
      allowEmpty: true,
      disableTypeChecks: false,
    };
    writeFileSync(config, JSON.stringify(settings));
    const stryker = join(root, "node_modules/.bin/stryker");
    const child = spawn("nice", ["-n", "19", stryker, "run", config], { cwd: root, stdio: "inherit" });
    await new Promise((resolve) => child.on("close", resolve));
    if (!existsSync(result)) throw new Error("No bug could be put in; the lines above say why.");
    const { files } = JSON.parse(readFileSync(result, "utf8"));
    return Object.entries(files).flatMap(([file, { mutants, source }]) =>
      mutants.map((mutant) => ({ ...mutant, file, source })),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the room's row, and a line for each bug that nobody found. */
function tell(room, place, mutants) {
  const counted = mutants.filter(({ status }) => /Killed|Timeout|Survived|NoCoverage/.test(status));
  const lost = counted.filter(({ status }) => /Survived|NoCoverage/.test(status));
  const found = counted.length - lost.length;
  const score = counted.length === 0 ? "–" : `${((100 * found) / counted.length).toFixed(0)} %`;
  const lines = lost.map(({ file, location: { end, start }, mutatorName, replacement, source }) => {
    const line = source.split("\n")[start.line - 1];
    const was = start.line === end.line ? line.slice(start.column - 1, end.column - 1) : line.trim();
    const now = (replacement ?? mutatorName).replace(/\s+/g, " ").slice(0, 80);
    return `- ${file}:${start.line} \`${was}\` → \`${now}\``;
  });
  const sections = existsSync(report) ? JSON.parse(data(readFileSync(report, "utf8"))) : {};
  sections[place] = { room, row: [counted.length, found, score], lines };
  const rows = Object.entries(sections).map(
    ([at, { room, row }]) => `| ${room} | ${at} | ${row.join(" | ")} |`,
  );
  const lists = Object.entries(sections)
    .filter(([, { lines }]) => lines.length > 0)
    .map(([at, { lines }]) => `## Not found in ${at}\n\n${lines.join("\n")}`);
  const text = [
    "<!-- Generated by scripts/mutate.mjs. -->",
    "# Bugs that were put in, and those that tests found",
    "`npm run mutate -- PATH` changes a room's code one place at a time and runs the tests of that room that start no sandbox.\nRooms without a row have not been run.",
    ["| room | path | bugs | found | score |", "|---|---|---|---|---|", ...rows].join("\n"),
    ...lists,
    `<!-- ${JSON.stringify(sections).replaceAll("--", "\\u002d\\u002d")} -->`,
  ];
  mkdirSync(join(root, "docs/reports"), { recursive: true });
  writeFileSync(report, `${text.join("\n\n")}\n`);
  console.log(`${room}: ${found} of ${counted.length} found (${score})`);
}

/** The rows that are there already. */
function data(text) {
  return text.slice(text.lastIndexOf("<!-- ") + 5, text.lastIndexOf(" -->"));
}
