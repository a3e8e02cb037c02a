package proxy

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"turngate/guard"
	"turngate/sse"
)

// route is an upstream at work: its settings, its connections and its counters.
type route struct {
	*Upstream
	base          *url.URL // without user info
	injects       bool
	replays       bool // turngate keeps its state
	withholds     bool // the client's credentials are not forwarded
	authorization string
	secrets       [][]byte        // what of it must not be repeated to a client
	transport     *http.Transport // the proxy's: its connections outlive the route
	m             *upstreamMetrics
}

func newRoute(u *Upstream, m *metrics, transport *http.Transport) (*route, error) {
	if u.BaseURL == nil || u.BaseURL.Host == "" {
		return nil, fmt.Errorf("upstream %q: no base URL", u.Name)
	}
	for _, glob := range append(u.Models[:len(u.Models):len(u.Models)], u.HostedCalls...) {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("upstream %q: pattern %q: %w", u.Name, glob, err)
		}
	}
	base := *u.BaseURL
	base.User = nil
	if !strings.HasPrefix(base.Path, "/") {
		base.Path = "/" + base.Path // URL.JoinPath leaves it out
	}
	return &route{
		Upstream: u, base: &base, injects: u.InjectsKey(), authorization: authorization(u),
		secrets:   secrets(u),
		transport: transport, m: m.forUpstream(u.Name),
	}, nil
}

// tells reports whether a text gives away a credential that the proxy adds.
func (r *route) tells(text []byte) bool {
	return slices.ContainsFunc(r.secrets, func(s []byte) bool { return bytes.Contains(text, s) })
}

// newTransport returns the connections to all upstreams. Reloads do not touch
// them; those to an upstream that is gone are closed when they have been idle.
func newTransport(pool *sse.Buffers) *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer(pool),
		TLSHandshakeTimeout:    15 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           0,    // no limit over all hosts: there are few
		MaxIdleConnsPerHost:    1024, // the default of 2 would dial for nearly every turn
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		WriteBufferSize:        2 << 10, // holds a head; bodies go past it (conn.ReadFrom)
	}
}

// routeFor returns the upstream for a model: the first with a matching glob,
// else the first without globs. A request without a model goes to the one
// without globs, else to the first. nil means that no upstream takes the model.
func (s *settings) routeFor(model string) *route {
	var rest *route
	for _, r := range s.routes {
		if len(r.Models) == 0 && rest == nil {
			rest = r
		}
		if model != "" && guard.MatchesAny(model, r.Models) {
			return r
		}
	}
	if rest == nil && model == "" {
		return s.routes[0]
	}
	return rest
}

// replays reports whether turngate keeps the state of some upstream.
func (s *settings) replays() bool {
	return slices.ContainsFunc(s.routes, func(r *route) bool { return r.replays })
}

// target returns the URL of a path under the upstream's base. rest is a cleaned
// path, in escaped form.
func (r *route) target(rest, query string) *url.URL {
	joined := r.base.JoinPath(rest)
	joined.RawQuery = query
	if r.base.RawQuery != "" {
		joined.RawQuery = r.base.RawQuery
		if query != "" {
			joined.RawQuery += "&" + query
		}
	}
	return joined
}
