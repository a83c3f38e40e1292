package lathe

import "encoding/json"

// Fault is why an answer failed, as messages and events show it: an object with a
// name and data. Sealed.
type Fault interface {
	// Name is the wire's name of the fault.
	Name() string
	record
}

type (
	// ProviderAuthFault says that a provider's credential is missing or wrong.
	ProviderAuthFault struct {
		ProviderID, Message string
		Extra               Extra
	}
	// UnknownFault is anything without a better name. Ref finds it in the log.
	UnknownFault struct {
		Message, Ref string
		Extra        Extra
	}
	// OutputLengthFault says that the answer was cut at the model's output limit.
	OutputLengthFault struct{ Extra Extra }
	// AbortedFault says that the turn was canceled or its process died.
	AbortedFault struct {
		Message string
		Extra   Extra
	}
	// APIFault is an HTTP error of a provider. Header keys are lower case.
	APIFault struct {
		Message         string
		StatusCode      int
		Retryable       bool
		ResponseHeaders json.RawMessage
		ResponseBody    string
		Metadata        json.RawMessage
		Extra           Extra
	}
	// OverflowFault says that the request did not fit the model's context.
	OverflowFault struct {
		Message, ResponseBody string
		Extra                 Extra
	}
	// StructuredOutputFault says that the model gave no valid structured answer.
	StructuredOutputFault struct {
		Message string
		Retries int
		Extra   Extra
	}
	// ContentFilterFault says that the provider withheld the answer.
	ContentFilterFault struct {
		Message string
		Extra   Extra
	}
	// OtherFault is a fault this version does not know, stored as received.
	OtherFault struct {
		TypeName string
		Extra    Extra
	}
)

func (ProviderAuthFault) Name() string     { return "ProviderAuthError" }
func (UnknownFault) Name() string          { return "UnknownError" }
func (OutputLengthFault) Name() string     { return "MessageOutputLengthError" }
func (AbortedFault) Name() string          { return "MessageAbortedError" }
func (APIFault) Name() string              { return "APIError" }
func (OverflowFault) Name() string         { return "ContextOverflowError" }
func (StructuredOutputFault) Name() string { return "StructuredOutputError" }
func (ContentFilterFault) Name() string    { return "ContentFilterError" }
func (f OtherFault) Name() string          { return f.TypeName }

func (f *ProviderAuthFault) fields(c *codec) {
	str(c, "providerID", &f.ProviderID)
	str(c, "message", &f.Message)
	c.rest(&f.Extra)
}

func (f *UnknownFault) fields(c *codec) {
	str(c, "message", &f.Message)
	optStr(c, "ref", &f.Ref)
	c.rest(&f.Extra)
}

func (f *OutputLengthFault) fields(c *codec) { c.rest(&f.Extra) }

func (f *AbortedFault) fields(c *codec) {
	str(c, "message", &f.Message)
	c.rest(&f.Extra)
}

func (f *APIFault) fields(c *codec) {
	str(c, "message", &f.Message)
	optInt(c, "statusCode", &f.StatusCode)
	boolean(c, "isRetryable", &f.Retryable)
	raw(c, "responseHeaders", &f.ResponseHeaders)
	optStr(c, "responseBody", &f.ResponseBody)
	raw(c, "metadata", &f.Metadata)
	c.rest(&f.Extra)
}

func (f *OverflowFault) fields(c *codec) {
	str(c, "message", &f.Message)
	optStr(c, "responseBody", &f.ResponseBody)
	c.rest(&f.Extra)
}

func (f *StructuredOutputFault) fields(c *codec) {
	str(c, "message", &f.Message)
	integer(c, "retries", &f.Retries)
	c.rest(&f.Extra)
}

func (f *ContentFilterFault) fields(c *codec) {
	str(c, "message", &f.Message)
	c.rest(&f.Extra)
}

func (f *OtherFault) fields(c *codec) { c.rest(&f.Extra) }

// newFault returns the empty fault of that name.
func newFault(name string) Fault {
	for _, f := range []Fault{
		&ProviderAuthFault{}, &UnknownFault{}, &OutputLengthFault{}, &AbortedFault{}, &APIFault{},
		&OverflowFault{}, &StructuredOutputFault{}, &ContentFilterFault{},
	} {
		if f.Name() == name {
			return f
		}
	}
	return &OtherFault{TypeName: name}
}

// faultBox is the object around a fault: its name and data, and nothing else ever.
type faultBox struct{ fault Fault }

func (b *faultBox) fields(c *codec) {
	name := ""
	if !c.reading {
		name = b.fault.Name()
	}
	str(c, "name", &name)
	if c.reading {
		b.fault = newFault(name)
	}
	object(c, "data", b.fault)
}

// optFault leaves a nil fault out.
func optFault(c *codec, key string, v *Fault) {
	if !c.reading && *v == nil {
		return
	}
	if c.reading && c.find(key) == nil {
		return
	}
	b := faultBox{fault: *v}
	object(c, key, &b)
	if c.reading { // a writer may share the value with others
		*v = b.fault
	}
}

// EncodeFault writes {"name","data"}, the form of [Message] errors and session.error.
func EncodeFault(f Fault) []byte { return encode(nil, &faultBox{fault: f}) }

// FaultMessage is the text of a fault for people.
func FaultMessage(f Fault) string {
	switch f := f.(type) {
	case *ProviderAuthFault:
		return f.Message
	case *UnknownFault:
		return f.Message
	case *OutputLengthFault:
		return "the answer was cut at the model's output limit"
	case *AbortedFault:
		return f.Message
	case *APIFault:
		return f.Message
	case *OverflowFault:
		return f.Message
	case *StructuredOutputFault:
		return f.Message
	case *ContentFilterFault:
		return f.Message
	case *OtherFault:
		return f.TypeName
	}
	return ""
}
