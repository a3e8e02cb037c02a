package main

import (
	"regexp"
	"strconv"
)

// idPattern matches an id, a range of ids, and an id in a function's name.
var idPattern = regexp.MustCompile(`\bK-[A-Z][0-9]+\b` +
	`|\b([GSRAEO])([0-9]+)[-–]([GSRAEO])([0-9]+)\b` +
	`|\b[GSRAEO][0-9]+[a-z]?\b` +
	`|\bTestK([A-Z][0-9]+)|\bTest([GSRAEO][0-9]+[a-z]?)`)

// idOf returns the id that s begins with, or "".
func idOf(s string) string {
	if ids := idsIn([]byte(s)); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// idsIn returns the ids that a text names.
func idsIn(text []byte) []string {
	var ids []string
	for _, m := range idPattern.FindAllSubmatch(text, -1) {
		switch family := string(m[1]); {
		case len(m[5]) > 0:
			ids = append(ids, "K-"+string(m[5]))
		case len(m[6]) > 0:
			ids = append(ids, string(m[6]))
		case family == "":
			ids = append(ids, string(m[0]))
		default:
			from, _ := strconv.Atoi(string(m[2]))
			to, _ := strconv.Atoi(string(m[4]))
			if family != string(m[3]) || to < from || to-from > 100 {
				to = from
				ids = append(ids, string(m[3])+string(m[4]))
			}
			for n := from; n <= to; n++ {
				ids = append(ids, family+strconv.Itoa(n))
			}
		}
	}
	return ids
}
