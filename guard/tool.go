package guard

// tools reads a list of tool objects and calls declare for each, or odd if the
// value is neither a list nor null.
func (r *requestReader) tools(declare func(tool), odd func()) error {
	if k := r.peek(); k != '[' && k != 'n' {
		odd()
	}
	return r.elements(func() error {
		if r.count++; r.count > maxTools {
			return tooManyTools()
		}
		t, err := r.tool()
		if err == nil {
			declare(t)
		}
		return err
	})
}

// maxTools bounds what a body can declare: a tool is a hundred times larger in
// memory than "{}" is on the wire.
const maxTools = 1 << 16

var toolKeys = [...]string{"type", "name", "function", "tools", "execution", "environment",
	"server_label", "allowed_tools", "parameters", "input_schema"}

func (r *requestReader) tool() (t tool, err error) {
	var seen duplicates
	err = r.members(func(key []byte) error {
		if err := r.once(&seen, key, toolKeys[:]); err != nil {
			return err
		}
		switch string(key) {
		case "type":
			return r.string(&t.typ)
		case "name":
			return r.string(&t.name)
		case "description":
			return r.string(&t.description)
		case "execution":
			return r.string(&t.execution)
		case "server_label":
			return r.string(&t.serverLabel)
		case "function":
			return r.function(&t)
		case "environment":
			return r.environment(&t)
		case "allowed_tools":
			return r.allowedTools(&t)
		case "tools":
			if r.inside {
				return r.skip() // namespaces do not nest
			}
			r.inside = true
			defer func() { r.inside = false }()
			return r.tools(func(in tool) { t.inner = append(t.inner, in) }, func() {})
		case "parameters":
			return r.value(&t.schema, r.skip)
		case "input_schema":
			return r.value(&t.inputSchema, r.skip)
		}
		return r.skip()
	})
	return t, err
}

// function reads the chat form, {"type":"function","function":{"name":...}}.
func (r *requestReader) function(t *tool) error {
	if r.peek() != '{' {
		return r.skip()
	}
	var seen duplicates
	return r.members(func(key []byte) error {
		if err := r.once(&seen, key, []string{"name", "parameters"}); err != nil {
			return err
		}
		switch string(key) {
		case "name":
			return r.string(&t.chatName)
		case "description":
			return r.string(&t.description)
		case "parameters":
			return r.value(&t.chatSchema, r.skip)
		}
		return r.skip()
	})
}

func (r *requestReader) environment(t *tool) error {
	if r.peek() != '{' {
		return r.skip()
	}
	var seen duplicates
	return r.members(func(key []byte) error {
		if err := r.once(&seen, key, []string{"type"}); err != nil {
			return err
		}
		if string(key) == "type" {
			return r.string(&t.environment)
		}
		return r.skip()
	})
}

// allowedTools reads a list of names, or a filter that holds such a list in
// "tool_names".
func (r *requestReader) allowedTools(t *tool) error {
	switch r.peek() {
	case '[':
		return r.names(&t.allowed)
	case '{':
		var seen duplicates
		return r.members(func(key []byte) error {
			if err := r.once(&seen, key, []string{"tool_names"}); err != nil {
				return err
			}
			if string(key) == "tool_names" && r.peek() == '[' {
				return r.names(&t.allowed)
			}
			return r.skip()
		})
	}
	return r.skip()
}

func (r *requestReader) names(out *[]string) error {
	*out = []string{}
	return r.elements(func() error {
		var s string
		if err := r.string(&s); err != nil {
			return err
		}
		*out = append(*out, s)
		return nil
	})
}
