package main

// programs are asked with --help.
const programs = `tar sed sort env xargs grep wget make less man cp mv rm ls cat head tail wc cut uniq tr tee mkdir touch chmod chown ln stat du df date
	split csplit nl tac paste join comm fold fmt od timeout nice nohup stdbuf install truncate shred sha256sum md5sum base64 diff cmp readlink realpath basename dirname mktemp
	gzip xz zstd bzip2 patch zip jq column strings file xxd hexdump watch docker cargo npm`

// gitCommands are those whose options are looked at. Other commands of git are asked about whole.
const gitCommands = `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry
	cherry-pick clean clone commit commit-graph commit-tree config count-objects describe diff diff-files diff-index diff-tree difftool fast-export fetch for-each-ref format-patch
	fsck gc grep hash-object init log ls-files ls-remote ls-tree merge merge-base merge-tree mktree mv name-rev notes prune pull push range-diff read-tree rebase reflog remote
	repack replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stage stash status stripspace submodule switch symbolic-ref
	tag update-index update-ref var verify-commit verify-pack verify-tag version whatchanged worktree write-tree`

// gitNested are commands with their own commands.
const gitNested = `bundle create verify list-heads unbundle,commit-graph write verify,notes add append copy edit show merge remove prune,remote add rename remove set-head show prune update set-url get-url,` +
	`stash push save list show pop apply branch drop store,worktree add list lock move prune remove repair unlock,sparse-checkout set add list init disable reapply,reflog show expire delete exists`

const cargoCommands = `build check test run bench clean doc fmt clippy add remove update tree metadata fetch vendor`

const dockerCommands = `ps images logs build pull push tag inspect stop start restart rm rmi exec version info top stats port kill wait history search`
