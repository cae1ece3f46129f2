/** The words that can follow a command. */
export interface Completion {
  /** The command's words, without the program's name: `sandbox create`. */
  readonly path: string;
  readonly words: ReadonlyArray<{ readonly word: string; readonly description: string }>;
}

/** A function for bash: it finds the deepest command in the line, and offers what can follow it; else files. */
export function bashScript(all: readonly Completion[]): string {
  return `${inEachShell(all)}
_cloud_sandbox() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) _cloud_sandbox_words "$path $word" >/dev/null && path="$path $word" ;; esac
  done
  COMPREPLY=($(compgen -W "$(_cloud_sandbox_words "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _cloud_sandbox cloud-sandbox
`;
}

/** The same for zsh. */
export function zshScript(all: readonly Completion[]): string {
  return `#compdef cloud-sandbox
${inEachShell(all)}
_cloud_sandbox() {
  local path_="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) _cloud_sandbox_words "$path_ $word" >/dev/null && path_="$path_ $word" ;; esac
  done
  compadd -- \${=$(_cloud_sandbox_words "$path_")}
  _files
}
if [ "$funcstack[1]" = "_cloud-sandbox" ]; then _cloud_sandbox "$@"; else compdef _cloud_sandbox cloud-sandbox; fi
`;
}

/** A rule for each word in fish's syntax, with descriptions. */
export function fishScript(all: readonly Completion[]): string {
  const rules = all.flatMap(({ path, words }) =>
    words.map(({ description, word }) => {
      const place = `-n '__cloud_sandbox_at "${path}"'`;
      const shown = `-d '${description.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      return word.startsWith("--")
        ? `complete -c cloud-sandbox ${place} -l ${word.slice(2)} ${shown}`
        : `complete -c cloud-sandbox ${place} -f -a ${word} ${shown}`;
    }),
  );
  const paths = all.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  return `function __cloud_sandbox_at
    set -l path ""
    for word in (commandline -opc)[2..-1]
        set -l next (string trim "$path $word")
        if contains -- "$next" ${paths.join(" ")}
            set path $next
        end
    end
    test "$path" = "$argv[1]"
end
${rules.join("\n")}
`;
}

/** A function for bash and zsh that prints the words that can follow a command. It fails if there is no such command. */
function inEachShell(all: readonly Completion[]): string {
  const cases = all.map(({ path, words }) => {
    const place = path === "" ? "" : ` ${path}`;
    return `    "${place}") echo "${words.map(({ word }) => word).join(" ")}" ;;`;
  });
  return `_cloud_sandbox_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}`;
}
