//go:build unix

package bash_test

import (
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
)

// ordinary are lines of everyday work. After the rule that is before them they are allowed, and
// after the rules that are there without any.
const ordinary = `
== git *
git status
git status -sb
git status --porcelain=v1 -uall
git -C sub status --short
git --no-pager log --oneline -20
git log --oneline --graph --all --decorate -n 10
git log -5 --stat --format='%h %an %s' -- sub
git log --since='2 weeks ago' --author=dev -p -- a
git log -S'func main' --pickaxe-regex
git log -L1,5:a
git log origin/main..HEAD --no-merges
git show HEAD --stat
git show HEAD:a | head -20
git diff
git diff --cached --stat
git diff HEAD~1 -- a b.go
git diff --name-only --diff-filter=ACM main...HEAD
git diff -U10 --word-diff=color
git diff --no-index a b.go
git add -A
git add .
git add -p a
git add *.go
git commit -m "fix: say why"
git commit -am 'wip'
git commit --amend --no-edit
git commit -S -m x --author='A <a@b.c>'
git push
git push -u origin HEAD
git push --force-with-lease origin main
git push origin --tags
git pull --rebase
git pull --ff-only origin main
git fetch --all --prune --tags
git fetch origin pull/12/head:pr-12
git checkout -b feature/x origin/main
git checkout -- a
git switch -c feature
git restore --staged a
git branch -vv --all
git branch -D old
git branch --show-current
git branch --sort=-committerdate --format='%(refname:short)'
git merge --no-ff feature
git merge -X theirs feature
git merge --abort
git rebase -i HEAD~3
git rebase --continue
git rebase --onto main a b
git cherry-pick -x abc123
git revert --no-edit HEAD
git reset --hard HEAD~1
git reset --soft HEAD^
git stash
git stash push -u -m 'x y'
git stash list
git stash pop
git stash show -p stash@{0}
git tag -a v1.0 -m 'v1.0'
git tag -l 'v*'
git remote -v
git remote add up https://example.com/x.git
git clone https://example.com/x.git
git clone --depth 1 --branch main git@example.com:x/y.git dir
git submodule update --init --recursive
git worktree add wt -b x
git worktree list --porcelain
git blame -L 10,20 -w a
git grep -n 'std::vector' -- '*.cc'
git grep -lE 'foo|bar'
git ls-files -m --others --exclude-standard
git ls-tree -r --name-only HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git rev-list --count HEAD
git describe --tags --always --dirty
git shortlog -sne
git reflog -10
git clean -fdx -n
git config user.name dev
git config --get remote.origin.url
git config --list --show-origin
git bisect start
git bisect good v1.0
git apply --check x.patch
git format-patch -1 HEAD --stdout
git cat-file -p HEAD
git show-ref --heads
git archive --format=tar HEAD
git ls-remote --heads origin
git version
git help -a
git rm -r --cached sub
git mv a c
git notes add -m x HEAD
git for-each-ref --format='%(refname)' refs/heads
git merge-base HEAD main
git check-ignore -v a
git gc --prune=now
git init -q -b main new
== go test *
go test ./...
go test -race -count=1 -run 'TestX/sub$' ./tool/...
go test -v -timeout 30s -short ./...
go test -bench . -benchmem -run xxx
go test -coverprofile=cover.out -covermode=atomic ./...
go test ./tool -update
go test -json ./... 2>&1 | tail -20
go test ./... -args -x
== go *
go build ./...
go build -o bin/app ./cmd/app
go build -ldflags "-s -w -X main.version=1.2.3" -trimpath -o bin/app .
go build -tags 'a b' -race
go vet ./...
go run ./cmd/app --flag x
go run . -v
go mod tidy
go mod download -x
go get example.com/x@latest
go list -m -json all
go list -f '{{.Dir}}' ./...
go fmt ./...
go generate ./...
go env GOPATH GOMODCACHE
go install ./cmd/app
go doc strings.Cut
go version
go clean -testcache
go tool cover -func=cover.out
gofmt -l -w .
== npm run *
npm run build
npm run test -- --watch=false --coverage
npm run lint --silent
npm run dev --workspace=web
npm run -s typecheck
npm run build --if-present
npm run env
== npm *
npm ci
npm install --save-dev typescript@5
npm i -D eslint
npm test
npm test -- -t 'x y'
npm ls --depth=0
npm outdated
npm audit --json
npm view react version
npm run build --prefix web
npm --prefix web run build
npm pack --dry-run
npm version patch --no-git-tag-version
== pnpm *
pnpm install --frozen-lockfile
pnpm -r test
pnpm --filter web build --mode production
pnpm run lint --fix
pnpm add -D vitest
== yarn *
yarn
yarn install --immutable
yarn test --ci
yarn workspace web build
== make *
make
make test
make -j8 all
make -C sub build V=1
make test ARGS='-run TestX -v'
make -n
make -f Makefile.ci test
make CC=gcc
make VERSION=1.2.3
== cargo *
cargo build --release
cargo test --workspace --all-features -- --nocapture
cargo clippy --all-targets -- -D warnings
cargo fmt --all -- --check
cargo run --bin x -- -v
cargo +nightly test
== tar *
tar czf out.tgz sub
tar -xzf a.tgz -C sub --strip-components=1
tar xvf a.tar
tar -tvf a.tar
tar --exclude=node_modules -cJf x.tar.xz .
tar cf - sub
== sed *
sed -n '1,20p' a
sed -e 's/a/b/g' -e '/^#/d' a
sed -E 's/(a|b)+/x/' a
sed ':a;N;$!ba;s/\n/ /g' a
sed --quiet 5p a
sed '/x/{n;d}' a
sed '$!d' a
== sort *
sort -u a
sort -t, -k2,2n -r a
sort --unique --reverse a
== grep *
grep -rn 'TODO' --include='*.go' .
grep -rnE "foo|bar" -A3 -B3 sub
grep -c x a
grep -oP '(?<=x)y' a
grep --color=never -il x a b.go
grep -- -x a
grep -e -x a
== rg *
rg -n 'TODO' -g '!vendor' --hidden
rg --files -t go
rg -l -F 'x::y' sub
rg -U --multiline-dotall 'a.*b' -C 3
== find *
find . -name '*.go' -not -path './vendor/*' -type f
find . -maxdepth 2 -mtime -1 -size +10k -print0
find sub \( -name a -o -name b \) -newer a -printf '%p\n'
find . -perm -u+x -empty
== ls *
ls -la
ls -lhtr --group-directories-first sub
== curl *
curl -sS https://example.com
curl -fsSL -H 'Accept: application/json' -X POST -d '{"a":1}' https://example.com/api
curl -s -o /dev/null -w '%{http_code}\n' http://localhost:8080/
curl -I --max-time 5 https://example.com
== docker *
docker ps -a
docker compose up -d --build
docker compose logs -f --tail=100 web
docker compose exec web sh -c 'ls -la'
docker build -t x:latest -f Dockerfile .
docker run --rm -it -p 8080:80 -e A=1 img cmd --flag
docker logs -f --tail 10 x
docker exec -it web bash
== awk *
awk -F: '{print $1}' a
awk -v x=1 'NR==x' a
== xargs *
xargs -0 -n1 -P4 echo
xargs -I{} echo {}
== rsync *
rsync -avz --delete --exclude=.git sub/ b/
== zip *
zip -r a.zip sub
== diff *
diff -u a b.go
diff -ruN --color=always sub sub2
== patch *
patch -p1 --dry-run -i x.patch
== head *
head -20 a
head -c 100 a
== tail *
tail -n +5 a
tail -50 a
tail -f a
== cat *
cat -n a
== du *
du -sh * .git
== cp *
cp -r sub sub3
cp -a a c
== mkdir *
mkdir -p x/y
== xxd *
xxd -l 16 a
== python3 *
python3 -m pytest -x -q tests/
== node *
node --test
== pytest *
pytest -k 'x and y' --maxfail=1
== tsc *
tsc --noEmit -p .
== jq *
jq -r '.a | .b' a
== date *
date -u +%Y-%m-%dT%H:%M:%SZ
== ssh *
ssh -o StrictHostKeyChecking=no -p 22 dev@host echo hi
== less *
less -R a
less +F a
== man *
man 2 open
man -k x
== FOO=1 make test*
FOO=1 make test
FOO=1 make test-all -j4
== git commit -m "*"
git commit -m "any words"
== time *
time make -j4
time go build ./...
== timeout 60 go test *
timeout 60 go test ./...
== /usr/bin/git log*
/usr/bin/git log -3
`

