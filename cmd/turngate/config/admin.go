package config

import (
	"net"
	"net/netip"
)

// admin checks that operators' data are not open to everyone by accident.
func (l *loader) admin() {
	s := &l.settings
	if s.AdminKeyEnv != "" {
		s.AdminKey = l.secret(l.from["admin-key-env"], s.AdminKeyEnv)
		return
	}
	if s.AdminListen != Off && !s.AdminAllowRemote && !isLoopback(s.AdminListen) {
		l.faults.add(l.from["admin-listen"], "others can reach %s, and it asks for no key: set --admin-key-env, or --admin-allow-remote if that is meant", quote(s.AdminListen))
	}
}

// isLoopback reports whether an address can be reached from this machine only.
// Of names only localhost is taken at its word.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
