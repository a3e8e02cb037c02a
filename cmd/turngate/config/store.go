package config

import (
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// storeURL says where responses are kept. It may hold a password, so errors do
// not show it.
type storeURL struct{ to *string }

func (v storeURL) String() string {
	if v.to == nil || *v.to == "" {
		return ""
	}
	scheme, _, _ := strings.Cut(*v.to, ":")
	return scheme + ":"
}

func (v storeURL) Set(s string) error {
	if err := checkStore(s); err != nil {
		return err
	}
	*v.to = s
	return nil
}

func checkStore(s string) error {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		scheme = ""
	}
	switch scheme {
	case "memory":
		if rest != "" {
			return errors.New("memory: takes nothing after the colon")
		}
	case "bolt":
		if !filepath.IsAbs(rest) {
			return errors.New("bolt: needs an absolute path: bolt:/var/lib/turngate/responses.db")
		}
	case "redis", "rediss":
		return checkRedis(s)
	case "redis+cluster":
		return checkCluster(strings.TrimPrefix(rest, "//"))
	default:
		return errors.New("is none of bolt:/abs/path, memory:, redis://host/db, rediss://host/db, redis+cluster://h1:p,h2:p")
	}
	return nil
}

func checkRedis(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return errors.New("is not a URL such as redis://127.0.0.1:6379/0")
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if n, err := strconv.Atoi(db); err != nil || n < 0 {
			return errors.New("needs a number as database: redis://127.0.0.1:6379/0")
		}
	}
	return nil
}

// checkCluster looks at the part after "//": [user:password@]host:port,...
func checkCluster(s string) error {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		s = s[at+1:]
	}
	for node := range strings.SplitSeq(strings.TrimSuffix(s, "/"), ",") {
		host, port, err := net.SplitHostPort(node)
		if err != nil || host == "" || port == "" {
			return errors.New("needs host:port for each node: redis+cluster://h1:6379,h2:6379")
		}
	}
	return nil
}
