// Package display makes Jupyter's messages of what a cell shows, for notebooks and for pages that run cells.
package display

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Message returns the message that a cell's request to show something becomes, or "" if it asks for something else.
// kind and fields are as package inband reads them.
func Message(kind string, fields []string, cell int) (msgType string, content map[string]any) {
	empty := map[string]any{}
	switch kind {
	case "display":
		return "display_data", map[string]any{"data": Bundle(fields), "metadata": empty, "transient": empty}
	case "result":
		return "execute_result", map[string]any{"data": Bundle(fields), "metadata": empty, "execution_count": cell}
	case "live", "update":
		if len(fields) > 0 {
			msgType = map[string]string{"live": "display_data", "update": "update_display_data"}[kind]
			return msgType, map[string]any{"data": Bundle(fields[1:]), "metadata": empty, "transient": map[string]string{"display_id": fields[0]}}
		}
	case "clear":
		return "clear_output", map[string]any{"wait": len(fields) > 0 && fields[0] == "true"}
	}
	return "", nil
}

// Bundle turns pairs of MIME type and data into Jupyter's form.
func Bundle(pairs []string) map[string]any {
	data := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		mime, s := pairs[i], pairs[i+1]
		var v any
		switch {
		case Binary(mime):
			data[mime] = base64.StdEncoding.EncodeToString([]byte(s))
		case (mime == "application/json" || strings.HasSuffix(mime, "+json")) && json.Unmarshal([]byte(s), &v) == nil:
			data[mime] = v
		default:
			data[mime] = s
		}
	}
	return data
}

// Binary names formats whose data is bytes; in Jupyter's messages it is base64.
func Binary(mime string) bool {
	return strings.HasPrefix(mime, "image/") && mime != "image/svg+xml" || strings.HasPrefix(mime, "audio/") || strings.HasPrefix(mime, "video/") || mime == "application/pdf"
}
