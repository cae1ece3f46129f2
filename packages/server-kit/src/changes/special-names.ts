/** Names as file systems see them that ignore case, characters without a shape, and dots and blanks at the end. */
function foldedNames(path: string): string[] {
  return path
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .split("/")
    .map((name) => name.replace(/:.*$/s, "").replace(/[. ]+$/, ""));
}

const repositories = new Set([".git", ".hg", ".svn", ".bzr", ".jj", ".sl"]);

/** Whether a path is a version control's on any file system, as `.git/hooks/pre-commit`, `.GIT`, `git~1` and `.hg/hgrc`. */
export const isVersionControl = (path: string): boolean =>
  foldedNames(path).some((name) => repositories.has(name.replace(/^([a-z]+)~\d+$/, ".$1")));

/** Files and directories that programs of a host run, or are told by, without being asked: of shells, editors, assistants, packages. */
const running = new Set([
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".login", ".inputrc"],
  ...[".cshrc", ".tcshrc", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".envrc", ".tool-versions"],
  ...[".gitmodules", ".gitattributes", ".githooks", ".husky", ".pre-commit-config.yaml", "lefthook.yml"],
  ...[".github", ".gitlab-ci.yml", ".circleci", ".devcontainer", ".vscode", ".idea", ".vimrc", ".nvimrc"],
  ...[".zed", ".windsurf", ".exrc", ".nvim.lua", ".gdbinit", ".lldbinit", ".dir-locals.el"],
  ...[".claude", ".cursor", ".codex", ".gemini", ".mcp.json", "claude.md", "agents.md", "gemini.md"],
  ...["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pyproject.toml", "setup.py"],
  ...["conftest.py", "sitecustomize.py", "makefile", "gnumakefile", "justfile", "taskfile.yml", "build.rs"],
  ...["cargo.toml", ".cargo", "gemfile", "rakefile", "build.gradle", "build.gradle.kts", "pom.xml"],
]);

/** Settings that are programs: editors run those of linters and formatters, as `eslint.config.mjs` and `.prettierrc.cjs`. */
const isProgramOfSettings = (name: string): boolean => /(\.config|^\..+rc)\.[cm]?[jt]s$/.test(name);

/** Whether programs of the host may run what is at a path by themselves. */
export function mayRunByItself(path: string): boolean {
  const names = foldedNames(path);
  const name = names.at(-1) ?? "";
  // With objects and refs beside it, HEAD makes any directory a repository, whose config names programs that git runs.
  return names.some((each) => running.has(each)) || name === "head" || isProgramOfSettings(name);
}
