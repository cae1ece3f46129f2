/** Tries changes of a repository at once, each in a fork of one prepared sandbox, and applies the first whose tests pass. */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandbox, SandboxClient } from "cloud-sandbox";

const repository = await mkdtemp(join(tmpdir(), "tree-search-"));
const git = (...args) => execFileSync("git", args, { cwd: repository, encoding: "utf8" });
await writeFile(join(repository, "median.py"), "def median(values):\n    return values[len(values) // 2]\n");
await writeFile(
  join(repository, "test_median.py"),
  `import unittest
from median import median

class MedianTest(unittest.TestCase):
    def test_sorts(self):
        self.assertEqual(median([3, 1, 2]), 2)

    def test_takes_the_mean_of_two(self):
        self.assertEqual(median([4, 1, 3, 2]), 2.5)

    def test_changes_nothing(self):
        values = [3, 1, 2]
        median(values)
        self.assertEqual(values, [3, 1, 2])
`,
);
git("init", "--quiet");
git("add", ".");
git("-c", "user.name=example", "-c", "user.email=example@localhost", "commit", "--quiet", "-m", "Add median");

// What a model would propose.
const sorted = "    ordered = sorted(values)\n";
const bodies = [
  "    return sum(values) / len(values)\n",
  "    values.sort()\n    return values[len(values) // 2]\n",
  `${sorted}    return ordered[len(ordered) // 2]\n`,
  `${sorted}    return ordered[(len(ordered) - 1) // 2]\n`,
  "    values.sort()\n    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2\n",
  `${sorted}    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2\n`,
  "    return max(values)\n",
  "    return sorted(values)[0]\n",
];

const client = new SandboxClient();
const prepared = await client.sandboxes.create({ template: "base", timeoutSeconds: 300 });
let forks = [];
try {
  await prepared.files.uploadDirectory(repository, "/workspace/repository");
  forks = (await prepared.fork({ count: bodies.length })).filter((fork) => fork instanceof Sandbox);
  const outcomes = await Promise.all(
    forks.map(async (fork, index) => {
      const path = "/workspace/repository/median.py";
      await fork.files.write(path, `def median(values):\n${bodies[index]}`);
      const tests = await fork.commands.run("python3 -m unittest", { workdir: "/workspace/repository" });
      return { fork, passed: tests.exitCode === 0 };
    }),
  );
  const best = outcomes.find(({ passed }) => passed);
  if (!best) throw new Error("No change passes the tests.");
  const diff = await best.fork.commands.run("git -c safe.directory='*' diff", {
    workdir: "/workspace/repository",
  });
  await writeFile(join(repository, "accepted.patch"), diff.stdout);
  git("apply", "accepted.patch");
  console.log(`${outcomes.filter(({ passed }) => passed).length} of ${forks.length} changes pass the tests.`);
  console.log(await readFile(join(repository, "median.py"), "utf8"));
} finally {
  await Promise.all([prepared, ...forks].map((sandbox) => client.sandboxes.delete(sandbox.id)));
  await client.close();
  await rm(repository, { recursive: true, force: true });
}
