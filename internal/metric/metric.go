// Package metric has counters and histograms, and writes them in the format of Prometheus.
//
// A counter and a histogram cost a few atomic additions, so that code can always count. The
// zero value of each is ready. A Page is for one goroutine.
//
// Start reading at Page.
package metric

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// ContentType is that of a page.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// bounds are the upper ends of the buckets of every histogram, in seconds: from a step without a
// model to an answer that takes minutes.
var bounds = [...]float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}

// Histogram counts durations by their length.
type Histogram struct {
	buckets [len(bounds) + 1]atomic.Int64
	sum     atomic.Int64 // nanoseconds
}

// Observe counts one.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for s := d.Seconds(); i < len(bounds) && s > bounds[i]; {
		i++
	}
	h.buckets[i].Add(1)
	h.sum.Add(int64(d))
}

// Count is how many were observed.
func (h *Histogram) Count() (n int64) {
	for i := range h.buckets {
		n += h.buckets[i].Load()
	}
	return n
}

// Labels distinguish metrics of one name, as alternating names and values.
type Labels []string

// Page is a text for Prometheus. Metrics of one name must be adjacent.
type Page struct {
	text []byte
	last string
}

// Bytes returns the written text.
func (p *Page) Bytes() []byte { return p.text }

// Counter writes a figure that only rises.
func (p *Page) Counter(name, help string, value float64, labels ...string) {
	p.head(name, "counter", help)
	p.sample(name, labels, value)
}

// Gauge writes a figure of the moment.
func (p *Page) Gauge(name, help string, value float64, labels ...string) {
	p.head(name, "gauge", help)
	p.sample(name, labels, value)
}

// Histogram writes durations in seconds.
func (p *Page) Histogram(name, help string, h *Histogram, labels ...string) {
	p.head(name, "histogram", help)
	total := int64(0)
	for i := range h.buckets {
		total += h.buckets[i].Load()
		end := "+Inf"
		if i < len(bounds) {
			end = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		p.sample(name+"_bucket", append(labels[:len(labels):len(labels)], "le", end), float64(total))
	}
	p.sample(name+"_sum", labels, time.Duration(h.sum.Load()).Seconds())
	p.sample(name+"_count", labels, float64(total))
}

// head writes what a name means, once.
func (p *Page) head(name, kind, help string) {
	if p.last == name {
		return
	}
	p.last = name
	p.text = append(p.text, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

func (p *Page) sample(name string, labels Labels, value float64) {
	p.text = append(p.text, name...)
	for i := 0; i+1 < len(labels); i += 2 {
		open := ","
		if i == 0 {
			open = "{"
		}
		p.text = append(p.text, open+labels[i]+`="`+escape(labels[i+1])+`"`...)
	}
	if len(labels) > 0 {
		p.text = append(p.text, '}')
	}
	p.text = append(p.text, ' ')
	p.text = strconv.AppendFloat(p.text, value, 'g', -1, 64)
	p.text = append(p.text, '\n')
}

// escape writes a label as the format wants it.
func escape(s string) string {
	if !strings.ContainsAny(s, "\\\"\n") {
		return strings.ToValidUTF8(s, "?")
	}
	return strings.ToValidUTF8(strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s), "?")
}
