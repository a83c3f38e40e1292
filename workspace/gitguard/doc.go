// Package gitguard keeps a command from changing what the user's git later runs or obeys.
//
// A command sees copies of the configuration files of a repository ([View]). When it has ended,
// [View.Carry] takes over the changes that cannot execute anything, key by key ([Merge]), and names
// the others. [Watch] finds repositories, linked work trees, submodules and rebase instructions that
// a command made or changed, and takes from them what git would execute; guarded files in folders
// below it only names. [Link] keeps the real configuration where no command can reach it.
//
// Everything here handles files that a hostile program wrote: it follows no symlinks but the
// one of [Link], bounds what it reads, and decides by lists of what is allowed, never by lists of what is not.
//
// Start reading at [Merge] for the rules about keys, at [OpenView] for the life of a copy.
package gitguard
