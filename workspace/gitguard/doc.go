// Package gitguard prevents a command from changing configuration that the user's git later
// obeys.
//
// A command sees copies of the configuration files of a repository ([View]). When it has ended,
// [View.Carry] takes over the changes that cannot execute anything, key by key ([Merge]), and
// names the others. [Watch] finds repositories, linked work trees, submodules and rebase
// instructions that a command made or changed, and removes from them everything git would
// execute; guarded files in subfolders it only reports. [Link] keeps the real configuration
// where no command can reach it.
//
// Everything here handles files that a hostile program wrote: it follows no symlinks but the
// one of [Link], bounds its reads, and decides by allowlists, never by denylists.
//
// Start reading at [Merge] for the rules about keys, at [OpenView] for the life of a copy.
package gitguard
