package main_test

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// isolate runs the calling test in a network namespace that has a loopback
// interface and nothing else, so that a real client can talk to nobody but the
// mock. It does so by running this test binary again, below unshare(1), for this
// one test; the caller must return if isolate reports true, for the other
// process has done its work. Where namespaces cannot be made (no privilege, no
// Linux), it logs that and reports false: the test then runs as it is.
func isolate(t *testing.T) bool {
	t.Helper()
	const inside = "TURNGATE_TEST_NETNS"
	if os.Getenv(inside) != "" {
		return false
	}
	unshare := namespaceCommand()
	if unshare == nil {
		t.Log("no network namespace can be made: the client may reach the network")
		return false
	}
	run := "^" + t.Name() + "$"
	if _, sub, ok := strings.Cut(flag.Lookup("test.run").Value.String(), "/"); ok {
		run += "/" + sub
	}
	args := append(unshare, os.Args[0], "-test.run="+run, "-test.count=1")
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	if deadline, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout="+time.Until(deadline).String())
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("in the network namespace: %v", err)
	}
	return true
}

// namespaceCommand returns the words that, put before a command, run it in a
// network namespace with loopback, or nil if that does not work here. Without
// root, a user namespace in which the caller is root makes it possible.
func namespaceCommand() []string {
	script := []string{"sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	for _, unshare := range [][]string{{"unshare", "--net"}, {"unshare", "--net", "--map-root-user"}} {
		words := append(unshare, script...)
		if exec.Command(words[0], append(words[1:], "true")...).Run() == nil {
			return words
		}
	}
	return nil
}
