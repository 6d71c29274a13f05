#!/usr/bin/env bash
# Runs a folder of escape probes through `bawn run` and prints what each kind of start held.
#
# The folder (BAWN_PROBES) brings run_probes.py, which starts one attack after the other behind a
# command prefix and judges on the host's side, and probe.c, its helper. See usage below.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here

usage() {
  cat <<'TEXT'
usage: BAWN=PROGRAM BAWN_PROBES=FOLDER run.sh [OPTIONS]
  --policy ws|ro|net   workspace-write (default), read-only or open-net
  --modes LIST         of root, user, root-none, user-none ("none" = without namespaces);
                       default: all four, or the user's two when not started by root
  --peers              bubblewrap, firejail, codex and srt too, where they are installed
  --only IDS           only these probes, e.g. F01,P (a letter stands for its group)
  --base DIR           where the arenas go: outside /tmp, which is private inside the wall
  --results DIR        keep logs and JSON there
  --strict             exit 1 when anything escaped or broke that allowed.json does not name, and
                       77 when there are no probes
TEXT
}

die() {
  printf 'probe: %s\n' "$*" >&2
  exit 2
}

policy=ws modes='' peers=false only='' base='' results='' strict=false
while [ $# -gt 0 ]; do
  case $1 in
    --policy) policy=${2:?} && shift ;;
    --modes) modes=${2:?} && shift ;;
    --only) only=${2:?} && shift ;;
    --base) base=${2:?} && shift ;;
    --results) results=${2:?} && shift ;;
    --peers) peers=true ;;
    --strict) strict=true ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && die "unknown option $1" ;;
  esac
  shift
done

declare -A presets=([ws]=workspace-write [ro]=read-only [net]=open-net)
readonly preset=${presets[$policy]:-}
[ -n "$preset" ] || die "--policy is ws, ro or net, not $policy"

probes=${BAWN_PROBES:-}
if [ ! -f "$probes/run_probes.py" ]; then
  printf 'probe: no escape probes here: BAWN_PROBES=%s holds no run_probes.py, so nothing was run\n' "${probes:-(unset)}"
  $strict && exit 77
  exit 0
fi
bawn=$(realpath "${BAWN:?names the program under test}")
[ -x "$bawn" ] || die "$bawn is not a program; build it first"

# An ordinary user who owns nothing on this machine.
readonly uid=12345
as_user=()
if [ "$(id -u)" -eq 0 ]; then
  as_user=(setpriv --reuid "$uid" --regid "$uid" --clear-groups --)
  [ -n "$modes" ] || modes=root,user,root-none,user-none
else
  [ -n "$modes" ] || modes=user,user-none
  case ,$modes, in *,root*) die "the modes root and root-none need root" ;; esac
fi

