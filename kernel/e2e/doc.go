// Package e2e tests the lessons in a browser, as a student sees them: JupyterLab started by `go run ./kernel
// lab`; the rendered pages in light, dark and phone width, which axe-core searches for what keeps people
// from using them; and the pages that nbconvert makes. It is a module of its own, so that nobody who uses
// the library downloads a browser driver:
//
//	go -C kernel/e2e test -v .
//
// Screenshots are written to .lectern/screenshots. LECTERN_PYTHON names a Python with nbconvert and
// axe-playwright-python; .ci/run makes one. A test whose program is absent is skipped; in CI (CI=true) that is a
// failure.
package e2e
