// Package workspace knows the directory a session works in.
//
// It owns project identity: which checkout a directory lies in, which repository
// that checkout belongs to, and the id under which its sessions are filed. It does not own the project record:
// the store keeps that, and moves sessions when an id changes ([Place] carries both
// the id and the one another program left behind). To find an identity it never writes
// into a directory.
//
// It also owns the access of tools to files: [Resolve] finds the real path of a name, on which
// rules decide, and the methods of [File] access that path and nothing else.
//
// A repository is hostile until its user says otherwise, so identity is read from files by
// internal/gitobj: bounded, regular files only, includes not followed. No process is started.
//
// Code that runs git on such a repository follows these rules. Its configuration names
// commands, so: -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat with no
// alias, external diff, textconv or filter in reach of the subcommand. It can claim to be a
// partial clone and make git fetch missing objects with a command of its choice:
// GIT_ALLOW_PROTOCOL= prevents that in every version, GIT_NO_LAZY_FETCH=1 earlier in newer
// ones. GIT_TERMINAL_PROMPT=0, GIT_OPTIONAL_LOCKS=0, GIT_CONFIG_NOSYSTEM=1 and LC_ALL=C make it
// quiet and predictable, GIT_CEILING_DIRECTORIES keeps it from answering for a repository
// further up, and all other GIT_ variables of our own environment are removed, since one
// inherited from a hook would name another repository. Give it a deadline, a bounded buffer for
// its output and a WaitDelay for helpers that outlive it.
//
// [Trust] remembers which projects may run the commands of their config.
//
// An identity is a claim, not a proof: the author of .git/config chose it. Use it to file
// sessions; grant powers by real path.
//
// Everything here is a function or a plain value and safe for concurrent use. No
// goroutine outlives its call. A [Memory] is called from the goroutine of [Locate].
//
// Start reading at [Locate] in place.go; checkout.go finds the repository, remote.go
// reads its origin, root.go its first commit. For files, start at [File] in files.go.
package workspace
