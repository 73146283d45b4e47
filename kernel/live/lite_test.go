package live

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const (
	liteHead   = "<html><head><title>JupyterLite</title></head></html>"
	liteConfig = `{"jupyter-lite-schema-version": 0, "jupyter-config-data": {"appName": "JupyterLite", "defaultKernelName": "python"}}`
)

// liteApp packs files as JupyterLite's package has them.
func liteApp(t *testing.T, files map[string]string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(files[name])), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// liteParts is a folder of what a lab is made of.
func liteParts(t *testing.T) (from fstest.MapFS, app map[string]string) {
	t.Helper()
	app = map[string]string{
		"package/index.html": liteHead, "package/lab/index.html": liteHead, "package/jupyter-lite.json": liteConfig, "package/build/1.js": "1",
		"package/build/1.js.map": "map", "package/build/repl/bundle.js": "2", "package/repl/index.html": liteHead, "package/service-worker.js": "3",
	}
	file := func(text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(text), ModTime: time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)}
	}
	const other = "labextensions/@some/body/"
	return fstest.MapFS{
		"app.tgz":                                liteApp(t, app),
		"kernels/gopher/kernel.json":             file(`{"argv": ["x"], "display_name": "Go (here)", "language": "go"}`),
		"kernels/gopher/logo-svg.svg":            file("<svg/>"),
		"labextensions/plain/package.json":       file(`{"name": "plain", "version": "1.0.0", "jupyterlab": {"_build": {"load": "static/r.js", "extension": "./extension"}}}`),
		"labextensions/plain/static/r.js":        file("4"),
		other + "package.json":                   file(`{"name": "@some/body", "version": "2.1.0", "jupyterlab": {"_build": {"load": "static/q.js", "style": "./style"}}}`),
		other + "static/q.js":                    file("5"),
		other + "static/q.js.map":                file("map"),
		other + "schemas/@some/body/plugin.json": file(`{"type": "object"}`),
		"LICENSE-lite.txt":                       file("BSD"),
		"notebooks/01-one.ipynb":                 file(`{"cells": []}`),
	}, app
}

func TestLite(t *testing.T) {
	from, _ := liteParts(t)
	f := &Files{parts: map[string]Part{"compiler": {"compiler-1.lzma", 7}}, bundles: []Part{{"a", 1}, {"b", 2}, {"c", 3}}, lessons: [][]int{{0, 2}, {1, 2}}}
	files, err := f.Lite(from)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"LICENSE-lite.txt",
		"api/contents/all.json", "api/translations/all.json", "api/translations/en.json", "build/1.js", "build/schemas/all_federated.json",
		"extensions/@some/body/package.json", "extensions/@some/body/schemas/@some/body/plugin.json", "extensions/@some/body/static/q.js",
		"extensions/lectern-live/static/logo.svg", "extensions/lectern-live/static/remoteEntry.js", "extensions/plain/package.json", "extensions/plain/static/r.js",
		"files/01-one.ipynb", "index.html", "jupyter-lite.json", "lab/index.html",
	}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("the files are\n%q\nwant\n%q", got, want)
	}
	for name, texts := range map[string][]string{
		"lab/index.html": {`<head>` + "\n" + `    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'`, `<link rel="icon" href="favicon.ico">`, "<title>"},
		"index.html":     {`connect-src 'self' data: blob:;`, `<link rel="icon" href="lab/favicon.ico">`},
		"extensions/lectern-live/static/remoteEntry.js": {
			"const lecternHost", "const lecternLite", `"first":[2]`, `"bundles":[{"name":"a","bytes":1}`, `"compiler":{"name":"compiler-1.lzma","bytes":7}`,
			`"kernel":{"display_name":"Go (here)","language":"go","name":"gopher"}`,
		},
		"api/contents/all.json":            {`"path":"01-one.ipynb"`, `"last_modified":"2026-11-25T03:00:00Z"`, `"size":13`},
		"build/schemas/all_federated.json": {`"id":"@some/body:plugin"`, `"schema":{"type":"object"}`, `"version":"2.1.0"`},
	} {
		for _, text := range texts {
			if !strings.Contains(string(files[name]), text) {
				t.Errorf("%s lacks %q:\n%.3000s", name, text, files[name])
			}
		}
	}
	var config struct {
		Data struct {
			Name      string              `json:"appName"`
			Kernel    string              `json:"defaultKernelName"`
			Federated []map[string]string `json:"federated_extensions"`
			All       string              `json:"contentsAllJsonFile"`
		} `json:"jupyter-config-data"`
	}
	if err := json.Unmarshal(files["jupyter-lite.json"], &config); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range config.Data.Federated {
		names = append(names, e["name"]+" "+e["load"]+" "+e["extension"]+e["style"])
		if files["extensions/"+e["name"]+"/"+e["load"]] == nil {
			t.Errorf("%v is to be loaded and not there", e)
		}
	}
	if c := config.Data; c.Name != "JupyterLite" || c.Kernel != "gopher" || c.All != "all.json" ||
		!slices.Equal(names, []string{"plain static/r.js ./extension", "@some/body static/q.js ./style", "lectern-live static/remoteEntry.js ./extension"}) {
		t.Errorf("the configuration is %s", files["jupyter-lite.json"])
	}
}

// A package that is not as expected is refused.
func TestLiteOfSomethingElse(t *testing.T) {
	for name, spoil := range map[string]func(from fstest.MapFS, app map[string]string){
		"no lab/index.html with a head": func(_ fstest.MapFS, app map[string]string) { app["package/lab/index.html"] = "<p>" },
		`a file "../../secret"`:         func(_ fstest.MapFS, app map[string]string) { app["../../secret"] = "x" },
		"no configuration":              func(_ fstest.MapFS, app map[string]string) { app["package/jupyter-lite.json"] = "{}" },
		"gzip: invalid header":          func(from fstest.MapFS, _ map[string]string) { from["app.tgz"].Data = []byte("this is no archive") },
		"has to be one kernel":          func(from fstest.MapFS, _ map[string]string) { delete(from, "kernels/gopher/kernel.json") },
		"plain/package.json": func(from fstest.MapFS, _ map[string]string) {
			from["labextensions/plain/package.json"].Data = []byte("{")
		},
	} {
		from, app := liteParts(t)
		before := slices.Clone(from["app.tgz"].Data)
		spoil(from, app)
		if bytes.Equal(from["app.tgz"].Data, before) {
			from["app.tgz"] = liteApp(t, app)
		}
		if _, err := (&Files{}).Lite(from); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error with %q", err, name)
		}
	}
}
