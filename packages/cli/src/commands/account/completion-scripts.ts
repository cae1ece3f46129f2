/** The words that can follow a command. */
export interface Completion {
  /** The command's words, without the program's name: `sandbox create`. */
  readonly path: string;
  readonly words: readonly CompletedWord[];
}

export interface CompletedWord {
  readonly word: string;
  readonly description: string;
  /** The short form of an option, as `-e`. */
  readonly short?: string | undefined;
  /** Of an option with a value: the values that are known. A shell offers files if there are none. */
  readonly values?: readonly string[] | undefined;
}

/** A function for bash: it finds the deepest command in the line, and offers what can follow it; else files. */
export function bashScript(all: readonly Completion[]): string {
  return `${inEachShell(all)}
_cloud_sandbox() {
  local path="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) _cloud_sandbox_words "$path $word" >/dev/null && path="$path $word" ;; esac
  done
  words=$(_cloud_sandbox_values "$path" "\${COMP_WORDS[COMP_CWORD-1]}") || words=$(_cloud_sandbox_words "$path")
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _cloud_sandbox cloud-sandbox
`;
}

/** The same for zsh. */
export function zshScript(all: readonly Completion[]): string {
  return `#compdef cloud-sandbox
${inEachShell(all)}
_cloud_sandbox() {
  local path_="" word values_
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) _cloud_sandbox_words "$path_ $word" >/dev/null && path_="$path_ $word" ;; esac
  done
  if values_=$(_cloud_sandbox_values "$path_" "\${words[CURRENT-1]}"); then
    if [ -n "$values_" ]; then compadd -- \${=values_}; else _files; fi
    return
  fi
  compadd -- \${=$(_cloud_sandbox_words "$path_")}
  _files
}
if [ "$funcstack[1]" = "_cloud-sandbox" ]; then _cloud_sandbox "$@"; else compdef _cloud_sandbox cloud-sandbox; fi
`;
}

/** A rule for each word in fish's syntax, with descriptions. */
export function fishScript(all: readonly Completion[]): string {
  const rules = all.flatMap(({ path, words }) =>
    words.map(({ description, short, values, word }) => {
      const condition = `-n '__cloud_sandbox_at "${path}"'`;
      const shown = `-d '${description.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
      const names = `-l ${word.slice(2)}${short === undefined ? "" : ` -s ${short.slice(1)}`}`;
      const value = values === undefined ? "" : values.length > 0 ? ` -x -a '${values.join(" ")}'` : " -r";
      return word.startsWith("--")
        ? `complete -c cloud-sandbox ${condition} ${names}${value} ${shown}`
        : `complete -c cloud-sandbox ${condition} -f -a ${word} ${shown}`;
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

/**
 * Functions for bash and zsh: one prints the words that can follow a command, the other the values of an option of a command.
 * They fail if there is no such command, or if the word is no option with a value.
 */
function inEachShell(all: readonly Completion[]): string {
  const cases = all.map(({ path, words }) => {
    const condition = path === "" ? "" : ` ${path}`;
    return `    "${condition}") echo "${words.map(({ word }) => word).join(" ")}" ;;`;
  });
  const valueCases = all.flatMap(({ path, words }) =>
    words.flatMap(({ short, values, word }) => {
      if (values === undefined) return [];
      const options = [word, ...(short === undefined ? [] : [short])];
      const places = options.map((option) => `"${path === "" ? "" : ` ${path}`} ${option}"`);
      return [`    ${places.join("|")}) echo "${values.join(" ")}" ;;`];
    }),
  );
  return `_cloud_sandbox_words() {
  case "$1" in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
_cloud_sandbox_values() {
  case "$1 $2" in
${valueCases.join("\n")}
    *) return 1 ;;
  esac
}`;
}
