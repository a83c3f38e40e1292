module github.com/lathe-agent/lathe/web/build

go 1.26.6

require (
	github.com/andybalholm/brotli v1.2.7
	github.com/evanw/esbuild v0.28.2
	github.com/klauspost/compress v1.20.3
)

require golang.org/x/sys v0.0.0-20220715151400-c0bba94af5f8 // indirect
