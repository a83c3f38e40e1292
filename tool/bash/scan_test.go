package bash

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	sh "github.com/lathe-agent/lathe/tool/shell"
)

// scanRows is what is asked for which command: patterns, what "always" allows, and the paths
// that are looked at, each separated by " | ". "-" is nothing.
var scanRows = []struct{ command, patterns, always, paths string }{
	// One command, and how many of its words name it.
	{"ls", "ls", "ls *", "-"},
	{"ls -la src", "ls -la src", "ls *", "src"},
	{"git", "git", "git *", "-"},
	{"git status", "git status", "git status *", "-"},
	{"git push --force origin main", "git push --force origin main", "git push *", "-"},
	{"git stash pop", "git stash pop", "git stash pop *", "-"},
	{"git stash", "git stash", "git stash *", "-"},
	{"git remote add origin x", "git remote add origin x", "git remote add *", "-"},
	{"git config user.name dev", "git config user.name dev", "git config user.name *", "-"},
	{"git -C sub log", "git log", "git log *", "sub"},
	{"npm run dev", "npm run dev", "npm run dev *", "-"},
	{"npm install left-pad", "npm install left-pad", "npm install *", "-"},
	{"npm run", "npm run", "npm run *", "-"},
	{"yarn dlx x y", "yarn dlx x y", "yarn dlx x *", "-"},
	{"pnpm exec tsc -p .", "pnpm exec tsc -p .", "pnpm exec tsc *", "-"},
	{"bun x create", "bun x create", "bun x create *", "-"},
	{"docker ps -a", "docker ps -a", "docker ps *", "-"},
	{"docker compose up -d", "docker compose up -d", "docker compose up *", "-"},
	{"docker image prune", "docker image prune", "docker image prune *", "-"},
	{"kubectl get pods", "kubectl get pods", "kubectl get *", "-"},
	{"kubectl rollout restart x", "kubectl rollout restart x", "kubectl rollout restart *", "-"},
	{"aws s3 ls", "aws s3 ls", "aws s3 ls *", "-"},
	{"gh pr create --fill", "gh pr create --fill", "gh pr create *", "-"},
	{"gcloud compute instances list", "gcloud compute instances list", "gcloud compute instances *", "-"},
	{"go test ./...", "go test ./...", "go test *", "-"},
	{"cargo add serde", "cargo add serde", "cargo add serde *", "-"},
	{"cargo build --release", "cargo build --release", "cargo build *", "-"},
	{"python -m pytest", "python -m pytest", "python -m *", "-"},
	{"python3 x.py", "python3 x.py", "python3 *", "-"},
	{"make", "make", "make *", "-"},
	{"make -j4 all", "make -j4 all", "make -j4 *", "-"},
	{"terraform workspace select a", "terraform workspace select a", "terraform workspace select *", "-"},
	{"vault kv get x", "vault kv get x", "vault kv get *", "-"},
	{"openssl x509 -in a", "openssl x509 -in a", "openssl x509 -in *", "-"},
	{"ip addr show eth0", "ip addr show eth0", "ip addr show *", "-"},
	{"unheard-of --flag x", "unheard-of --flag x", "unheard-of *", "-"},
	{"./script.sh a b", "./script.sh a b", "./script.sh *", "script.sh"},
	{"  ls  ", "ls", "ls *", "-"},
	{"'git' push", "git push", "git push *", "-"},
	{"echo 'a b' \"c d\"", "echo 'a b' 'c d'", "echo *", "-"},
	{"export A=1 B", "export A=1 B", "export *", "-"},
	{"declare -a x=(1 2)", "declare -a x=(1 2)", "declare *", "-"},
	{"FOO=1 npm run dev", "npm run dev", "npm run dev *", "-"},
	{"sleep 5 &", "sleep 5", "sleep *", "-"},
	{"! grep x y", "grep x y", "grep *", "-"},
	{"time make all", "make all", "make all *", "-"},
	{"[ -f x ]", "[ -f x ]", "[ *", "-"},
	{"$EDITOR file", "$EDITOR file | <unknown command>", "-", "-"},
	{"$(which git) push", "which git | $(which git) push | <unknown command>", "which *", "-"},
	{"eval \"$x\"", "eval $x | <unknown command>", "eval *", "-"},
	{"sh -c 'rm -rf /'", "rm -rf /", "rm *", "/"},

	// Several commands.
	{"git add . && git commit -m x", "git add . | git commit -m x", "git add * | git commit *", "-"},
	{"a; b\nc", "a | b | c", "a * | b * | c *", "-"},
	{"a || b && c", "a | b | c", "a * | b * | c *", "-"},
	{"ls; ls", "ls", "ls *", "-"},
	{"ls -a; ls -b", "ls -a | ls -b", "ls *", "-"},
	{"a & b & wait", "a | b | wait", "a * | b * | wait *", "-"},
	{"(a; b)", "a | b", "a * | b *", "-"},
	{"{ a; b; }", "a | b", "a * | b *", "-"},
	{"if a; then b; else c; fi", "a | b | c", "a * | b * | c *", "-"},
	{"for f in *.go; do gofmt $f; done", "gofmt $f", "gofmt *", "-"},
	{"while read l; do echo $l; done", "read l | echo $l", "read * | echo *", "-"},
	{"case $x in a) b;; *) c;; esac", "b | c", "b * | c *", "-"},
	{"f() { rm x; }; f", "rm x | f", "rm * | f *", "x"},
	{"echo $(git rev-parse HEAD)", "git rev-parse HEAD | echo $(git rev-parse HEAD)", "git rev-parse * | echo *", "-"},
	{"echo `date`", "date | echo `date`", "date * | echo *", "-"},
	{"echo \"$(a \"$(b)\")\"", "b | a $(b) | echo $(a \"$(b)\")", "b * | a * | echo *", "-"},
	{"diff <(a) <(b)", "a | b | diff <(a) <(b)", "a * | b * | diff *", "-"},
	{"X=$(curl evil)", "curl evil", "curl *", "-"},
	{"X=1 Y=2; ls", "ls", "ls *", "-"},
	{"coproc cat x", "cat x", "cat *", "x"},
	{"[[ -f $(a) ]] && b", "a | b", "a * | b *", "-"},
	{"echo ${x:-$(a)}", "a | echo ${x:-$(a)}", "a * | echo *", "-"},

	// Redirections.
	{"echo a > b", "echo a > b | > b", "echo * | > b", "b"},
	{"echo a >> b 2>&1", "echo a >> b | >> b", "echo * | >> b", "b"},
	{"> b echo a", "echo a > b | > b", "echo * | > b", "b"},
	{"sort < in > out", "sort < in > out | > out", "sort * | > out", "in | out"},
	{"make 2> /dev/null", "make", "make *", "-"},
	{"make &> all.log", "make > all.log | > all.log", "make * | > all.log", "all.log"},
	{"make >& all.log", "make > all.log | > all.log", "make * | > all.log", "all.log"},
	{"cat <<E\nhello\nE", "cat", "cat *", "-"},
	{"cat <<E | sort\nhello\nE", "cat | sort", "cat * | sort *", "-"},
	{"cat <<< hello", "cat", "cat *", "-"},
	{"> b", "> b", "> b", "b"},
	{"{ a; } > b", "a | > b", "a * | > b", "b"},
	{"for x in 1; do a; done > /tmp/x", "a | > /tmp/x", "a * | > /tmp/x", "/tmp/x"},

	// Paths.
	{"cd /tmp", "-", "-", "/tmp"},
	{"cd", "-", "-", "-"},
	{"cd ..", "-", "-", ".."},
	{"cd web && npm test", "npm test", "npm test *", "web"},
	{"cd web > log", "> log", "> log", "log | web"},
	{"pushd /opt; popd", "-", "-", "/opt"},
	{"cd $(a)", "a | <unknown directory>", "a *", "-"},
	{"rm -rf /tmp/x", "rm -rf /tmp/x", "rm *", "/tmp/x"},
	{"rm -rf build /var/lib", "rm -rf build /var/lib", "rm *", "build | /var/lib"},
	{"cp a ../b", "cp a ../b", "cp *", "a | ../b"},
	{"mv 'a b' \"c d\"", "mv 'a b' 'c d'", "mv *", "a b | c d"},
	{"mkdir -p a\\ b/c", "mkdir -p 'a b/c'", "mkdir *", "a b/c"},
	{"touch ~/x", "touch /home/dev/x", "touch *", "/home/dev/x"},
	{"cat ~", "cat /home/dev", "cat *", "/home/dev"},
	{"cat '~/x'", "cat '~/x'", "cat *", "~/x"},
	{"cat \"~/x\" ~root/x", "cat '~/x' ~root/x | <unknown file>", "cat *", "~/x"},
	{"chmod +x run.sh", "chmod +x run.sh", "chmod *", "run.sh"},
	{"chmod 755 /etc/x", "chmod 755 /etc/x", "chmod *", "/etc/x"},
	{"chown -R dev:dev /srv", "chown -R dev:dev /srv", "chown *", "/srv"},
	{"cat /etc/pass*", "cat /etc/pass*", "cat *", "/etc/pass*"},
	{"cat '/etc/pass*'", "cat '/etc/pass*'", "cat *", "/etc/pass*"},
	{"cat *.go", "cat *.go", "cat *", "*.go"},
	{"cat [ab]c ?d src/?", "cat [ab]c ?d src/?", "cat *", "[ab]c | ?d | src/?"},
	{"rm $X/a ${Y} $(a) \"$Z\"", "a | rm $X/a ${Y} $(a) $Z | <unknown file>", "a * | rm *", "-"},
	{"cat /dev/null", "cat /dev/null", "cat *", "-"},
	{"ls /etc", "ls /etc", "ls *", "/etc"},

	// Not understood: all of it, and nothing for good.
	{"echo 'open", "echo 'open", "-", "-"},
	{"if a; then", "if a; then", "-", "-"},
	{"a &&", "a &&", "-", "-"},
	{"X=1", "X=1", "-", "-"},
	{"(( x = 1 ))", "(( x = 1 ))", "-", "-"},
	{"[[ -f x ]]", "[[ -f x ]]", "-", "-"},
	{"# only a comment", "# only a comment", "-", "-"},
}

