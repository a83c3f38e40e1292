//go:build unix && !linux && !darwin

package sandbox

func (r *Runner) start(c Command, s streams) (tree, error) {
	if !c.Profile.zero() {
		return nil, unsupported()
	}
	return startGroup(c, s, r.grace)
}
