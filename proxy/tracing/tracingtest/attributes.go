package tracingtest

import commonpb "go.opentelemetry.io/proto/otlp/common/v1"

// Attributes returns attributes by their keys.
func Attributes(list []*commonpb.KeyValue) map[string]any {
	all := make(map[string]any, len(list))
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			all[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			all[a.Key] = v.IntValue
		default:
			all[a.Key] = a.Value.String()
		}
	}
	return all
}
