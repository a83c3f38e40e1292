package workspace

// Top returns the directory, absolute and cleaned, and the real path of the top of the
// checkout it lies in; without one, the root of the volume. It asks nothing about identity,
// so it is cheap: a few looks at files.
func Top(dir string) (directory, top string, err error) {
	if directory, err = absolute(dir); err != nil {
		return "", "", err
	}
	if c, ok := findCheckout(realPath(directory)); ok {
		return directory, c.top, nil
	}
	return directory, volumeRoot(directory), nil
}
