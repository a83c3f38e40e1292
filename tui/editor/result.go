package editor

import "github.com/lathe-agent/lathe"

// Result is what is to be done after a key, a paste or a click. Sealed.
type Result interface{ isResult() }

type (
	// NotHandled says that the key means nothing here.
	NotHandled struct{}
	// Nothing says that all is done.
	Nothing struct{}
	// Submit is a prompt to send: a text, then files and agents. The editor is empty afterwards.
	Submit struct {
		Text  string // as the first part has it
		Parts []lathe.Part
		Draft Draft // for the history
	}
	// ServerCommand is a slash command that the engine knows, to send.
	ServerCommand struct {
		Name, Arguments string
		Parts           []lathe.Part // files and agents of the arguments
		Draft           Draft
	}
	// RunCommand is a slash command of this program.
	RunCommand struct{ Name, Arguments string }
	// Shell is a line for the shell.
	Shell struct {
		Line  string
		Draft Draft
	}
	// WantFiles asks for SetFiles with files that fit.
	WantFiles struct{ Query string }
	// WantDropped asks for files of this machine that were dropped at once: Attach for what goes along as it is,
	// Mention for the rest; or, where one of them cannot be read, for PasteText with the text.
	WantDropped struct {
		Paths []string
		Text  string
	}
	// WantClipboard asks for what the clipboard holds: Attach for a picture, Paste for a text.
	WantClipboard struct{}
	// OpenEditor asks to edit the text elsewhere: Text, then FromEditor.
	OpenEditor struct{}
	// SaveDiscarded asks to keep a text that was thrown away.
	SaveDiscarded struct{ Draft Draft }
	// Stash asks to keep a draft. The editor is empty afterwards.
	Stash struct{ Draft Draft }
	// Unstash asks for Restore with what was kept last.
	Unstash struct{}
	// Quit says that the person wants to leave.
	Quit struct{}
)

func (NotHandled) isResult()    {}
func (Nothing) isResult()       {}
func (Submit) isResult()        {}
func (ServerCommand) isResult() {}
func (RunCommand) isResult()    {}
func (Shell) isResult()         {}
func (WantFiles) isResult()     {}
func (WantDropped) isResult()   {}
func (WantClipboard) isResult() {}
func (OpenEditor) isResult()    {}
func (SaveDiscarded) isResult() {}
func (Stash) isResult()         {}
func (Unstash) isResult()       {}
func (Quit) isResult()          {}
