package config

import (
	"strings"
	"testing"
)

// TestAdminListener opens the admin listener in several directions.
func TestAdminListener(t *testing.T) {
	const open = "others can reach "
	for _, tt := range []struct {
		args  string
		fault string // what it begins with; "": none
	}{
		{"--admin-listen off", ""},
		{"--admin-listen 127.0.0.1:0", ""},
		{"--admin-listen 127.3.2.1:9", ""},
		{"--admin-listen [::1]:9", ""},
		{"--admin-listen [::ffff:127.0.0.1]:9", ""},
		{"--admin-listen localhost:9", ""},
		{"--admin-listen :9", open},
		{"--admin-listen 0.0.0.0:9", open},
		{"--admin-listen [::]:9", open},
		{"--admin-listen 10.0.0.1:9", open},
		{"--admin-listen [fe80::1%eth0]:9", open},
		{"--admin-listen localhost.example:9", open},
		{"--admin-listen :9 --admin-allow-remote", ""},
		{"--admin-listen :9 --admin-allow-remote=false", open},
		{"--admin-listen :9 --admin-key-env ADMIN_KEY", ""},
		{"--admin-listen :9 --admin-key-env NO_KEY", "the environment variable NO_KEY is not set"},
		{"--admin-key-env NO_KEY", "the environment variable NO_KEY is not set"},
		{"--admin-key-env BAD_KEY", "the environment variable BAD_KEY holds a character"},
	} {
		env := home()
		env["ADMIN_KEY"], env["BAD_KEY"] = " k\n", "k\x00"
		s, err := Load(strings.Fields(tt.args), lookup(env))
		switch {
		case tt.fault == "" && err != nil:
			t.Errorf("%s: %v", tt.args, err)
		case tt.fault != "" && (err == nil || !strings.HasPrefix(err.Error(), strings.Fields(tt.args)[0]+": "+tt.fault) &&
			!strings.Contains(err.Error(), "--admin-key-env: "+tt.fault)):
			t.Errorf("%s: error %v, want %s", tt.args, err, tt.fault)
		case err == nil && strings.Contains(tt.args, "ADMIN_KEY") && s.AdminKey != "k":
			t.Errorf("%s: key %q", tt.args, s.AdminKey)
		}
	}
}
