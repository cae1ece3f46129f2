import type { TemplateUser } from "../catalogue/template-catalogue.js";

/**
 * Prints the user of that name, as `uid:gid:home:name`. `root`, `sandbox`, `user` and their numbers are the machine's own user.
 * Without root inside, a machine has one user, and all other names of its `/etc/passwd` are names of that user. With it, the
 * user gets `/workspace`, which belongs to root.
 */
export const findUserScript = `wanted=$1 own=$(id -u)
case $wanted in
  root|sandbox|user|0|1000) echo "$own:$(id -g):/home/sandbox:$(id -un)"; exit ;;
esac
while IFS=: read -r name _ uid gid _ home _; do
  [ "$name" = "$wanted" ] || [ "$uid" = "$wanted" ] || continue
  if [ "$own" = 0 ]; then
    chown "$uid:$gid" /workspace || exit
  else
    if [ "$uid" = "$own" ]; then
      { grep "^$name:" /etc/passwd; grep -v "^$name:" /etc/passwd; } >/tmp/passwd && cat /tmp/passwd >/etc/passwd
      rm -f /tmp/passwd
    fi
    uid=$own gid=$(id -g)
  fi
  echo "$uid:$gid:$home:$name"
  exit
done </etc/passwd`;

/** Reads what {@link findUserScript} printed. Undefined if there is no such user, or code may not run as that user. */
export function foundUser(printed: string): TemplateUser | undefined {
  const [, uid = "", gid = "", home = "", name = ""] =
    /^(\d{1,5}):(\d{1,5}):(\/[^:\0]*):([^:\s]+)\n$/.exec(printed) ?? [];
  const ids = { uid: Number(uid), gid: Number(gid) };
  // The last uid inside is the agent's.
  return name === "" || Math.max(ids.uid, ids.gid) > 65_534 ? undefined : { ...ids, home, name };
}

/** The variables by which programs know their user. */
export const userVariables = ({ name, home }: TemplateUser): Readonly<Record<string, string>> => ({
  HOME: home,
  USER: name,
  LOGNAME: name,
});

/**
 * A shell line to put before a command that makes users or groups. The system's programs for that need root. Without it, there is one
 * user, and these functions give it, and its group, further names: files can be given to them, and USER can name them.
 */
export function accountFunctions(command: string): string {
  return /\b(?:useradd|adduser|groupadd|addgroup)\b/.test(command) ? `${functions}\n` : "";
}

const functions = `if [ "$(id -u)" != 0 ]; then
add_name() {
  local file=$1 name=$2 rest=$3
  [[ $name =~ ^[A-Za-z_][A-Za-z0-9_.-]{0,31}$ ]] || { echo "Not a valid name: $name" >&2; return 3; }
  if grep -q "^$name:" "$file"; then echo "$name exists already in $file" >&2; return 9; fi
  echo "$name:x:$rest" >>"$file" && echo "Note: $name is a further name of the one user or group that sandboxes have."
}
add_group() {
  local name=
  while [ $# -gt 0 ]; do
    case $1 in --gid|-*g|--key|-K) shift ;; -*) ;; *) name=\${name:-$1} ;; esac
    shift
  done
  add_name /etc/group "$name" "$(id -g):"
}
add_user() {
  local make=$1 name= home= shell=/bin/sh; shift
  while [ $# -gt 0 ]; do
    case $1 in
      --home|--home-dir) home=$2; shift ;;
      --home=*|--home-dir=*) home=\${1#*=} ;;
      --shell) shell=$2; shift ;;
      --shell=*) shell=\${1#*=} ;;
      --create-home) make=1 ;;
      --no-create-home) make= ;;
      --uid|--gid|--ingroup|--groups|--comment|--gecos|--password|--base-dir|--skel|--expiredate|--inactive|--key) shift ;;
      --*) ;;
      -*)
        case $1 in *[MH]*) make= ;; *m*) make=1 ;; esac
        case $1 in *[dh]) home=$2; shift ;; *s) shell=$2; shift ;; *[bcefgGkKpu]) shift ;; esac ;;
      *) name=\${name:-$1} ;;
    esac
    shift
  done
  home=\${home:-/home/$name}
  add_name /etc/passwd "$name" "$(id -u):$(id -g)::$home:$shell" || return
  grep -q "^$name:" /etc/group || echo "$name:x:$(id -g):" >>/etc/group
  [ -z "$make" ] || mkdir -p -- "$home"
}
useradd() { add_user "" "$@"; }
adduser() { add_user 1 "$@"; }
groupadd() { add_group "$@"; }
addgroup() { add_group "$@"; }
fi`;

/** A shell line that runs a command as another user. Only root inside, who may become one, needs it. */
export function asUser(command: string, user: TemplateUser | undefined): string {
  if (user === undefined || user.uid === 0) return command;
  return `[ "$(id -u)" != 0 ] || exec su -m -s "$BASH" -c ${quoted(command)} -- ${quoted(user.name)}\n${command}`;
}

export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
