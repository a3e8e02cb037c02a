package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// dialerRetries is how often one attempt of a call dials. The calls are tried
// again themselves; with the library's five pauses in each, a server that refuses
// connections would cost every turn all the time that a call may take.
const dialerRetries = 1

// newClient makes a client that heeds the contexts of calls, for a URL.
func newClient(rawURL string) (redis.UniversalClient, error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	switch scheme {
	case "redis", "rediss":
		opt, err := redis.ParseURL(rawURL)
		if err != nil {
			if e := (*url.Error)(nil); errors.As(err, &e) {
				err = e.Err // without the URL, which has the password
			}
			return nil, fmt.Errorf("redis URL: %w", err)
		}
		opt.ContextTimeoutEnabled = true
		if opt.DialerRetries == 0 {
			opt.DialerRetries = dialerRetries
		}
		opt.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		return redis.NewClient(opt), nil
	case "redis+cluster", "rediss+cluster":
		opt, err := clusterOptions(rest)
		if err != nil {
			return nil, fmt.Errorf("redis cluster URL: %w", err)
		}
		if scheme == "rediss+cluster" {
			opt.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		return redis.NewClusterClient(opt), nil
	}
	return nil, errors.New("redis URL: scheme must be redis, rediss, redis+cluster or rediss+cluster")
}

// clusterOptions reads [[user]:password@]host[:port],...
func clusterOptions(rest string) (*redis.ClusterOptions, error) {
	opt := &redis.ClusterOptions{
		ContextTimeoutEnabled:    true,
		DialerRetries:            dialerRetries,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		user, password, _ := strings.Cut(rest[:i], ":")
		var err1, err2 error
		opt.Username, err1 = url.PathUnescape(user)
		opt.Password, err2 = url.PathUnescape(password)
		if err1 != nil || err2 != nil {
			return nil, errors.New("bad escape in user or password")
		}
		rest = rest[i+1:]
	}
	rest = strings.TrimSuffix(rest, "/")
	if strings.ContainsAny(rest, "/?#") {
		return nil, errors.New("a cluster has no databases or options, only hosts")
	}
	for addr := range strings.SplitSeq(rest, ",") {
		if addr == "" {
			return nil, errors.New("empty host")
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			addr = net.JoinHostPort(strings.Trim(addr, "[]"), "6379")
		}
		opt.Addrs = append(opt.Addrs, addr)
	}
	return opt, nil
}
