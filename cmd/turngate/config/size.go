package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is a number of bytes more than 0, such as 64MiB, 1GiB, 500kB or 4096.
type size struct{ to *int64 }

func (v size) String() string { return shown(v.to) }

func (v size) Set(s string) error {
	n, err := parseSize(s)
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("must be more than 0")
	}
	*v.to = n
	return nil
}

// parseSize reads a number of bytes: plain, or whole with a unit of B, kB, MB,
// GB, TB (thousands) or KiB, MiB, GiB, TiB (1024), in any case.
func parseSize(s string) (int64, error) {
	bad := func() (int64, error) {
		return 0, fmt.Errorf("%s is not a size such as 64MiB, 1GiB or 4096", quote(s))
	}
	digits := strings.TrimRight(s, "bBiIkKmMgGtT ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || digits[0] == '+' {
		return bad()
	}
	var unit int64
	switch strings.ToLower(strings.TrimSpace(s[len(digits):])) {
	case "", "b":
		unit = 1
	case "kb":
		unit = 1e3
	case "mb":
		unit = 1e6
	case "gb":
		unit = 1e9
	case "tb":
		unit = 1e12
	case "kib":
		unit = 1 << 10
	case "mib":
		unit = 1 << 20
	case "gib":
		unit = 1 << 30
	case "tib":
		unit = 1 << 40
	default:
		return bad()
	}
	if n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%s is too large", quote(s))
	}
	return n * unit, nil
}
