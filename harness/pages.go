package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// pageTime limits how long fetching an instruction may take.
const pageTime = 5 * time.Second

// pages fetches instructions from URLs in the background, so that no turn waits. The text of the last fetch counts
// until then, and a new text reaches the model as a change.
type pages struct {
	dir    string // saved texts of earlier fetches
	agent  string // that asks
	log    *slog.Logger
	client *http.Client
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	texts   map[string]string
	arrived int
}

func newPages(dir, agent string, log *slog.Logger) *pages {
	ctx, stop := context.WithCancel(context.Background())
	return &pages{dir: dir, agent: agent, log: log, client: &http.Client{Timeout: pageTime}, ctx: ctx, stop: stop, texts: map[string]string{}}
}

// close ends running fetches.
func (p *pages) close() {
	p.stop()
	p.work.Wait()
}

// count returns a number that rises when a text changes.
func (p *pages) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arrived
}

// text returns the last known text of a URL. The first call starts to fetch it.
func (p *pages) text(address string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text, asked := p.texts[address]; asked {
		return text
	}
	cached := ReadInstruction(p.file(address))
	p.texts[address] = cached
	p.work.Go(func() { p.fetch(address, cached) })
	return cached
}

func (p *pages) file(address string) string {
	sum := sha256.Sum256([]byte(address))
	return filepath.Join(p.dir, hex.EncodeToString(sum[:12])+".md")
}

func (p *pages) fetch(address, cached string) {
	text, err := p.get(p.ctx, address)
	if err != nil {
		p.log.Warn("instructions could not be fetched", "address", RedactURL(address), "error", err)
		return
	}
	if text == cached {
		return
	}
	if err = os.MkdirAll(p.dir, 0o700); err == nil {
		err = os.WriteFile(p.file(address), []byte(text), 0o600)
	}
	if err != nil {
		p.log.Warn("instructions could not be saved", "error", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.texts[address] = text
	p.arrived++
}

func (p *pages) get(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", p.agent)
	resp, err := p.client.Do(req)
	var failed *url.Error
	if errors.As(err, &failed) { // without the address, which may hold a secret
		return "", failed.Err
	}
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the server responded with %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, instructionBytes))
	return string(text), err
}
