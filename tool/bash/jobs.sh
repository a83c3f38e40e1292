_lathe_is() { read -r _lathe_s < /proc/$1/stat && case "${_lathe_s##*) } " in [ZX]*) false;; *" $2 "*) true;; *) false;; esac || return 1; } 2>/dev/null
_lathe_runs() { case $1 in
RUNS*) return 2;; esac; }
kill() {
[ "${!:-0}" = 0 ] || { OWN kill "$@"; return; }
_lathe_n=$# _lathe_e= _lathe_k=
while [ "$_lathe_n" -gt 0 ]; do
_lathe_n=$((_lathe_n-1)) _lathe_a=$1; shift; _lathe_c=$#
case $_lathe_a in
ADD%*) ;;
[0-9]*) _lathe_k=1; set -- "$@" "$_lathe_a";;
*) set -- "$@" "$_lathe_a";;
esac
case $_lathe_a in %*)
if [ $# -gt "$_lathe_c" ]; then _lathe_k=1; else _lathe_e=1; echo "kill: $_lathe_a: no such job, or it has ended, or it runs in another sandbox; see jobs" >&2; fi;;
esac
done
[ -n "$_lathe_k" ] || [ -z "$_lathe_e" ] || return 1
OWN kill "$@" && [ -z "$_lathe_e" ]
}
wait() {
case "${!:-0} $*" in "0 %"*) ;; *) OWN wait "$@"; return;; esac
for _lathe_a in "$@"; do
_lathe_runs "$_lathe_a" || [ $? = 1 ] || { echo "wait: $_lathe_a: no such job, or it has ended" >&2; return 127; }
while _lathe_runs "$_lathe_a"; do sleep 0.05; done
done
}
jobs() {
[ "${!:-0}" = 0 ] || { OWN jobs "$@"; return; }
case " $* " in *" -p "*) PIDS:;; *) LIST:;; esac
}
