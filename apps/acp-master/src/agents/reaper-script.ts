// The shell program of the Reaper. Plain POSIX sh; it reads its input to the end and only then does anything.

/**
 * Called as `sh -c SCRIPT acp-master-reaper MARKER`. Lines `+N` and `-N` add and remove a process group; when the input ends
 * every listed group is killed, then every process whose environment holds the marker, twice. A line without its LF was cut
 * off and is not believed. The marker comes as an argument because whoever has it in the environment is killed.
 *
 * One grep looks at all environments at once; where grep stops at a NUL the shell reads them itself, slowly.
 */
export const reaperScript = `
trap '' TERM INT HUP QUIT
cd /
groups=' '
forget() {
  case "$groups" in *" $1 "*) groups="\${groups%% $1 *} \${groups#* $1 }" ;; esac
}
while IFS= read -r line; do
  number=\${line#?}
  case "$number" in ''|0*|1|*[!0-9]*) continue ;; esac
  case "$line" in
    +*) forget "$number"; groups="$groups$number " ;;
    -*) forget "$number" ;;
  esac
done
for group in $groups; do kill -KILL "-$group"; done
[ -d /proc/self ] || exit 0
carriers() {
  if printf 'x\\000y' | grep -q y; then
    grep -lsF -- "ACP_MASTER_RUN=$1" /proc/[0-9]*/environ
    return
  fi
  for file in /proc/[0-9]*/environ; do
    environment=
    IFS= read -r environment < "$file"
    case "$environment" in *"ACP_MASTER_RUN=$1"*) echo "$file" ;; esac
  done
}
sweep() {
  for file in $(carriers "$1"); do
    file=\${file#/proc/}
    kill -KILL "\${file%/environ}"
  done
}
sweep "$1"
sleep 0.1 || sleep 1
sweep "$1"
`;
