{
  # nix run github:lathe-agent/lathe, or nix profile install github:lathe-agent/lathe.
  description = "A coding agent for your terminal, editor and CI";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forEach = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in
    {
      packages = forEach (pkgs: {
        default = pkgs.buildGoModule {
          pname = "lathe";
          version = self.shortRev or "dev";
          src = self;
          subPackages = [ "cmd/lathe" ];
          # Hash of what `go mod vendor` writes. When go.mod has changed, the build fails and prints the new one.
          vendorHash = "sha256-nqq7qxi2EemoyyUjXiYODpeXjqgsxh4zm56jruRHVS0=";
          env.CGO_ENABLED = 0;
          ldflags = [ "-s" "-w" "-X main.version=${self.shortRev or "dev"}" ];
          doCheck = false; # the tests start servers and sandboxes
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            installShellCompletion --cmd lathe \
              --bash <($out/bin/lathe completion bash) --zsh <($out/bin/lathe completion zsh) --fish <($out/bin/lathe completion fish)
            $out/bin/lathe man > lathe.1 && installManPage lathe.1
          '';
          meta = {
            description = "A coding agent for your terminal, editor and CI";
            homepage = "https://github.com/lathe-agent/lathe";
            license = pkgs.lib.licenses.mit;
            mainProgram = "lathe";
          };
        };
      });

      devShells = forEach (pkgs: {
        default = pkgs.mkShell { packages = [ pkgs.go pkgs.git pkgs.ripgrep pkgs.tmux ]; };
      });
    };
}