func TestBash_Ordinary(t *testing.T) {
	x := newTerminal(t)
	x.Refuse = "bash"
	for _, name := range []string{"a", "b.go", "sub/a", "sub2/a", "a.tgz", "x.patch", "Makefile.ci"} {
		x.Put(name, "")
	}
	byDefault := lathe.Ruleset{
		{Permission: "*", Pattern: "*", Action: lathe.Allow},
		{Permission: "external_directory", Pattern: "*", Action: lathe.Ask},
		{Permission: "read", Pattern: "*", Action: lathe.Allow},
		{Permission: "read", Pattern: "*.env", Action: lathe.Ask},
		{Permission: "read", Pattern: "*.env.*", Action: lathe.Ask},
	}
	rule, count := "", 0
	for line := range strings.Lines(ordinary) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "== "); ok {
			rule = head
			continue
		}
		if line == "" {
			continue
		}
		count++
		rules := onlyAllowing(rule, "head *", "tail *", "echo *", "ls *", "gofmt *", "sh *", "ls")
		if got := verdict(x, line, rules); got != "allow" {
			p, _ := judged(x, line)
			t.Errorf("%s: is %s under %q\n%q\n%s", line, got, rule, p.Patterns, p.Metadata)
		}
		if got := verdict(x, line, byDefault); got != "allow" {
			t.Errorf("%s: is %s by default", line, got)
		}
		for _, p := range x.Asked {
			if p.Name == "read" && decide(p, byDefault) != lathe.Allow {
				t.Errorf("%s: reading %q is asked by default", line, p.Patterns)
			}
		}
	}
	t.Logf("%d lines", count)
	if count < 150 {
		t.Errorf("%d lines; want 150", count)
	}
}
