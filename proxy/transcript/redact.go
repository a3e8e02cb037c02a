package transcript

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"turngate/guard"
)

// CleanHeader returns a copy of h without what could be a credential.
func CleanHeader(h http.Header) http.Header {
	clean := make(http.Header, len(h))
	for name, values := range h {
		if !secretName(name) && !slices.ContainsFunc(values, secretValue) {
			clean[name] = slices.Clone(values)
		}
	}
	return clean
}

// CleanQuery returns a query without what could be a credential.
func CleanQuery(raw string) string {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return ""
	}
	for name, v := range values {
		if secretName(name) || slices.ContainsFunc(v, secretValue) {
			delete(values, name)
		}
	}
	return values.Encode()
}

// CleanURL returns a URL without user info and without what in its query could
// be a credential.
func CleanURL(u *url.URL) string {
	clean := *u
	clean.User, clean.RawQuery = nil, CleanQuery(u.RawQuery)
	return clean.String()
}

// secretName reports whether a header or query parameter of this name could
// hold a credential or say who pays. It errs on the side of yes.
func secretName(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "x-ratelimit-") { // "remaining-tokens"
		return false
	}
	for _, part := range []string{"auth", "cookie", "key", "token", "secret", "password", "signature",
		"credential", "account", "organization", "project"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// schemes matches how an Authorization header begins, in any case.
const schemes = `(?i)^\s*(bearer|basic|negotiate|digest)\s+`

// secretForm matches values that look like credentials whatever their name:
// schemes of the Authorization header, API keys by their usual prefixes, JSON
// web tokens, and URLs with user info.
var secretForm = regexp.MustCompile(schemes + `|\b(sk|pk|rk|xai|gsk|hf|ghp|gho|ghu|ghs|xox[abp])[-_][a-z0-9_-]{16,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.|://[^/\s@]*@`)

func secretValue(v string) bool { return secretForm.MatchString(v) }

// headSecrets returns the credentials that CleanHeader and CleanQuery leave out,
// so that they can be looked for in the bodies too: an upstream may repeat them.
func headSecrets(h http.Header, query string) []string {
	var all []string
	add := func(name string, values []string) {
		for _, v := range values {
			all = append(all, credentials(name, v)...)
		}
	}
	for name, values := range h {
		add(name, values)
	}
	if values, err := url.ParseQuery(query); err == nil {
		for name, v := range values {
			add(name, v)
		}
	}
	return all
}

// minToken is the length of the shortest value that is looked for in the bodies
// because of its header's name alone; a shorter one may be a word of the
// protocol's.
const minToken = 12

// credentials returns what of a header's value would let somebody else in.
func credentials(name, value string) []string {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, "authorization") || strings.Contains(name, "api-key") || secretValue(value) {
		return partsOf(value)
	}
	var all []string
	for _, part := range []string{"cookie", "key", "token", "secret", "password", "credential"} {
		if !strings.Contains(name, part) {
			continue
		}
		for _, p := range partsOf(value) {
			if len(p) >= minToken {
				all = append(all, p)
			}
		}
	}
	return all
}

// scheme is the part of an Authorization header that is no secret.
var scheme = regexp.MustCompile(schemes)

// partsOf returns what of a value is the secret: a cookie's value without its
// name, a token without its scheme, a password in both its forms.
func partsOf(v string) []string {
	var all []string
	v = scheme.ReplaceAllString(v, "")
	for _, part := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" ,;\t", r) }) {
		all = append(all, part)
		if _, value, found := strings.Cut(part, "="); found {
			all = append(all, value)
		}
		if plain, err := base64.StdEncoding.DecodeString(part); err == nil {
			if _, password, found := strings.Cut(string(plain), ":"); found {
				all = append(all, password)
			}
		}
	}
	return all
}

// bodySecrets returns the credentials that a request hands to its tools: an MCP
// server's authorization and headers, and user info in its URL. They are as the
// JSON has them, escapes included, and as they are without.
func bodySecrets(body []byte) []string {
	if !guard.Valid(body) { // gjson must not read what is not JSON
		return nil
	}
	var all []string
	add := func(v gjson.Result) {
		if v.Type == gjson.String {
			for _, s := range []string{v.Str, strings.Trim(v.Raw, `"`)} {
				all = append(all, partsOf(s)...)
			}
		}
	}
	tools := func(list gjson.Result) {
		list.ForEach(func(_, tool gjson.Result) bool {
			add(tool.Get("authorization"))
			tool.Get("headers").ForEach(func(_, v gjson.Result) bool { add(v); return true })
			if u, err := url.Parse(tool.Get("server_url").Str); err == nil && u.User != nil {
				if password, ok := u.User.Password(); ok {
					all = append(all, password)
				}
				all = append(all, u.User.Username(), u.User.String())
			}
			return true
		})
	}
	root := gjson.ParseBytes(body)
	tools(root.Get("tools"))
	root.Get("input").ForEach(func(_, item gjson.Result) bool {
		if item.IsObject() {
			tools(item.Get("tools"))
		}
		return true
	})
	return all
}
