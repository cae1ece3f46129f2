import { type BytePath, textOf } from "./byte-path.js";

/** Names as file systems see them that ignore case, characters without a shape, and dots and blanks at the end. */
function foldedNames(path: BytePath): string[] {
  const text = textOf(path).normalize("NFKC").toLowerCase();
  return text
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .split("/")
    .map((name) => name.replace(/:.*$/s, "").replace(/[. ]+$/, ""));
}

/** Whether a path is the version control's on any file system, as `.git/hooks/pre-commit`, `.GIT` and `git~1`. */
export const isVersionControl = (path: BytePath): boolean =>
  foldedNames(path).some((name) => name === ".git" || /^git~\d+$/.test(name));

/** Files and directories that programs of a host run, or are told by, without being asked: of shells, editors, assistants, packages. */
const running = new Set([
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".login", ".inputrc"],
  ...[".cshrc", ".tcshrc", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".envrc", ".tool-versions"],
  ...[".gitmodules", ".gitattributes", ".githooks", ".husky", ".pre-commit-config.yaml", "lefthook.yml"],
  ...[".github", ".gitlab-ci.yml", ".circleci", ".devcontainer", ".vscode", ".idea", ".vimrc", ".nvimrc"],
  ...[".claude", ".cursor", ".codex", ".gemini", ".mcp.json", "claude.md", "agents.md"],
  ...["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pyproject.toml", "setup.py"],
  ...["conftest.py", "sitecustomize.py", "makefile", "gnumakefile", "justfile", "taskfile.yml", "build.rs"],
  ...["cargo.toml", ".cargo", "gemfile", "rakefile", "build.gradle", "build.gradle.kts", "pom.xml"],
]);

/** Whether programs of the host may run what is at a path by themselves. */
export const mayRunByItself = (path: BytePath): boolean =>
  foldedNames(path).some((name) => running.has(name));
