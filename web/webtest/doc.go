// Package webtest holds no code: its tests drive the web app in a real browser against a real server and a scripted model.
// They are skipped where there is no Chromium. Start reading at begin.
package webtest
