package live

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/ask"
	"github.com/lectern-go/lectern/kernel/internal/version"
)

//go:embed assets/lite.js
var liteScript string

// liteExtension is the name under which JupyterLite knows our kernel.
const liteExtension = "lectern-live"

// labPolicy is what the lab may do: nothing with other servers than its own. JupyterLab itself compiles schemas into
// functions, and what a cell shows may hold a script, as in any JupyterLab.
const labPolicy = "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"font-src 'self' data:; media-src 'self' data: blob:; connect-src 'self' data: blob:; worker-src blob:; frame-src 'self' data: blob:; " +
	"manifest-src 'self'; base-uri 'none'; form-action 'none'"

// Lite makes a JupyterLab that needs no server, whose kernel runs cells in the browser with the parts that pages load.
// The files are to lie in a folder beside that of the parts. What it is made of lies in a folder as Jupyter's data do:
//
//	app.tgz             JupyterLite's app, as its Python package has it
//	kernels/NAME/       kernel.json and logo-svg.svg of the kernel that is here in our kernel's place
//	labextensions/      more extensions
//	notebooks/          what the file browser shows
//	LICENSE-*.txt       what goes along with the app and the extensions
func (f *Files) Lite(from fs.FS) (map[string][]byte, error) {
	l := &lite{from: from, files: map[string][]byte{}}
	err := l.app()
	if err == nil {
		err = l.extensions()
	}
	if err == nil {
		err = l.kernel(f)
	}
	if err == nil {
		err = l.notebooks()
	}
	if err == nil {
		err = l.configure()
	}
	if err != nil {
		return nil, fmt.Errorf("live: JupyterLite: %w", err)
	}
	return l.files, nil
}

// A lite is a JupyterLite on its way.
type lite struct {
	from      fs.FS
	files     map[string][]byte
	federated []map[string]string
	schemas   []map[string]any
	name      string // of the kernel
}

// needless are JupyterLite's other applications, what only its makers need, and its service worker, by which other
// kernels reach files.
var needless = regexp.MustCompile(`\.map$|^(build/)?(consoles|edit|notebooks|repl|tree)/|^doc/|^rspack\.|^package\.json$|service-worker\.js$`)

func (l *lite) app() error {
	packed, err := l.from.Open("app.tgz")
	if err != nil {
		return err
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	for r := tar.NewReader(unpacked); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path.Clean(h.Name), "package/")
		if h.Typeflag != tar.TypeReg || needless.MatchString(name) {
			continue
		}
		if !fs.ValidPath(name) {
			return fmt.Errorf("its app has a file %q", h.Name)
		}
		if l.files[name], err = io.ReadAll(r); err != nil {
			return err
		}
	}
	for name, icon := range map[string]string{"index.html": "lab/favicon.ico", "lab/index.html": "favicon.ico"} {
		before := l.files[name]
		head := fmt.Appendf(nil, "<head>\n    <meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n    <link rel=\"icon\" href=\"%s\">", labPolicy, icon)
		if l.files[name] = bytes.Replace(before, []byte("<head>"), head, 1); bytes.Equal(l.files[name], before) {
			return fmt.Errorf("its app has no %s with a head", name)
		}
	}
	return nil
}

// add adds a file of an extension.
func (l *lite) add(extension, name string, content []byte) {
	l.files["extensions/"+extension+"/"+name] = content
}

