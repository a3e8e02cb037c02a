package main

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"sync/atomic"

	"turngate/cmd/turngate/config"
)

// certificate is a chain and its key, as read from files.
type certificate = tls.Certificate

// loadCertificate reads the files of the flags; no names give no certificate.
func loadCertificate(certFile, keyFile string) (*certificate, config.Faults) {
	if certFile == "" {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		var path *fs.PathError
		where := "--tls-cert"
		if errors.As(err, &path) && path.Path == keyFile {
			where = "--tls-key"
		}
		return nil, config.Faults{{Where: where, Message: err.Error()}}
	}
	return &cert, nil
}

// certificates holds the certificate that new connections get, so that it can
// be renewed while turngate runs. It is safe for concurrent use.
type certificates struct {
	current atomic.Pointer[certificate]
}

func newCertificates(c *certificate) *certificates {
	cs := new(certificates)
	cs.current.Store(c)
	return cs
}

// tlsConfig returns a configuration that serves the current certificate.
func (cs *certificates) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return cs.current.Load(), nil
		},
	}
}
