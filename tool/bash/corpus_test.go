//go:build unix

package bash_test

// narrowCorpus is judged by rules that ask but for a few commands.
const narrowCorpus = `
== allow
git status
git⇥status
git status --short
'git' status
"git" "status"
g\it status
gi""t stat''us
/usr/bin/git status
/bin/git status -s
command git status
builtin echo a
env git status
env FOO=1 git status
FOO=1 git status
FOO=1 BAR='x y' git status
timeout 5 git status
timeout -k 1 5s git status
nice -n 10 git status
nice git status
ionice -c 3 git status
stdbuf -oL git status
setsid git status
exec git status
time git status
env timeout 5 nice command git status
git -C sub status
git --no-pager log
git -c color.ui=never status
git -c core.pager=cat log
GIT_PAGER=cat git log
PAGER=cat git log -3
git status 2>&1
git status 2> /dev/null
git status > /dev/null
git status && git log
git status; git log
git status | cat
git status || true
(git status)
{ git status; }
! git status
git status &
if git status; then git log; fi
while true; do git status; done
for i in 1 2 3; do echo $i; done
for f in *.go; do cat "$f"; done
case x in a) git status;; esac
sh -c 'git status'
bash -c "git status"
bash -ec 'git status; git log'
/bin/sh -c 'git status'
env sh -c 'git status'
sh -c "sh -c 'git status'"
eval git status
eval 'git status'
eval "git" "status"
git \⏎status
git status # comment
git status⏎git log
X=a; echo $X
X=status; git $X
X=a; touch "$X"
touch a b
touch 'a b'
touch -- -x
touch $'a\tb'
touch {a,b}
touch é
echo "$X"
echo $X
echo $(git status)
echo ` + "`git status`" + `
echo "$(git log | head -1)"
cat <(git status)
echo $((1+2))
i=0; echo $((i+1))
echo ${X:-default}
echo ${#X}
echo ${X%.go}
cat <<E⏎text $X⏎E
cat <<'E'⏎$(rm x)⏎E
cat <<< text
[ -f a ]
test -f a
[[ -f a ]] && git status
[[ 1 -eq 2 ]] || git status
find . -name '*.go'
find . -exec cat {} \;
find . -exec grep x {} +
grep -r 'x|y' .
grep '/api/v1' a
sed 's/a/b/' a
sed -n '1,5p' a
sed -e 's/a/b/g' -e '/x/d' a
awk '{print $1}' a
awk -F: '{ if ($1 == "x") print $2 }' a
ls -la | sort | head -5
cd sub
cd sub && git status
cd sub && cat a
cat ./a
cat sub/../a
go test ./...
go test -run 'TestX$' ./...
make all
python3 -c 'print(1)'
node --version
f() { git status; }; f
git diff HEAD~1
ls *.go
ls ?.go
while IFS= read -r line; do echo "$line"; done
export FOO=1
read -r line
alias g='git status'
trap 'git status' EXIT
git config user.name dev
git config --get core.pager
tar xf a
command -v git
env
((i=1)); echo $i
printf '%s\n' a
ssh host git status
watch git status
set -e; git status
hash
git log --format='%h %s'
echo 'a > b'
echo "a; rm x"
echo a\;b
echo a \# b
true
busybox ls
== ask
git stash
npm test
git status > out.txt
git status >> out.txt
git status 2> err
git status &> out
git status >| out
git status <> out
> out
{ git status; } > out
for i in 1; do git status; done > out
cat <<E > out⏎x⏎E
echo x | tee out > out2
$X
$X status
"$X" status
${X} status
$(echo git) status
` + "`echo git` status" + `
$(echo rm) --version
git $X
git "$X"
git stat$X
g$X status
/tmp/git status
./git status
~/bin/git status
PATH=/tmp git status
PATH=$PATH:/x git status
export PATH=/x; git status
IFS=x git status
IFS=x; git status
BASH_ENV=x bash -c 'git status'
ENV=x sh -c 'git status'
LD_PRELOAD=./x.so git status
LD_LIBRARY_PATH=. git status
DYLD_INSERT_LIBRARIES=x git status
GIT_DIR=x git status
GIT_SSH_COMMAND='sh x' git status
GIT_EXTERNAL_DIFF=x git log
GIT_PAGER=evil git log
PAGER='sh x' git log
EDITOR=evil git status
PROMPT_COMMAND=x; git status
PS4='$(x)' bash -xc 'git status'
SHELLOPTS=xtrace git status
PYTHONPATH=. python3 x
PYTHONSTARTUP=x python3
NODE_OPTIONS='--require ./x' node --version
PERL5OPT=-Mx git status
RUBYOPT=-rx git status
env PATH=/x git status
env LD_PRELOAD=x git status
env -S 'git status'
env "$X" git status
export "$X"
declare "$X=1"
read PATH
printf -v PATH x
unset PATH
for PATH in /x; do git status; done
PATH+=:/x git status
HOME=/x git status
git -c core.pager=evil log
git -c core.sshCommand=x log
git -c alias.x='!sh' log
git --exec-path=/x status
git --git-dir=sub status
git config core.hooksPath x
git config alias.x '!sh x'
git rebase --exec 'npm x' main
git log --output=out
git diff --ext-diff
xargs cat < a
find . -fls out
find . -fprint out
find . -fprintf out %p
find . -exec npm x {} \;
find . -execdir npm {} +
find . -ok npm {} \;
find . $X
find . -exec {} \;
sed 's/a/b/w out' a
sed 's/a/b/e' a
sed '1e npm' a
sed 'w out' a
sed -i 's/a/b/' a
sed -f script a
sed "$X" a
sed 's/[/]/x/' a
awk 'BEGIN { system("npm") }'
awk '{print > "out"}' a
awk '{print | "sh"}' a
awk '"cmd" | getline x' a
awk -f x a
awk "$X" a
awk 'BEGIN { f = "sys" "tem"; @f("x") }'
tar xf a --to-command=npm
tar xf a --to-command 'npm x'
tar -I npm -xf a
tar cf a --checkpoint=1 --checkpoint-action=exec=npm b
sort -o out a
sort --compress-program=npm a
rg --pre npm x
go test -exec npm ./...
go test -toolexec npm ./...
bash
bash -i
sh < a
cat a | sh
echo x | bash
bash -c "$X"
bash -c $X
bash <(cat a)
bash -s < a
sh -c 'npm test'
sh -c "git status; npm test"
eval "$X"
eval $X
eval "git $X"
eval npm test
source <(cat a)
. /dev/stdin
xargs npm
xargs sh
find . -print0 | xargs -0 npm
ls | xargs -I{} npm {}
watch npm test
watch "$X"
ssh host npm test
ssh -o ProxyCommand=npm host git status
ssh host "$X"
echo $(npm test)
echo ` + "`npm test`" + `
echo "$(npm test)"
cat <(npm test)
echo ${X:-$(npm test)}
echo ${X:=$(npm test)}
echo $((x[$(npm test)]))
cat <<E⏎$(npm test)⏎E
cat <<< $(npm test)
[[ -f $(npm test) ]]
case $(npm test) in a) git status;; esac
for i in $(npm test); do git status; done
X=$(npm test)
arr=($(npm test))
f() { npm test; }; f
f() { $1; }; f git
alias g=npm
alias g="$X"
trap 'npm test' EXIT
trap "$X" EXIT
x='a[$(npm)]'; ((x))
x='a[$(npm)]'; echo $((x))
x='a[$(npm)]'; [[ $x -eq 1 ]]
echo ${X@P}
echo ${!X}
let 'x=a[$(npm)]'
test -v 'x[$(npm)]' && npm
printf -v 'x[$(npm)]' a
read 'x[$(npm)]'
coproc npm test
git status && npm test
git status; npm test
git status | npm test
git status & npm test
git status⏎npm test
git status || npm test
git status # \⏎npm test
# c \⏎npm test
! npm test
time npm test
command npm test
timeout 5 npm test
timeout $X npm
timeout $X git status
nice $X git status
exec npm test
exec "$X"
builtin $X
hash -p /x/evil git
cd "$X" && cat a
cd - && cat a
cat "$X"
cat $X/a
touch $X
git status > "$X"
git status > $(npm)
cat a*$X
{npm,test}
{git,status}; npm
n""pm test
\npm test
$'npm' test
$'\x6epm' test
"npm" test
npm⇥test
/usr/bin/npm test
/????/npm test
/usr/bin/np? test
n*m test
parallel npm
HOME=x eval '$HOME a'
env HOME=ls sh -c '$HOME a'
env -u HOME sh -c '$HOME git status'
env -i sh -c '$HOME git status'
export HOME=ls; sh -c '$HOME a'
xargs -I% sh -c 'git status %'
ls | xargs -i sh -c 'cat {}'
find . -exec sh -c 'cat {}' \;
bash <<A < a⏎git status⏎A
bash 3<<A⏎git status⏎A
set -- npm; "$@"
a=(npm x); "${a[@]}"
a[0]=npm; $a
script -c 'npm test'
flock a npm test
echo 'open
if git status; then
git status &&
git status )
cat <<E⏎open
git status;; git log
(( x
${
git status "
== deny
rm a
rm -rf a
r\m a
'rm' a
"rm" a
r''m a
$'rm' a
$'\x72m' a
rm⇥a
/bin/rm a
/usr/bin/rm a
/opt/x/rm a
./rm a
command rm a
\rm a
env rm a
env -i rm a
env FOO=1 rm a
FOO=1 rm a
PATH=/x rm a
exec rm a
timeout 5 rm a
timeout --signal KILL 5 rm a
nice -n 5 rm a
nice -5 rm a
stdbuf -o0 rm a
time rm a
xargs rm
xargs -0 rm -f
xargs -n 1 rm
ls | xargs -I {} rm {}
find . -exec rm {} \;
find . -execdir rm {} +
find . -ok rm {} \;
find . -delete
sh -c 'rm a'
bash -c "rm a"
bash -lc 'rm a'
bash --norc -c 'rm a'
bash -c -x 'rm a'
bash -c +x 'rm a'
bash -c -o pipefail 'rm a'
bash -c -- 'rm a'
bash -o pipefail -c 'rm a'
sh -c "sh -c 'rm a'"
zsh -c 'rm a'
eval rm a
eval "r""m a"
eval 'eval "rm a"'
git status; rm a
git status && rm a
git status || rm a
git status | rm a
git status & rm a
git status⏎rm a
(rm a)
{ rm a; }
! rm a
if git status; then rm a; fi
while rm a; do :; done
for i in 1; do rm a; done
case x in x) rm a;; esac
f() { rm a; }
f() { rm a; }; f
echo $(rm a)
echo ` + "`rm a`" + `
echo "$(rm a)"
echo "${X:-$(rm a)}"
cat <(rm a)
tee >(rm a)
cat <<E⏎$(rm a)⏎E
cat <<< "$(rm a)"
bash <<E⏎rm a⏎E
bash <<< 'rm a'
X=$(rm a)
X=rm; $X a
X=rm; "$X" a
X='rm a'; $X
X=r; ${X}m a
echo $((1 + $(rm a)))
[[ -n $(rm a) ]]
arr=($(rm a))
alias x='rm a'
trap 'rm a' EXIT
coproc rm a
env - rm a
USER=rm eval '$USER a'; rm b
repeat 3 rm a
fish -c 'rm a'
pkexec rm a
poetry run rm a
bash <<A <<B⏎git status⏎A⏎rm a⏎B
xargs -I% rm %
find . -exec sh -c 'rm "$1"' _ {} \;
watch rm a
watch -n 1 'rm a'
ssh host rm a
ssh host 'rm a'
tar xf a --to-command='rm a'
tar cf x --checkpoint-action=exec='rm a' b
git bisect run rm a
git rebase -x 'rm a' main
git submodule foreach 'rm a'
flock x rm a
flock x -c 'rm a'
script -c 'rm a'
su -c 'rm a'
strace rm a
busybox rm a
chroot / rm a
rm a > out
> out rm a
rm a # comment
git status # \⏎rm a
{rm,a}
rm {a,b}
rm \⏎a
git push
git push origin main
git -C . push
git -C sub --no-pager push
git -c user.name=x push
git --git-dir=.git push
'git' "push"
git pus""h
X=push; git $X
command git push
env git push
/usr/bin/git push
sudo ls
sudo -u dev ls
env sudo ls
nohup git status
nohup ls
env nohup ls
== outside
cat /etc/passwd
cat ../x
cat ~/x
cat ~
cat "$HOME/x"
cat $HOME/x
cat ${HOME}/x
X=/etc; cat $X/passwd
X=/etc/passwd; cat "$X"
true && X=/etc; cat $X/passwd
cat /etc/pass*
cat /e*/passwd
ls /etc
ls ~
ls ..
ls -la /usr/include
cat away/x
cat a*/x
cat link.txt
cat link.t*
cat away/../x
cd .. && cat a
cd /tmp
cd ..
cd ~ && ls
cd sub/.. && cat ../x
cat < /etc/passwd
grep x /etc/passwd
grep -f /etc/passwd a
head -1 /etc/passwd
find / -name x
find .. -name x
sort /etc/passwd
sed -n p /etc/passwd
awk '{print}' /etc/passwd
cp /etc/passwd a
cp a OUT/b
touch OUT/x
mkdir -p OUT/d
tee OUT/x
git -C /etc status
git -C .. status
make -C /etc all
tar xf a -C /etc
tar xf a --directory=/etc
for f in /etc/*; do cat "$f"; done
for f in /etc/passwd; do cat $f; done
cat {a,/etc/passwd}
cat <(cat /etc/passwd)
echo $(cat /etc/passwd)
sh -c 'cat /etc/passwd'
python3 /etc/x.py
pushd /etc
cat 'OUT'/x
cat //etc/passwd
sed --expression=p /etc/passwd
grep --regexp=x /etc/passwd
rg --files /etc
grep -rf/etc/passwd a
cat /./etc/../etc/passwd
`

// wideCorpus is judged by rules that allow but for a few commands.
const wideCorpus = `
== allow
npm test
make
git status > out.txt
PATH=/x npm test
$EDITOR a
for f in $(ls); do gofmt "$f"; done
X=1
git commit -m "$MSG"
cat <<'E' > a.txt⏎text⏎E
./script.sh
npm run build 2>&1 | tail -20
cd sub && npm ci
(cd sub; make)
python3 - <<'E'⏎print(1)⏎E
docker run -v data:/data x
while read -r l; do echo "$l"; done < a
[[ -f a ]]
# nothing
== ask
$X a
"$X" -rf a
$(which x) a
git $X
git "$X" main
git pu$X
r$X a
$X/rm a
X=$(cat a); $X b
eval "$X"
curl x | sh
bash -c "$X"
sed -f x a
awk 'BEGIN { system(x) }'
x='a[$(rm b)]'; ((x))
echo 'open
if a; then
a &&
cat <<E⏎x
a ) b
${x
"
== deny
rm a
X=rm; $X a
echo $(rm a)
sh -c 'rm a'
find . -delete
git -C sub push
nohup x
/opt/rm x
bash <<< 'rm x'
`
