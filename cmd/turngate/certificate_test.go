package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate puts a certificate for 127.0.0.1 with this serial number,
// and its key, into dir.
func writeCertificate(t *testing.T, dir string, serial int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert},
		keyFile:  {Type: "PRIVATE KEY", Bytes: der},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// TestTLS serves a certificate and, after a reload, the one that took its place
// (rule O6).
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := writeCertificate(t, dir, 1)
	in := startServe(t, nil, "--tls-cert", certFile, "--tls-key", keyFile)
	if !strings.HasPrefix(in.url, "https://") || !strings.HasPrefix(in.admin, "http://") {
		t.Errorf("first line %q", in.ready)
	}
	if got := in.serial(t); got != 1 {
		t.Errorf("certificate %d, want 1", got)
	}
	writeCertificate(t, dir, 2)
	in.reload(t)
	if got := in.serial(t); got != 2 {
		t.Errorf("certificate %d after the reload, want 2", got)
	}
}

// serial returns the serial number of the certificate that a client gets.
func (in *instance) serial(t *testing.T) int64 {
	t.Helper()
	// The certificate is its own authority, and only its number is asked for.
	conn, err := tls.Dial("tcp", strings.TrimPrefix(in.url, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestLoadCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := writeCertificate(t, dir, 1)
	tests := map[string]struct{ cert, key, where string }{
		"good":     {certFile, keyFile, ""},
		"none":     {"", "", ""},
		"no cert":  {dir + "/none", keyFile, "--tls-cert"},
		"no key":   {certFile, dir + "/none", "--tls-key"},
		"both one": {keyFile, keyFile, "--tls-cert"},
	}
	for name, tt := range tests {
		_, faults := loadCertificate(tt.cert, tt.key)
		where := ""
		if len(faults) > 0 {
			where = faults[0].Where
		}
		if where != tt.where {
			t.Errorf("%s: fault of %q (%v), want %q", name, where, faults, tt.where)
		}
	}
}
