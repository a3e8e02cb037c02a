package guard

import (
	"math/rand/v2"
	"strings"
)

// forge makes streams out of arbitrary bytes: each byte is a choice, so that a
// fuzzer that changes a byte changes a decision and not a letter.
type forge struct {
	choices []byte
	b       strings.Builder
}

// pick consumes a choice among n; without choices left it is 0, the plain one.
func (f *forge) pick(n int) int {
	if len(f.choices) == 0 {
		return 0
	}
	c := int(f.choices[0])
	f.choices = f.choices[1:]
	return c % n
}

func (f *forge) one(of ...string) string { return of[f.pick(len(of))] }

// stream writes frames, in a few line ends and with what confuses readers.
func (f *forge) stream() string {
	for n := 1 + f.pick(4); n > 0; n-- {
		f.frame()
	}
	f.b.WriteString(f.one("", "data: [DONE]\n\n", "\r", "data: {", "\n"))
	return f.b.String()
}

func (f *forge) frame() {
	if f.pick(3) == 1 {
		f.b.WriteString(f.one("event: response.output_item.done", ": hi", "\ufeff", "id: 7", "event: ", ":", "foo: {", "data", " ", ": \u2028", "id: \v", "event: x\u0085", "\f", ": \x1cdata: {\"item\":"+rmAll+"}", "event: response.shell_call_command.done"))
		f.b.WriteString(f.eol())
	}
	data := f.event()
	if f.pick(2) == 1 {
		data = f.broken(data)
	}
	f.b.WriteString(f.one("data: ", "data:", "\ufeffdata: ", "data: ", "data:\r", "event:\rdata: ", " data: ", ": \u2028data: ") + data)
	f.b.WriteString(f.one("\n\n", "\n\n", "\r\n\r\n", "\r\r", "\n", "\r", "\r\r\n", "\n\r", "\n\r\n", ""))
}

func (f *forge) eol() string { return f.one("\n", "\r\n", "\r", "\r\r", "\n\n") }

// broken puts line ends and new lines of other kinds between the tokens.
func (f *forge) broken(data string) string {
	for n := 1 + f.pick(3); n > 0; n-- {
		at := f.pick(256) * len(data) / 256
		if i := strings.IndexAny(data[at:], `{,[]:}`); i >= 0 {
			at += i + f.pick(2)
		}
		data = data[:at] + f.eol() + f.one("data: ", "data:", "", ": ", "\ufeffdata: ", "id: ", "event: ", ": \rdata: ", "event: \rdata: ", " ") + data[at:]
	}
	return data
}

// event writes one JSON text, in most cases an event.
func (f *forge) event() string {
	switch f.pick(12) {
	case 1:
		return f.item(2)
	case 2:
		return "[" + f.item(2) + "]"
	case 3: // a piece of an event that others complete
		return f.one(`{"type":"response.output_item.done","item":`, `{"type":"response.completed","response":{"output":[`, `}`, `]}}`, `"function_call"`,
			`{"item":{"name":"rm_all","type":`, `}}`, `,`, `"item":`)
	}
	var members []string
	for n := 1 + f.pick(4); n > 0; n-- {
		switch f.pick(8) {
		case 0, 1:
			members = append(members, f.key("type")+f.one(`"response.output_item.done"`, `"response.completed"`, `"response.output_text.delta"`,
				`"response.function_call_arguments.delta"`, `"response.created"`, `"error"`, `null`, `"response.custom_tool_call_input.delta"`, `"response.shell_call_command.delta"`))
		case 2, 3:
			members = append(members, f.key("item")+f.value(2))
		case 4:
			members = append(members, f.key("output")+f.value(2))
		case 5:
			members = append(members, f.key("response")+f.object("output", 2))
		case 6:
			members = append(members, f.key("delta")+f.one(`"x"`, `"_call"`, `"\""`, "\"\u2028data: \"", "\"\u0085\u0085data: {\"", `"\u001b"`))
		case 7:
			members = append(members, f.key("name")+f.text())
		}
	}
	return f.join("{", members, "}") + f.one("", "", "", "", " ", "x", "{}", "\t")
}

func (f *forge) object(member string, depth int) string {
	switch f.pick(6) {
	case 1:
		return f.join("{", []string{f.key(member) + f.value(depth), f.key(member) + f.value(depth)}, "}")
	case 2:
		return f.value(depth)
	}
	return "{" + f.key(member) + f.value(depth) + "}"
}

// value is an item, a list of items, or something else.
func (f *forge) value(depth int) string {
	switch f.pick(6) {
	case 1:
		return f.join("[", []string{f.item(depth), f.item(depth)}, "]")
	case 2:
		return f.one("null", "[]", `"function_call"`, "1", "{}", "[[]]")
	}
	return f.item(depth)
}

func (f *forge) item(depth int) string {
	var members []string
	for n := 1 + f.pick(5); n > 0; n-- {
		switch f.pick(7) {
		case 0, 1:
			members = append(members, f.key("type")+f.one(`"function_call"`, `"custom_tool_call"`, `"message"`, `"local_shell_call"`, `"shell_call"`,
				`"tool_search_call"`, `"mcp_approval_request"`, `"apply_patch_call"`, `"computer_call"`, `"function\u005fcall"`, `null`, `["function_call"]`,
				`"tool_search_output"`, `"mcp_call"`, `"\u0066unction_call"`))
		case 2, 3:
			members = append(members, f.key("name")+f.text())
		case 4:
			members = append(members, f.key("namespace")+f.one(`"crm"`, `""`, `"functions"`, `null`, `"x"`, `1`))
		case 5:
			members = append(members, f.key("execution")+f.one(`"client"`, `"server"`))
		case 6:
			members = append(members, f.key("environment")+f.one(`{"type":"local"}`, `{"type":"container_reference"}`, `null`, `{"type":"x","type":"local"}`, `{"TYPE":"x"}`, `"x"`))
		}
	}
	if depth > 0 && f.pick(8) == 1 {
		members = append(members, f.key("item")+f.value(depth-1))
	}
	return f.join("{", members, "}")
}

func (f *forge) join(open string, parts []string, shut string) string {
	return open + strings.Join(parts, f.one(",", ",", ",", ", ", " ,\t")) + shut
}

func (f *forge) text() string {
	return f.one(`"read_file"`, `"rm_all"`, `"exec"`, `"add"`, `"crm__add"`, `"read\u005ffile"`, `""`, `null`, `1`, `["rm_all"]`, `"\ud800"`, "\"\xff\"", `"rm\u005fall"`)
}

// key spells a key in one of the ways that some reader takes for it.
func (f *forge) key(k string) string {
	colon := f.one(":", ":", ": ", " :")
	switch f.pick(10) {
	case 1:
		return `"` + strings.ToUpper(k) + `"` + colon
	case 2:
		return `"` + strings.ToUpper(k[:1]) + k[1:] + `"` + colon
	case 3:
		return `"` + k[:1] + `\u00` + hex(k[1]) + k[2:] + `"` + colon
	case 4:
		return `"` + strings.ReplaceAll(k, "s", "ſ") + `"` + colon
	case 5:
		return `"z"` + colon
	}
	return `"` + k + `"` + colon
}

func hex(c byte) string { return string("0123456789abcdef"[c>>4]) + string("0123456789ABCDEF"[c&15]) }

// seeds returns n reproducible lists of choices.
func seeds(n int) (all [][]byte) {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	for range n {
		s := make([]byte, 20+rnd.IntN(180))
		for i := range s {
			s[i] = byte(rnd.Uint32())
		}
		all = append(all, s)
	}
	return all
}
