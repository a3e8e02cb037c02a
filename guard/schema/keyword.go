package schema

// form is what a keyword's value looks like.
type form uint8

const (
	formIgnored      form = iota // asserts nothing here
	formSchema                   // a schema
	formSchemas                  // a list of schemas
	formItems                    // a schema or a list of them, by dialect
	formNamed                    // an object of schemas
	formPatterns                 // an object of schemas, named by patterns
	formDependencies             // an object of schemas or of lists of names
	formNames                    // a list of names
	formNameLists                // an object of lists of names
	formType                     // a name or a list of names
	formPattern                  // a pattern
	formEncoding                 // the name of an encoding
	formEnum                     // a list of any values
	formValue                    // any value
	formNumber                   // a number
	formBound                    // a number, or a boolean in draft 4
	formFlag                     // a boolean
)

// keywordForm says how a keyword is read, in any dialect. What is not named
// here is not handed to the compiler: annotations, format, contentMediaType,
// identifiers, anchors and vocabularies. References are read apart.
func keywordForm(name string) form {
	switch name {
	case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties",
		"additionalItems", "unevaluatedProperties", "unevaluatedItems":
		return formSchema
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return formSchemas
	case "items":
		return formItems
	case "properties", "dependentSchemas":
		return formNamed
	case "patternProperties":
		return formPatterns
	case "dependencies":
		return formDependencies
	case "required":
		return formNames
	case "dependentRequired":
		return formNameLists
	case "type":
		return formType
	case "pattern":
		return formPattern
	case "contentEncoding":
		return formEncoding
	case "enum":
		return formEnum
	case "const":
		return formValue
	case "multipleOf", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
		"minProperties", "maxProperties", "minContains", "maxContains":
		return formNumber
	case "exclusiveMinimum", "exclusiveMaximum":
		return formBound
	case "uniqueItems":
		return formFlag
	}
	return formIgnored
}
