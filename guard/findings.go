package guard

// found takes a finding of the undeclared rule.
func (g *Guard) found(r *Refusal) *Refusal {
	if !g.active {
		return nil
	}
	return g.foundIn(g.opt.Undeclared, r)
}

// foundIn takes a finding: in mode refuse it becomes the turn's refusal and is
// returned, in mode report it is told once and nil is returned.
func (g *Guard) foundIn(mode Mode, r *Refusal) *Refusal {
	if mode == Refuse {
		g.refused(r, Refuse)
		return r
	}
	if g.once(r.Reason + "\x00" + r.ItemType + "\x00" + deref(r.Namespace) + "\x00" + deref(r.Name) + "\x00" + deref(r.CallID)) {
		g.tell(r, Report)
	}
	return nil
}

func (g *Guard) refused(r *Refusal, m Mode) {
	g.refusal = r
	g.tell(r, m)
}

func (g *Guard) tell(r *Refusal, m Mode) {
	if g.opt.OnRefusal != nil {
		g.opt.OnRefusal(r, m)
	}
}

// unusual tells of something odd that passes, once per key.
func (g *Guard) unusual(kind, key string) {
	if g.opt.OnUnusual != nil && g.once(kind+"\x00"+key) {
		g.opt.OnUnusual(kind)
	}
}

// maxTold bounds what a turn remembers of its findings; those beyond are not
// told.
const maxTold = 1024

func (g *Guard) once(key string) bool {
	if g.told[key] || len(g.told) >= maxTold {
		return false
	}
	if g.told == nil {
		g.told = map[string]bool{}
	}
	g.told[key] = true
	return true
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
