package proxy

import (
	"encoding/base64"
	"net/http"
	"net/textproto"
	"strings"
)

// hopByHop reports whether a header ends at the proxy, in either direction.
func hopByHop(k string) bool {
	switch k {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate",
		"Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// requestOwn reports whether turngate sets a request header itself, or keeps it
// to itself.
func requestOwn(k string) bool {
	switch k {
	case "Host", "Content-Length", "Content-Encoding", "Accept-Encoding", "Cookie", "Expect":
		return true
	}
	return false
}

// credential reports whether a header says who the client is to an upstream
// that is addressed with the client's own key. It never reaches another.
func credential(k string) bool {
	switch k {
	case "Authorization", "Api-Key", "X-Api-Key", "Chatgpt-Account-Id",
		"Openai-Organization", "Openai-Project":
		return true
	}
	return false
}

// responseOwn reports whether a response header is not passed on. Location and
// Alt-Svc would lead the client past the gate (G14); cookies are not sent back,
// so they are not set either.
func responseOwn(k string) bool {
	switch k {
	case "Content-Length", "Content-Encoding", "Location", "Alt-Svc", "Set-Cookie":
		return true
	}
	return strings.HasPrefix(k, "X-Turngate-") // nobody else speaks for turngate
}

// upstreamHeader returns the headers that go to the upstream with a request.
func (r *route) upstreamHeader(client http.Header) http.Header {
	h := make(http.Header, len(client)+2)
	for k, v := range client {
		if hopByHop(k) || requestOwn(k) || r.withholds && credential(k) || hasToken(client["Connection"], k) {
			continue
		}
		h[k] = v
	}
	for _, k := range r.DropHeaders {
		delete(h, textproto.CanonicalMIMEHeaderKey(k))
	}
	h["Accept-Encoding"] = []string{"identity"}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // or net/http adds its own
	}
	if r.injects {
		h["Authorization"] = []string{r.authorization}
	}
	return h
}

// authorization returns the header value for an upstream with a key of its own.
func authorization(u *Upstream) string {
	if u.Key != "" {
		return "Bearer " + u.Key
	}
	if u.BaseURL.User != nil {
		password, _ := u.BaseURL.User.Password()
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.BaseURL.User.Username()+":"+password))
	}
	return ""
}

// secrets returns the parts of an upstream's credentials that nobody else may
// see.
func secrets(u *Upstream) [][]byte {
	var all [][]byte
	if u.Key != "" {
		all = append(all, []byte(u.Key))
	}
	if u.BaseURL.User != nil {
		if password, ok := u.BaseURL.User.Password(); ok && password != "" {
			all = append(all, []byte(password))
		}
		_, basic, _ := strings.Cut(authorization(&Upstream{BaseURL: u.BaseURL}), " ")
		all = append(all, []byte(basic))
	}
	return all
}

// copyResponseHeader passes on what an upstream answered. dst keeps what the
// proxy has set already.
func copyResponseHeader(dst, src http.Header) {
	for k, v := range src {
		if hopByHop(k) || responseOwn(k) || hasToken(src["Connection"], k) {
			continue
		}
		dst[k] = v
	}
}

// hasToken reports whether a comma-separated header names token, in any case.
func hasToken(values []string, token string) bool {
	for _, v := range values {
		for t := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(textproto.TrimString(t), token) {
				return true
			}
		}
	}
	return false
}
