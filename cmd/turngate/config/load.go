package config

import (
	"os"
	"path/filepath"
)

// Load reads the settings of serve: its arguments, the environment through
// lookup ([os.LookupEnv]) and the file that they name. An empty variable counts
// as unset. The error is [flag.ErrHelp] if the arguments ask for help, else
// [Faults] with everything that is wrong.
func Load(args []string, lookup func(string) (string, bool)) (*Settings, error) {
	l := newLoader(lookup)
	given, err := l.parseFlags(args)
	if err != nil {
		return nil, err
	}
	var list *list
	if path := l.configFile(given); path != "" {
		if text, ok := l.fileText(path); ok {
			list = l.applyFile(path, text)
		}
	}
	l.applyOTel()
	l.applyEnv()
	l.applyFlags(given)
	l.upstreams(list)
	l.crossCheck()
	l.admin()
	l.clientKeys()
	if err := l.faults.err(); err != nil {
		return nil, err
	}
	return &l.settings, nil
}

// loader is one run of Load.
type loader struct {
	options  []Option
	lookup   func(string) (string, bool)
	settings Settings
	from     map[string]string // where an option's value is from, by name; absent: its default
	faults   Faults
}

// newLoader returns a loader with every option at its default.
func newLoader(lookup func(string) (string, bool)) *loader {
	l := &loader{
		options: Options(),
		lookup:  lookup,
		from:    make(map[string]string),
	}
	l.defaults()
	return l
}

// env returns an environment variable; an empty one counts as unset, as
// service managers and compose files cannot unset one.
func (l *loader) env(name string) (string, bool) {
	v, ok := l.lookup(name)
	if !ok {
		v = ""
	}
	return v, v != ""
}

// set gives an option a value and notes where it is from, or what is wrong with
// it. name goes before the fault where the place alone does not tell the option.
func (l *loader) set(o *Option, value, where, name string) {
	if err := o.field(&l.settings).Set(value); err != nil {
		l.faults.add(where, "%s%v", name, err)
		return
	}
	l.from[o.Name] = where
}

// defaults fills in every option's default. That each can be read is checked
// by a test.
func (l *loader) defaults() {
	for i := range l.options {
		if o := &l.options[i]; o.Default != "" {
			_ = o.field(&l.settings).Set(o.Default)
		}
	}
}

// configFile returns the path of the file, which must be known before the
// sources are read in their order.
func (l *loader) configFile(given map[string]string) string {
	for i := range l.options {
		o := &l.options[i]
		if o.Name != "config" {
			continue
		}
		if path, ok := given[o.Name]; ok {
			return path
		}
		path, _ := l.env(o.Env())
		return path
	}
	return ""
}

func (l *loader) applyEnv() {
	for i := range l.options {
		o := &l.options[i]
		if o.Where == FlagOnly {
			continue
		}
		if v, ok := l.env(o.Env()); ok {
			l.set(o, v, o.Env(), "")
		}
	}
}

func (l *loader) applyFlags(given map[string]string) {
	for i := range l.options {
		o := &l.options[i]
		if v, ok := given[o.Name]; ok {
			l.set(o, v, "--"+o.Name, "")
		}
	}
}

// crossCheck looks at what options say together.
func (l *loader) crossCheck() {
	s := &l.settings
	if (s.TLSCert == "") != (s.TLSKey == "") {
		where, missing := l.from["tls-cert"], "--tls-key"
		if s.TLSCert == "" {
			where, missing = l.from["tls-key"], "--tls-cert"
		}
		l.faults.add(where, "needs %s as well", missing)
	}
	if s.StoreURL == "" {
		s.StoreURL = l.defaultStore()
		if s.StoreURL == "" && s.ReplaysAny() {
			l.faults.add("--store", "must be given, as neither XDG_STATE_HOME nor HOME says where to keep responses")
		}
	}
}

// defaultStore returns a file in the user's state directory, or "".
func (l *loader) defaultStore() string {
	dir, ok := l.env("XDG_STATE_HOME")
	if !ok || !filepath.IsAbs(dir) {
		home, ok := l.env("HOME")
		if !ok || !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return "bolt:" + filepath.Join(dir, "turngate", "responses.db")
}

// fileText reads the file, or notes why it cannot be read.
func (l *loader) fileText(path string) ([]byte, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		l.faults.add(path, "cannot be read: %v", cause(err))
		return nil, false
	}
	return text, true
}

// cause returns err without the path that the fault shows already.
func cause(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}
