package display

import (
	"encoding/json"
	"testing"
)

func TestMessage(t *testing.T) {
	for _, tt := range []struct {
		kind   string
		fields []string
		want   string // the type and the content
	}{
		{"display", []string{"text/plain", "a", "image/png", "\x01"}, `display_data {"data":{"image/png":"AQ==","text/plain":"a"},"metadata":{},"transient":{}}`},
		{"display", []string{"image/svg+xml", "<svg/>", "text/plain"}, `display_data {"data":{"image/svg+xml":"\u003csvg/\u003e"},"metadata":{},"transient":{}}`},
		{"display", []string{"application/json", `{"a":1}`, "application/x+json", "{"}, `display_data {"data":{"application/json":{"a":1},"application/x+json":"{"},"metadata":{},"transient":{}}`},
		{"result", []string{"application/pdf", "%"}, `execute_result {"data":{"application/pdf":"JQ=="},"execution_count":7,"metadata":{}}`},
		{"live", []string{"id", "text/plain", "a"}, `display_data {"data":{"text/plain":"a"},"metadata":{},"transient":{"display_id":"id"}}`},
		{"update", []string{"id", "text/plain", "b"}, `update_display_data {"data":{"text/plain":"b"},"metadata":{},"transient":{"display_id":"id"}}`},
		{"live", nil, ` null`},
		{"clear", []string{"true"}, `clear_output {"wait":true}`},
		{"clear", nil, `clear_output {"wait":false}`},
		{"error", []string{"a", "b"}, ` null`},
	} {
		msgType, content := Message(tt.kind, tt.fields, 7)
		b, err := json.Marshal(content)
		if got := msgType + " " + string(b); err != nil || got != tt.want {
			t.Errorf("%s %q became %s (%v), want %s", tt.kind, tt.fields, got, err, tt.want)
		}
	}
}
