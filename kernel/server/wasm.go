//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A %wasm cell runs in the page: the kernel builds it for js/wasm into a folder that Jupyter serves, and the page
// fetches it from there.

const (
	pagesDir = "jupyter_files"  // of Jupyter's root: where GoNB's users expect it
	wasmName = "gonb_cell.wasm" //
	wasmExec = "wasm_exec.js"   // which comes with Go, and starts such a program
)

// makePage obeys %wasm: it makes the folder, and tells shell lines and cells where it is.
func (e commands) makePage(c rewrite.Command) *failure {
	k := e.k
	if len(c.Args) > 0 {
		return said("usage", "%wasm takes no arguments; the program's arguments are those of %%")
	}
	if k.wasm != "" {
		return nil
	}
	root := jupyterRoot()
	if root == "" {
		return said("wasm", "the folder that Jupyter serves is not known: a %wasm cell needs a Jupyter server on this machine")
	}
	name := path.Base(k.f.module())
	dir := filepath.Join(root, pagesDir, name)
	goroot := exec.Command("go", "env", "GOROOT")
	goroot.Dir, goroot.Env = k.f.check(), cellenv.Offline(os.Environ())
	out, err := goroot.Output()
	if err != nil {
		return said("wasm", fmt.Sprintf("go env GOROOT: %v", err))
	}
	var script []byte
	for _, place := range []string{"lib", "misc"} { // since Go 1.24, and before
		if script, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), place, "wasm", wasmExec)); err == nil {
			break
		}
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, wasmExec), script, 0o644)
	}
	if err != nil {
		return said("wasm", err.Error())
	}
	k.wasm = dir
	k.setenv("GONB_WASM_DIR", dir)
	k.setenv("GONB_WASM_URL", "/files/"+pagesDir+"/"+name)
	return nil
}

// runInPage builds the program and lets the page run it.
func (e *execution) runInPage() *failure {
	k := e.k
	args, err := splitArgs(e.Result.Args)
	if err != nil {
		return said("arguments", err.Error())
	}
	id := strings.TrimPrefix(path.Base(k.wasm), "gonb_")
	url, div := k.getenv("GONB_WASM_URL"), "gonb_id_"+jupyter.NewID()[:8]
	// In quotes of the go command, which splits -ldflags at blanks.
	vars := fmt.Sprintf("-ldflags=-s -w -X 'main.GonbWasmDir=%s' -X 'main.GonbWasmUrl=%s' -X main.GonbWasmDivId=%s", k.wasm, url, div)
	err = e.goBuild([]string{"GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"}, append([]string{"-o", filepath.Join(k.wasm, wasmName), vars}, k.flags...)...)
	if err != nil {
		return e.notBuilt(err)
	}
	e.displayHTML(fmt.Sprintf(`<div id="%s"></div><script src="%s/%s"></script>`, div, url, wasmExec))
	var list strings.Builder
	for _, a := range args {
		list.WriteString(strconv.Quote(a) + ", ")
	}
	e.Publish("display_data", map[string]any{"data": map[string]any{"text/javascript": fmt.Sprintf(`
(() => {
	var go_%[1]s = new globalThis.Go();
	go_%[1]s.argv = ["js"].concat([%[2]s]);
	console.log("argv="+go_%[1]s.argv);
	WebAssembly.instantiateStreaming(fetch("%[3]s/%[4]s"), go_%[1]s.importObject).
		then((result) => { go_%[1]s.run(result.instance); });
})();
`, id, list.String(), url, wasmName)}, "metadata": map[string]any{}, "transient": map[string]any{}})
	return nil
}
