package display

import (
	"encoding/json"
	"strings"
)

// ReadState reads what a cell says of the state of a widget: pairs of a name with the letter of
// a type behind a colon, and a text.
func ReadState(state map[string]any, pairs []string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, kind, _ := strings.Cut(pairs[i], ":")
		text := pairs[i+1]
		switch kind {
		case "s":
			state[name] = text
		case "n":
			state[name] = json.Number(text)
		case "b":
			state[name] = text == "true"
		case "l":
			state[name] = strings.Split(text, "\x00")
		case "r":
			state[name] = "IPY_MODEL_" + text
		case "m":
			list := []string{}
			for id := range strings.FieldsSeq(text) {
				list = append(list, "IPY_MODEL_"+id)
			}
			state[name] = list
		}
	}
}

// Append adds what stands below a widget to the forms of it that have no widgets.
func Append(data map[string]any, below *Fold) {
	html, plain := below.Forms()
	before, _ := data["text/html"].(string)
	data["text/html"] = before + html
	before, _ = data["text/plain"].(string)
	data["text/plain"] = strings.TrimSuffix(before+"\n"+plain, "\n")
}
