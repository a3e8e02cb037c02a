package config

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// WriteOptions writes the table as a help text.
func WriteOptions(w io.Writer) {
	for _, o := range Options() {
		writeHelp(w, o.Name, o.Arg, o.Help, o.shownDefault())
	}
}

// WriteFlags writes the flags of another command as a help text, in the same
// form. A usage that starts with a word in back quotes names the value by it.
func WriteFlags(w io.Writer, fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		arg, help := flag.UnquoteUsage(f)
		if arg != "" {
			help = strings.TrimPrefix(help, arg+" ")
		}
		def := f.DefValue
		if def == "false" || def == "0" || def == "0s" {
			def = ""
		}
		writeHelp(w, f.Name, arg, help, def)
	})
}

// shownDefault returns the default as help texts show it, "" if there is none.
func (o *Option) shownDefault() string {
	if o.Shown != "" {
		return o.Shown
	}
	return o.Default
}

func writeHelp(w io.Writer, name, arg, help, def string) {
	head := "--" + name
	if arg != "" {
		head += " " + arg
	}
	if def != "" {
		help += " (default: " + def + ")"
	}
	fmt.Fprintf(w, "  %s\n", head)
	for _, line := range wrap(help, 72) {
		fmt.Fprintf(w, "        %s\n", line)
	}
}

// wrap cuts s between words into lines of at most width characters.
func wrap(s string, width int) []string {
	var lines []string
	var line strings.Builder
	for word := range strings.FieldsSeq(s) {
		if line.Len() > 0 && line.Len()+1+len(word) > width {
			lines = append(lines, line.String())
			line.Reset()
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	return append(lines, line.String())
}
