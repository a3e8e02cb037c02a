//go:build !unix

package bolt_test

// child: the tests that kill a child or fill a disk are for Unix.
func child() (exit int, ok bool) { return 0, false }
