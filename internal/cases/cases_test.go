package cases

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

type point struct {
	X float64
	N []int
}

// What is written is read back as it was, digit by digit.
func TestEncodeDecode(t *testing.T) {
	for _, x := range []any{
		true, -7, uint64(math.MaxUint64), 0.1, 5.0, float32(0.25), math.Inf(-1), math.Inf(1), "tick ✓ \"quoted\"", []float64{1, 2.5}, []byte{0, 255},
		[][]string{{"a"}, {}}, [2]int{3, 4}, point{1e300, []int{1}}, []float64{},
	} {
		v := reflect.ValueOf(x)
		raw, err := Encode(v)
		if err != nil {
			t.Errorf("%v: %v", x, err)
			continue
		}
		back, err := Decode(raw, []reflect.Type{v.Type()})
		if err != nil || !reflect.DeepEqual(back[0].Interface(), x) {
			t.Errorf("%#v was written as %s and read as %v, %v", x, raw[0], back, err)
		}
		if diff := Differs(raw, raw, 0); diff != "" {
			t.Errorf("%v differs from itself: %s", x, diff)
		}
	}
	if _, err := Encode(reflect.ValueOf(func() {})); err == nil {
		t.Error("a function was written")
	}
}

func TestDiffers(t *testing.T) {
	for _, tt := range []struct{ got, want, diff string }{
		{`0.30000000000000004`, `0.3`, ""},
		{`5.0`, `5`, ""},
		{`5`, `5`, ""},
		{`"NaN"`, `"NaN"`, ""},
		{`"-Inf"`, `"-Inf"`, ""},
		{`1.0`, `"Inf"`, "the result is 1; it should be Inf"}, // of which no share takes a number
		{`0.0`, `"-Inf"`, "the result is 0; it should be -Inf"},
		{`1e308`, `"Inf"`, "the result is 1e+308; it should be Inf"},
		{`"Inf"`, `"-Inf"`, "the result is Inf; it should be -Inf"},
		{`"NaN"`, `"Inf"`, "the result is NaN; it should be Inf"},
		{`"Inf"`, `"NaN"`, "the result is Inf; it should be NaN"},
		{`"Inf"`, `3.0`, "the result is Inf; it should be 3"},
		{`[1.0,2.0]`, `["Inf",2.0]`, "element [0] is 1; it should be Inf"},
		{`1.1`, `1`, "the result is 1.1; it should be 1"},
		{`1000000001`, `1000000000`, "the result is 1000000001"}, // integers have no tolerance
		{`[1.0,2.5]`, `[1, 2]`, "element [1] is 2.5; it should be 2"},
		{`[1.0]`, `[1, 2]`, "has length 1; it should be 2"},
		{`"Inf"`, `"NaN"`, "the result is Inf"},
		{`"a"`, `"a"`, ""},
		{`true`, `false`, "the result is true"},
		{`{"N":[1],"X":2.0}`, `{"X": 2, "N": [1]}`, ""},
		{`{"N":[1],"X":2.0}`, `{"X": 3, "N": [1]}`, "element .X is 2"},
		{`3`, `[3]`, "the result is 3; it should be [3]"},
		{`null`, `0`, "the result is null"},
		{`{`, `0`, "can't be read"},
	} {
		got := Differs([]json.RawMessage{json.RawMessage(tt.got)}, []json.RawMessage{json.RawMessage(tt.want)}, 0)
		if tt.diff == "" && got != "" || !strings.Contains(got, tt.diff) {
			t.Errorf("%s and %s: %q, want %q", tt.got, tt.want, got, tt.diff)
		}
	}
	if Differs(nil, []json.RawMessage{json.RawMessage("1")}, 0) == "" {
		t.Error("no result is no difference")
	}
}

func TestParseNamesTheCase(t *testing.T) {
	ok := `{"category": "x", "in": [1], "want": [2]}`
	list, err := Parse(ok + "\n\n" + strings.Replace(ok, `"in"`, `"points": 3, "in"`, 1))
	if err != nil || len(list) != 2 || list[0].Worth()+list[1].Worth() != 4 {
		t.Errorf("%v, %v", list, err)
	}
	for text, want := range map[string]string{
		ok + `{"category": "x"`:                                   "case 2 ends too early",
		ok + `{"in": [], "want": [1]}`:                            "case 2 has no category",
		`{"category": "x", "input": [1]}`:                         "input",
		`{"category": "x", "in": [1]}`:                            "case 1 wants nothing",
		`{"category": "x", "points": -1, "in": [1], "want": [1]}`: "worth -1",
		`[1]`: "case 1",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestDecodeNamesTheValue(t *testing.T) {
	for text, x := range map[string]any{`"a"`: 1.5, `1.5`: 1, `300`: byte(0), `[1]`: [2]int{}, `{"Y": 1}`: point{}, `{}`: []int{}} {
		if _, err := Decode([]json.RawMessage{json.RawMessage(text)}, []reflect.Type{reflect.TypeOf(x)}); err == nil || !strings.Contains(err.Error(), "value 1: ") {
			t.Errorf("%s as %T: %v", text, x, err)
		}
	}
}

func TestText(t *testing.T) {
	raw := []json.RawMessage{json.RawMessage(`[1.0, 0.30000000000000004]`), json.RawMessage(`"a"`), json.RawMessage(`7`), json.RawMessage(`"NaN"`)}
	if got, want := Text(raw), `[1 0.3], "a", 7, NaN`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
