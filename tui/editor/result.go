package editor

import "github.com/lathe-agent/lathe"

// Result is the follow-up action of a key, a paste or a click. Sealed.
type Result interface{ isResult() }

type (
	// NotHandled says that the key has no meaning here.
	NotHandled struct{}
	// Nothing needs no follow-up.
	Nothing struct{}
	// Submit is a prompt to send: a text, then files and agents. The editor is empty afterwards.
	Submit struct {
		Text  string // the text of the first part
		Parts []lathe.Part
		Draft Draft // for the history
	}
	// ServerCommand is a slash command that the engine knows, to send.
	ServerCommand struct {
		Name, Arguments string
		Parts           []lathe.Part // files and agents of the arguments
		Draft           Draft
	}
	// RunCommand is a slash command of the TUI.
	RunCommand struct{ Name, Arguments string }
	// UnknownCommand is a slash command that nobody knows, or one with a text that it does not take. The text stays in
	// the editor; SubmitText sends it all the same.
	UnknownCommand struct {
		Name    string
		Nearest string // a similar command, "" if there is none
		Known   bool   // the command exists and takes no text
	}
	// Remember is a line for the instructions of the project. The editor is empty afterwards.
	Remember struct {
		Line  string
		Draft Draft
	}
	// Shell is a line for the shell.
	Shell struct {
		Line  string
		Draft Draft
	}
	// WantFiles asks for SetFiles with matching files.
	WantFiles struct{ Query string }
	// WantDropped asks to read dropped local files: call Attach for media,
	// Mention for the rest, or PasteText with the text if one of them cannot be read.
	WantDropped struct {
		Paths []string
		Text  string
	}
	// WantClipboard asks for the clipboard: Attach for an image, Paste for a text.
	WantClipboard struct{}
	// OpenEditor asks to edit the text elsewhere: Text, then FromEditor.
	OpenEditor struct{}
	// SaveDiscarded asks to save a discarded draft.
	SaveDiscarded struct{ Draft Draft }
	// Stash asks to stash a draft. The editor is empty afterwards.
	Stash struct{ Draft Draft }
	// Unstash asks for Restore with the last stashed draft.
	Unstash struct{}
	// CopyText asks to put a text on the clipboard.
	CopyText struct{ Text string }
	// Quit asks to exit.
	Quit struct{}
)

func (NotHandled) isResult()     {}
func (Nothing) isResult()        {}
func (Submit) isResult()         {}
func (ServerCommand) isResult()  {}
func (RunCommand) isResult()     {}
func (UnknownCommand) isResult() {}
func (Remember) isResult()       {}
func (Shell) isResult()          {}
func (WantFiles) isResult()      {}
func (WantDropped) isResult()    {}
func (WantClipboard) isResult()  {}
func (OpenEditor) isResult()     {}
func (SaveDiscarded) isResult()  {}
func (Stash) isResult()          {}
func (Unstash) isResult()        {}
func (CopyText) isResult()       {}
func (Quit) isResult()           {}