// extensions adds those that lie there, as JupyterLab would: package.json says what is to be loaded.
func (l *lite) extensions() error {
	about, err := fs.Glob(l.from, "labextensions/*/package.json")
	if err != nil {
		return err
	}
	scoped, err := fs.Glob(l.from, "labextensions/@*/*/package.json")
	if err != nil {
		return err
	}
	for _, file := range slices.Concat(about, scoped) {
		text, err := fs.ReadFile(l.from, file)
		if err != nil {
			return err
		}
		var p struct {
			Name, Version string
			JupyterLab    struct {
				Build map[string]string `json:"_build"`
			}
		}
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		p.JupyterLab.Build["name"] = p.Name
		l.federated = append(l.federated, p.JupyterLab.Build)
		dir := path.Dir(file)
		err = fs.WalkDir(l.from, dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, ".map") {
				return err
			}
			content, err := fs.ReadFile(l.from, name)
			if err != nil {
				return err
			}
			within := strings.TrimPrefix(name, dir+"/")
			l.add(p.Name, within, content)
			if plugin, ok := strings.CutPrefix(within, "schemas/"+p.Name+"/"); ok && strings.HasSuffix(plugin, ".json") && plugin != "package.json.orig" {
				return l.schema(p.Name+":"+strings.TrimSuffix(plugin, ".json"), p.Version, content)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// schema adds the settings of a plugin.
func (l *lite) schema(id, version string, content []byte) error {
	var schema any
	if err := json.Unmarshal(content, &schema); err != nil {
		return fmt.Errorf("settings of %s: %w", id, err)
	}
	l.schemas = append(l.schemas, map[string]any{"id": id, "raw": "{}", "settings": map[string]any{}, "schema": schema, "version": version})
	return nil
}

// kernel adds the extension that has our kernel.
func (l *lite) kernel(f *Files) error {
	specs, err := fs.Glob(l.from, "kernels/*/kernel.json")
	if err != nil {
		return err
	}
	if len(specs) != 1 {
		return errors.New("there has to be one kernel")
	}
	dir := path.Dir(specs[0])
	text, err := fs.ReadFile(l.from, specs[0])
	if err != nil {
		return err
	}
	logo, err := fs.ReadFile(l.from, dir+"/logo-svg.svg")
	if err != nil {
		return err
	}
	spec := map[string]any{}
	if err := json.Unmarshal(text, &spec); err != nil {
		return fmt.Errorf("%s: %w", specs[0], err)
	}
	l.name = path.Base(dir)
	about, err := json.Marshal(map[string]any{
		"parts": f.parts, "bundles": f.bundles, "first": f.always(), "version": strings.TrimPrefix(version.String(), "v"), "go": runtime.Version(),
		"kernel": map[string]any{"name": l.name, "display_name": spec["display_name"], "language": spec["language"]},
	})
	if err != nil {
		return err
	}
	l.add(liteExtension, "static/remoteEntry.js", fmt.Appendf(nil, "(() => {\n%s%s%slecternLite(%s);\n})();\n", ask.Say, hostScript, liteScript, about))
	l.add(liteExtension, "static/logo.svg", logo)
	l.federated = append(l.federated, map[string]string{"name": liteExtension, "load": "static/remoteEntry.js", "extension": "./extension"})
	return nil
}

// always are the bundles that every lesson needs.
func (f *Files) always() []int {
	list := []int{}
	for b := range f.bundles {
		if !slices.ContainsFunc(f.lessons, func(lesson []int) bool { return !slices.Contains(lesson, b) }) {
			list = append(list, b)
		}
	}
	return list
}

// notebooks adds what the file browser shows, and the list of that.
func (l *lite) notebooks() error {
	entries, err := fs.ReadDir(l.from, "notebooks")
	if err != nil {
		return err
	}
	list := []map[string]any{}
	latest := ""
	for _, e := range entries {
		content, err := fs.ReadFile(l.from, "notebooks/"+e.Name())
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		at := info.ModTime().UTC().Format(time.RFC3339)
		latest = max(latest, at)
		l.files["files/"+e.Name()] = content
		list = append(list, map[string]any{"name": e.Name(), "path": e.Name(), "type": "notebook", "size": len(content), "created": at, "last_modified": at,
			"writable": true, "content": nil, "format": nil, "mimetype": nil})
	}
	licences, err := fs.Glob(l.from, "LICENSE-*.txt")
	for _, name := range licences {
		if err == nil {
			l.files[name], err = fs.ReadFile(l.from, name)
		}
	}
	if err != nil {
		return err
	}
	return l.json("api/contents/all.json", map[string]any{"name": "", "path": "", "type": "directory", "created": latest, "last_modified": latest,
		"writable": true, "content": list, "format": "json", "mimetype": nil, "size": nil})
}

// configure tells JupyterLite what is there.
func (l *lite) configure() error {
	const name = "jupyter-lite.json"
	var all map[string]any
	if err := json.Unmarshal(l.files[name], &all); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	config, ok := all["jupyter-config-data"].(map[string]any)
	if !ok {
		return fmt.Errorf("%s has no configuration", name)
	}
	config["defaultKernelName"] = l.name
	config["federated_extensions"] = l.federated
	config["contentsAllJsonFile"] = "all.json"
	config["settingsOverrides"] = map[string]any{
		// JupyterLab gives up after a second, without a word; the first completion takes longer, while packages are loaded.
		"@jupyterlab/completer-extension:manager": map[string]any{"providerTimeout": 20000},
		// A notebook that is opened again shows its widgets as they were, though the kernel that had them has ended.
		"@jupyter-widgets/jupyterlab-manager:plugin": map[string]any{"saveState": true},
	}
	config["disabledExtensions"] = []string{"@jupyterlite/application-extension:service-worker-manager"}
	english := map[string]any{"en": map[string]string{"displayName": "English", "nativeName": "English"}}
	return cmp.Or(
		l.json(name, all),
		l.json("build/schemas/all_federated.json", append([]map[string]any{}, l.schemas...)),
		l.json("api/translations/all.json", map[string]any{"data": english, "message": ""}),
		l.json("api/translations/en.json", map[string]any{"data": map[string]any{}, "message": ""}),
	)
}

func (l *lite) json(name string, v any) error {
	b, err := json.Marshal(v)
	l.files[name] = b
	return err
}
