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

// GitDirs returns the top of the checkout that holds a directory, its repository, and the folder
// it shares with other checkouts of it; ok is false where there is none that can be read.
func GitDirs(dir string) (top, repository, common string, ok bool) {
	c, ok := findCheckout(realPath(dir))
	return c.top, c.gitDir, c.common, ok
}
