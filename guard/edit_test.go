package guard

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestAppendEdited(t *testing.T) {
	replace := []Edit{{"a", []byte("1")}, {"b", nil}}
	for name, tt := range map[string]struct {
		object string
		edits  []Edit
		want   string
	}{
		"nothing":                {` {"x" : 1 } `, nil, ` {"x" : 1 } `},
		"in place":               {`{ "x": 1, "a" : [2], "y":3 }`, replace, `{ "x": 1, "a" : 1, "y":3 }`},
		"added":                  {`{ "x": 1 }`, replace, `{ "x": 1,"a":1 }`},
		"added to nothing":       {`{ }`, replace, `{"a":1 }`},
		"removed":                {"{\"x\":1 ,\n\"b\":2 , \"y\":3}", replace[1:], "{\"x\":1 , \"y\":3}"},
		"removed first":          {`{ "b":{"a":2} , "y":3}`, replace[1:], `{ "y":3}`},
		"removed last":           {`{"y":3 , "b":2}`, replace[1:], `{"y":3}`},
		"removed alone":          {`{ "b":2 }`, replace[1:], `{ }`},
		"removed first two":      {`{"b":2,"b":3,"y":3}`, replace[1:], `{"y":3}`},
		"removed, then added":    {`{"b":2}`, replace, `{"a":1}`},
		"every one of them":      {`{"a":8,"x":0,"a":9}`, replace, `{"a":1,"x":0}`},
		"an escaped key":         {`{"\u0061":8}`, replace, `{"\u0061":1}`},
		"no deeper":              {`{"x":{"a":8,"b":9}}`, replace[1:], `{"x":{"a":8,"b":9}}`},
		"the same key elsewhere": {`{"x":"\"a\":","a":2}`, replace, `{"x":"\"a\":","a":1}`},
		"no object":              {`[1]`, replace, `[1]`},
		"cut":                    {`{"a":2`, replace, `{"a":2`},
		"more behind it":         {`{"a":2}{}`, replace, `{"a":2}{}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(AppendEdited([]byte("-"), []byte(tt.object), tt.edits...))
			if got != "-"+tt.want {
				t.Errorf("got  %s\nwant -%s", got, tt.want)
			}
		})
	}
}

// What an edit leaves is what a reader that builds the whole object and makes
// the same changes there would have.
func FuzzAppendEdited(f *testing.F) {
	f.Add(`{"a":1, "b" : [2], "c":{"a":3}}`)
	f.Add(`{"b":1,"b":2}`)
	f.Add(`{"\u0062":1}`)
	f.Fuzz(func(t *testing.T, object string) {
		var want map[string]any
		if !valid([]byte(object)) || json.Unmarshal([]byte(object), &want) != nil || want == nil {
			return
		}
		out := AppendEdited(nil, []byte(object), Edit{"a", []byte(`"new"`)}, Edit{"b", nil})
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s became %s: %v", object, out, err)
		}
		want["a"] = "new"
		delete(want, "b")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %s", object, out)
		}
	})
}
