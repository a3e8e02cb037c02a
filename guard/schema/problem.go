package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// findings gathers what a failed validation found. The validator reports in the
// order of Go's maps, so findings are sorted as they come; of any number of them
// only those that are shown are kept.
type findings struct {
	missing map[string]bool
	found   []found // sorted, at most maxProblems
}

// found is a problem beside the path that its pointer shows. Paths are compared
// before anything is put into words: there can be one for every item of a list.
type found struct {
	path []string
	Problem
}

func (f *findings) problems() []Problem {
	var problems []Problem
	for _, p := range f.found {
		problems = append(problems, p.Problem)
	}
	return problems
}

// names returns the missing properties as a verdict shows them.
func (f *findings) names() []string {
	var names []string
	for name := range f.missing {
		names = append(names, name)
	}
	slices.Sort(names)
	names = names[:min(len(names), maxMissing)]
	for i, name := range names {
		names[i] = show(name, maxShownName)
	}
	return names
}

// add takes in an error of the validator with all its causes.
func (f *findings) add(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			f.add(cause)
		}
	case *kind.Required:
		f.required(e, k.Missing)
	case *kind.AnyOf:
		f.alternatives(e, "anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			f.alternatives(e, "oneOf")
			return
		}
		f.note(e, func() string { return "matches more than one of the forms of oneOf" })
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
		for _, name := range k.Properties[:min(len(k.Properties), maxProblems)] {
			f.note(e, func() string { return "has a property " + showName(name) + ", which is not declared" })
		}
	default:
		f.note(e, func() string { return message(k) })
	}
}

func (f *findings) required(e *jsonschema.ValidationError, names []string) {
	for _, name := range names {
		if len(e.InstanceLocation) > 0 {
			f.note(e, func() string { return "lacks the required property " + showName(name) })
			continue
		}
		if f.missing == nil {
			f.missing = map[string]bool{}
		}
		f.missing[name] = true
	}
}

// alternatives reports a value that has none of several allowed forms. If all
// but one of the forms are for another type or another constant, that one is
// meant and its own findings are the helpful ones.
func (f *findings) alternatives(e *jsonschema.ValidationError, keyword string) {
	meant := slices.DeleteFunc(slices.Clone(e.Causes), func(form *jsonschema.ValidationError) bool {
		return len(wrongTypes(form, len(e.InstanceLocation))) > 0
	})
	if len(meant) > 1 {
		meant = slices.DeleteFunc(meant, wrongConstant)
	}
	switch len(meant) {
	case 0:
		var types []string
		for _, form := range e.Causes {
			types = append(types, wrongTypes(form, len(e.InstanceLocation))...)
		}
		if len(types) > 0 {
			slices.Sort(types)
			f.note(e, func() string { return "must be " + strings.Join(slices.Compact(types), " or ") })
			return
		}
	case 1:
		f.add(meant[0])
		return
	}
	f.note(e, func() string { return "has none of the forms of " + keyword })
}

// wrongTypes returns the types that a form wanted of the value that is depth
// deep, if it failed for that.
func wrongTypes(e *jsonschema.ValidationError, depth int) []string {
	all := false
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		if len(e.InstanceLocation) == depth {
			return k.Want
		}
	case *kind.AnyOf, *kind.OneOf:
		all = true // it failed for its type only if each of its forms did
	}
	var types []string
	for _, cause := range e.Causes {
		wrong := wrongTypes(cause, depth)
		if all && len(wrong) == 0 {
			return nil
		}
		types = append(types, wrong...)
	}
	return types
}

// wrongConstant reports whether a form failed for a constant or a list of them,
// as the forms of a tagged union do.
func wrongConstant(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.Const, *kind.Enum:
		return true
	}
	return slices.ContainsFunc(e.Causes, wrongConstant)
}

// note keeps a problem if it is among the first, and only then asks for its text.
func (f *findings) note(e *jsonschema.ValidationError, text func() string) {
	path := e.InstanceLocation
	if len(f.found) == maxProblems && slices.Compare(path, f.found[maxProblems-1].path) > 0 {
		return
	}
	p := found{path, Problem{showPointer(path), text()}}
	at, known := slices.BinarySearchFunc(f.found, p, func(a, b found) int {
		return cmp.Or(slices.Compare(a.path, b.path), cmp.Compare(a.Message, b.Message))
	})
	if known {
		return
	}
	f.found = slices.Insert(f.found, at, p)
	f.found = f.found[:min(len(f.found), maxProblems)]
}
