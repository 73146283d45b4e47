// Package e2e tests the lessons in a browser, as a student sees them: JupyterLab started by `go run ./kernel lab`, and the rendered
// pages in light, dark and phone width. It is a module of its own, so that nobody who uses the library downloads a browser driver:
//
//	go -C kernel/e2e test -v .
//
// Screenshots are written to .lectern/screenshots. Without Chromium or Python the tests are skipped; in CI (CI=true) that is a failure.
package e2e
