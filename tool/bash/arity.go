package bash

import "strings"

// arityPrefix returns the words that name a command: as many as the longest beginning of it
// that the table knows asks for, or the first.
func arityPrefix(words []string) []string {
	for n := min(len(words), 3); n > 0; n-- {
		if arity := arityOf(strings.Join(words[:n], " ")); arity > 0 {
			return words[:min(arity, len(words))]
		}
	}
	return words[:min(1, len(words))]
}

// arityOf returns how many words name the commands that begin so; 0 is unknown.
func arityOf(head string) int {
	switch head {
	case "cat", "cd", "chmod", "chown", "cp", "echo", "env", "export", "grep", "kill", "killall", "ln", "ls", "mkdir",
		"mv", "ps", "pwd", "rm", "rmdir", "sleep", "source", "tail", "touch", "unset", "which":
		return 1
	case "bazel", "brew", "bun", "cargo", "cdk", "cf", "cmake", "composer", "consul", "crictl", "deno", "docker",
		"eksctl", "firebase", "flyctl", "git", "go", "gradle", "helm", "heroku", "hugo", "ip", "kind", "kubectl",
		"kustomize", "make", "mc", "minikube", "mongosh", "mysql", "mvn", "ng", "npm", "nvm", "nx", "openssl", "pip",
		"pipenv", "pnpm", "poetry", "podman", "psql", "pulumi", "pyenv", "python", "rake", "rbenv", "redis-cli",
		"rustup", "serverless", "skaffold", "sls", "sst", "swift", "systemctl", "terraform", "tmux", "turbo", "ufw",
		"vault", "vercel", "volta", "wp", "yarn":
		return 2
	case "aws", "az", "doctl", "gcloud", "gh", "sfdx",
		"bun run", "bun x", "cargo add", "cargo run", "consul kv", "deno task", "docker builder", "docker compose",
		"docker container", "docker image", "docker network", "docker volume", "eksctl create", "git config",
		"git remote", "git stash", "ip addr", "ip link", "ip netns", "ip route", "kind create", "kubectl kustomize",
		"kubectl rollout", "mc admin", "npm exec", "npm init", "npm run", "npm view", "openssl req", "openssl x509",
		"pnpm dlx", "pnpm exec", "pnpm run", "podman container", "podman image", "pulumi stack", "terraform workspace",
		"vault auth", "vault kv", "yarn dlx", "yarn run":
		return 3
	}
	return 0
}