# The first folder that can be written here and be reached by the ordinary user. Below /tmp the peers
# would find nothing of it: they make that private, and their workspace may not lie in it.
choose_base() {
  local candidate
  for candidate in ${base:+"$base"} "$here/../../build" /srv /var/tmp; do
    case $(realpath -m "$candidate") in
      /tmp | /tmp/*) [ "$candidate" = "$base" ] || continue ;;
    esac
    if [ -w "$candidate" ] && "${as_user[@]}" test -x "$candidate"; then
      mktemp -d "$(realpath "$candidate")/bawn-probe.XXXXXX"
      return
    fi
  done
  die "no folder for the arenas that the ordinary user can reach; name one with --base"
}
scratch=$(choose_base)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
results=${results:-$scratch/results}
mkdir -p "$results"

# A copy: the helper is built beside its source, and that folder may be read-only or unreachable.
mkdir "$scratch/probes"
cp "$probes"/*.py "$probes"/probe.c "$scratch/probes"
gcc -O1 -static -w -o "$scratch/probes/probe" "$scratch/probes/probe.c" -lrt

# A copy of the program too: reachable for the ordinary user, and the same to the end of the run.
mkdir "$scratch/bin"
cp "$bawn" "$scratch/bin/bawn"
[ ! -x "${bawn%/*}/bawn-warden" ] || cp "${bawn%/*}/bawn-warden" "$scratch/bin"
bawn=$scratch/bin/bawn

# run_mode NAME ROOT|USER PREFIX...: one pass; its JSON and its log go to the results. A peer may be
# unable to start anything here; we may not.
is_peer=false
run_mode() {
  local name=$1 who=$2 arena=$scratch/$1 start=() arguments=()
  shift 2
  mkdir "$arena"
  if [ "$who" = user ] && [ ${#as_user[@]} -gt 0 ]; then
    chown "$uid:$uid" "$arena"
    start=("${as_user[@]}")
  fi
  arguments=(--policy "$policy" --arena "$arena" --json "$arena/result.json")
  [ -z "$only" ] || arguments+=(--only "$only")
  printf 'probe: %s\n' "$name" >&2
  # The harness says by its status that something escaped; the table says what.
  "${start[@]}" /usr/bin/python3 "$scratch/probes/run_probes.py" "${arguments[@]}" -- "$@" \
    >"$results/$name.log" 2>&1 </dev/null || true
  if [ -f "$arena/result.json" ] && grep -qE '"verdict": "(held|ESCAPED)"' "$arena/result.json"; then
    cp "$arena/result.json" "$results/$name.json"
  elif [ -f "$arena/result.json" ] && $is_peer; then
    printf 'probe: %s started nothing here, so it is not shown: %s\n' "$name" \
      "$(sed -n 's/.*did not start: //p' "$results/$name.log" | head -n 1)" >&2
  else
    tail -n 5 "$results/$name.log" >&2
    die "the harness did not finish in mode $name"
  fi
  rm -rf "$arena"
}

# Two that npm brings: `npm install @openai/codex @anthropic-ai/sandbox-runtime`, with their commands
# in PATH. They get the same secrets to deny where they can be told.
run_npm_peers() {
  local who settings secret denied=''
  who=$([ "$(id -u)" -eq 0 ] && echo root || echo user)
  if command -v codex >/dev/null; then
    # Below the temporary directory it refuses to keep its files.
    mkdir -p "$scratch/codex-home"
    run_mode "codex-$who" root /usr/bin/env "CODEX_HOME=$scratch/codex-home" \
      "$(command -v codex)" sandbox -P :workspace --
  else
    printf 'probe: codex is not in PATH, so it is not shown\n' >&2
  fi
  if command -v srt >/dev/null; then
    for secret in .ssh .aws .config/gcloud .kube .docker .netrc .npmrc .pypirc .config/gh .gnupg \
      .git-credentials .bash_history; do
      denied+="\"~/$secret\", "
    done
    settings=$scratch/srt.json
    printf '{"filesystem": {"allowWrite": ["."], "denyWrite": [], "denyRead": [%s"/etc/shadow"]},
      "network": {"allowedDomains": [], "deniedDomains": []}}\n' "$denied" >"$settings"
    run_mode "srt-$who" root "$(command -v srt)" --settings "$settings"
  else
    printf 'probe: srt is not in PATH, so it is not shown\n' >&2
  fi
}

# {ws} is replaced by the harness.
wall=("$bawn" run --policy "$preset" --workspace '{ws}' --)
without=(/usr/bin/env BAWN_FEATURES_OFF=namespaces "${wall[@]}")
IFS=, read -ra chosen <<<"$modes"
for mode in "${chosen[@]}"; do
  case $mode in
    root | user) run_mode "$mode" "$mode" "${wall[@]}" ;;
    root-none | user-none) run_mode "$mode" "${mode%-none}" "${without[@]}" ;;
    *) die "unknown mode $mode" ;;
  esac
done

is_peer=true
if $peers; then
  bwrap=(bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind '{ws}' '{ws}'
    --unshare-all --die-with-parent --new-session --)
  if command -v bwrap >/dev/null; then
    [ "$(id -u)" -ne 0 ] || run_mode bwrap-root root "${bwrap[@]}"
    run_mode bwrap-user user "${bwrap[@]}"
  else
    printf 'probe: bubblewrap is not installed, so it is not shown\n' >&2
  fi
  firejail=(firejail --quiet --noprofile --net=none --seccomp --caps.drop=all --nonewprivs
    --ipc-namespace --private-tmp --private-dev --read-only=/ '--read-write={ws}')
  for secret in .ssh .aws .config/gcloud .kube .docker .netrc .npmrc .pypirc .config/gh .gnupg \
    .git-credentials .bash_history; do
    firejail+=("--blacklist={home}/$secret")
  done
  if command -v firejail >/dev/null; then
    run_mode "firejail-$([ "$(id -u)" -eq 0 ] && echo root || echo user)" root "${firejail[@]}" --
  else
    printf 'probe: firejail is not installed, so it is not shown\n' >&2
  fi
  run_npm_peers
fi

if ! /usr/bin/python3 "$here/table.py" "$results" "$policy" && $strict; then
  exit 1
fi
