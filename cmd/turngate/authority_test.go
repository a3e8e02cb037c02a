package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// authority is a CA for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority makes a CA.
func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "turngate test CA"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{key: newKey(t)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue writes a certificate for 127.0.0.1, with the CA behind it in the file,
// and its key.
func (a *authority) issue(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	chain := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})...)
	return writeFile(t, filepath.Join(dir, "cert.pem"), chain),
		writeFile(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// TestTLSWithAuthority makes turns over TLS as clients do that trust the CA, by
// HTTP/1.1 and HTTP/2, and as one does that does not.
func TestTLSWithAuthority(t *testing.T) {
	ca := newAuthority(t)
	certFile, keyFile := ca.issue(t)
	want := new(mock.Stream).Created().Text("hello").Completed().Turn()
	upstream := httptest.NewServer(mock.New(want))
	t.Cleanup(upstream.Close)
	in := startServe(t, nil, "--upstream", upstream.URL+"/v1", "--tls-cert", certFile, "--tls-key", keyFile)

	trusted := x509.NewCertPool()
	trusted.AddCert(ca.cert)
	for name, tc := range map[string]struct {
		config *tls.Config
		http2  bool
		fault  string // "": none
	}{
		"HTTP/1.1": {config: &tls.Config{RootCAs: trusted}},
		"HTTP/2":   {config: &tls.Config{RootCAs: trusted}, http2: true},
		"stranger": {config: &tls.Config{RootCAs: x509.NewCertPool()}, fault: "unknown authority"},
		"TLS 1.1":  {config: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS11, MaxVersion: tls.VersionTLS11}, fault: "protocol version"},
	} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{TLSClientConfig: tc.config, ForceAttemptHTTP2: tc.http2}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			resp, err := client.Post(in.url+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","input":"hi","stream":true}`))
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("error %v, want one about %s", err, tc.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != string(want.Body) || resp.ProtoMajor == 2 != tc.http2 {
				t.Errorf("%s: %q, %v", resp.Proto, body, err)
			}
		})
	}
}
