import { expect, test } from "vitest";
import { isVersionControl, mayRunByItself } from "../../src/changes/special-names.js";

test.each([
  ...[".git", ".GIT/x", ".git./x", ".git /x", "git~1/x", ".g\u200cit/x", "a/.Git", ".git:x/y"],
  ...[".hg/hgrc", ".Svn/x", "svn~1", ".jj/x"],
])("%j is the version control's on some file system", (path) => {
  expect(isVersionControl(path)).toBe(true);
});

test.each([".gitignore", "git", "x.git", ".github/x", "hg"])("%j is not the version control's", (path) => {
  expect(isVersionControl(path)).toBe(false);
});

test.each([
  ...[".gitmodules", ".envrc", ".vscode/tasks.json", ".idea/x", ".claude/settings.json", ".mcp.json"],
  ...[".husky/x", ".npmrc", ".yarnrc.yml", "a/package.json", "Makefile", ".bashrc", ".zshrc"],
  ...["eslint.config.mjs", ".prettierrc.cjs", "a/vite.config.ts", "assets/HEAD", ".zed/tasks.json"],
])("%j may be run by programs of the host", (path) => {
  expect(mayRunByItself(path)).toBe(true);
});

test.each(["a.txt", "src/make.ts", "head/a.txt", "config.ts", "a.config.json"])(
  "%j is run by nobody",
  (path) => {
    expect(mayRunByItself(path)).toBe(false);
  },
);
