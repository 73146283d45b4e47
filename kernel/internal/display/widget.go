package display

import (
	"encoding/json"
	"strings"
)

// ModelState is what all models of a kind of widget begin with: where a front end finds the code for them.
func ModelState(kind string) map[string]any {
	s := map[string]any{"_model_name": kind + "Model", "_view_name": kind + "View"}
	module, version := "@jupyter-widgets/controls", "2.0.0"
	switch {
	case strings.HasSuffix(kind, "Style"):
		return map[string]any{"_model_name": kind + "Model", "_model_module": module, "_model_module_version": version,
			"_view_name": "StyleView", "_view_module": "@jupyter-widgets/base", "_view_module_version": version}
	case kind == "Output":
		module, version = "@jupyter-widgets/output", "1.0.0"
		s["outputs"], s["msg_id"] = []any{}, ""
	}
	for _, of := range []string{"_model_module", "_view_module"} {
		s[of], s[of+"_version"] = module, version
	}
	return s
}

// ReadState reads what a cell says about the state of a widget: pairs of a name with the letter of
// a type after a colon, and a text.
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

// Append adds what is below a widget to those of its forms that have no widgets.
func Append(data map[string]any, below *Fold) {
	html, plain := below.Forms()
	before, _ := data["text/html"].(string)
	data["text/html"] = before + html
	before, _ = data["text/plain"].(string)
	data["text/plain"] = strings.TrimSuffix(before+"\n"+plain, "\n")
}
