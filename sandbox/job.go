package sandbox

import "slices"

// Job is a process that an earlier command left in the background, with all processes below it. Its
// number stays the same for as long as one of them runs.
type Job struct {
	Number    int
	Processes []Process // the first was started by the command
}

// trackedJob is a job that the runner remembers.
type trackedJob struct {
	number int
	tree   tree
	known  []Process // that were seen in it
}

// Jobs returns the jobs that commands of an owner left and that still run, in the order of their
// numbers. See [Command.Owner].
func (r *Runner) Jobs(owner string) (out []Job) {
	r.mu.Lock()
	var trees []tree
	for _, j := range r.jobs[owner] {
		if !slices.Contains(trees, j.tree) {
			trees = append(trees, j.tree)
		}
	}
	r.mu.Unlock()
	for _, t := range trees {
		for _, p := range r.number(owner, t, t.rest()) {
			i := slices.IndexFunc(out, func(j Job) bool { return j.Number == p.Job })
			if i < 0 && p.Job > 0 {
				i, out = len(out), append(out, Job{Number: p.Job})
			}
			if i >= 0 {
				out[i].Processes = append(out[i].Processes, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b Job) int { return a.Number - b.Number })
	return out
}

// number says which jobs the processes of a tree belong to, and forgets the jobs of it that are
// gone. A process with an unknown start could be confused with a later one of the same number,
// so it has none.
func (r *Runner) number(owner string, t tree, rest []Process) []Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, live := r.live[t]; !live || owner == "" {
		return rest
	}
	r.forgetJobs(func(j *trackedJob) bool {
		if j.tree == t {
			j.known = slices.DeleteFunc(j.known, func(k Process) bool { return !slices.ContainsFunc(rest, k.same) })
		}
		return len(j.known) == 0
	})
	last := 0
	for _, j := range r.jobs[owner] {
		last = max(last, j.number)
	}
	for i := range rest {
		p := &rest[i]
		if p.Start == 0 {
			continue
		}
		j, top := r.jobOf(owner, t, *p, rest)
		if j == nil {
			last++
			j = &trackedJob{number: last, tree: t, known: []Process{top}}
			r.jobs[owner] = append(r.jobs[owner], j)
		}
		if p.Job = j.number; !slices.ContainsFunc(j.known, p.same) {
			j.known = append(j.known, *p)
		}
	}
	return rest
}

// jobOf is the job of a process, or of the first one above it that has one. Where none has, it is nil and
// top is the process that begins one.
func (r *Runner) jobOf(owner string, t tree, p Process, rest []Process) (j *trackedJob, top Process) {
	for range rest { // numbers used again meanwhile could make a circle
		for _, j := range r.jobs[owner] {
			if j.tree == t && slices.ContainsFunc(j.known, p.same) {
				return j, p
			}
		}
		i := slices.IndexFunc(rest, func(q Process) bool { return q.PID == p.Parent })
		if i < 0 {
			break
		}
		p = rest[i]
	}
	return nil, p
}

// forgetJobs is called with the mutex held.
func (r *Runner) forgetJobs(gone func(*trackedJob) bool) {
	for owner, jobs := range r.jobs {
		if r.jobs[owner] = slices.DeleteFunc(jobs, gone); len(r.jobs[owner]) == 0 {
			delete(r.jobs, owner)
		}
	}
}

// same reports whether both are the same process: numbers are used again.
func (p Process) same(q Process) bool { return p.PID == q.PID && p.Start == q.Start }