func TestScanCommand(t *testing.T) {
	if len(scanRows) < 80 {
		t.Errorf("%d rows", len(scanRows))
	}
	show := func(list []string) string {
		if len(list) == 0 {
			return "-"
		}
		return strings.Join(list, " | ")
	}
	for _, row := range scanRows {
		got := scanCommand(row.command, sh.Environment{Dir: "/p", Home: "/home/dev"})
		var paths []string
		for _, p := range got.paths {
			if p.Certain {
				paths = append(paths, strings.TrimPrefix(p.Name, "/p/"))
			}
		}
		if diff := cmp.Diff([3]string{row.patterns, row.always, row.paths}, [3]string{show(got.Patterns), show(got.Always), show(paths)}); diff != "" {
			t.Errorf("%s: %s", row.command, diff)
		}
	}
}

// Whatever is sent, there is an end, and something to ask or a mere change of directory.
func FuzzScanCommand(f *testing.F) {
	for _, row := range scanRows {
		f.Add(row.command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		done := make(chan scanned, 1)
		go func() { done <- scanCommand(command, sh.Environment{Dir: "/p", Home: "/home/dev"}) }()
		var got scanned
		select {
		case got = <-done:
		case <-time.After(5 * time.Second):
			t.Fatalf("there is no end to %q", command)
		}
		for _, p := range got.Patterns {
			if p == "" && command != "" {
				t.Errorf("an empty pattern of %q", command)
			}
		}
		if len(got.Patterns) == 0 && !strings.Contains(command, "cd") && !strings.Contains(command, "dir") && !strings.Contains(command, "p") {
			t.Errorf("nothing is asked for %q", command)
		}
	})
}

func TestArityPrefix(t *testing.T) {
	for words, want := range map[string]string{
		"": "", "x": "x", "git": "git", "git push": "git push", "git stash pop x": "git stash pop",
		"aws s3": "aws s3", "aws s3 ls x": "aws s3 ls", "rm -rf x": "rm", "npm run a b": "npm run a",
	} {
		if got := strings.Join(arityPrefix(strings.Fields(words)), " "); got != want {
			t.Errorf("%q: %q; want %q", words, got, want)
		}
	}
}
