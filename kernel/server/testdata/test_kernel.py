"""Runs jupyter_kernel_test, the Jupyter project's own tests of kernels, against Lectern's."""
import unittest

import jupyter_kernel_test


class LecternTests(jupyter_kernel_test.KernelTests):
    kernel_name = "lectern"
    language_name = "go"
    file_extension = ".go"
    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'fmt.Fprintln(os.Stderr, "to stderr")'
    code_execute_result = [
        {"code": "6 * 7", "result": "42"},
        {"code": 'x := "kept"; x', "result": '"kept"'},
    ]
    code_display_data = [
        {"code": 'import "github.com/lectern-go/lectern/kernel/show"\nshow.HTML("<b>x</b>")', "mime": "text/html"},
        {"code": 'show.SVG("<svg></svg>")', "mime": "image/svg+xml"},
        {"code": 'show.Markdown("**x**")', "mime": "text/markdown"},
    ]
    code_generate_error = 'panic("an error")'
    code_page_something = "strings.ToUpper?"
    code_inspect_sample = "strings.ToUpper"
    code_clear_output = 'import "github.com/lectern-go/lectern/kernel/show"\nshow.Clear(false)'
    completion_samples = [
        {"text": "fmt.Printl", "matches": {"Println"}},
        {"text": "strings.Repea", "matches": {"Repeat"}},
    ]
    complete_code_samples = ["x := 1", 'fmt.Println("a")', "for i := range 3 {\n\tfmt.Println(i)\n}"]
    incomplete_code_samples = ["for i := range 3 {", "fmt.Println("]
    invalid_code_samples = ["x := := 1", "}"]
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "6*"

    def test_unrecorded(self):
        """Code that isn't in the history doesn't take the place of the last cell's."""
        self.execute_helper("one := func() int { return 1 }")
        self.execute_helper("two := func() int { return 2 }", store_history=False)
        self.execute_helper("two()", silent=True)
        reply, outputs = self.execute_helper("10*one() + two()")
        (result,) = [m["content"] for m in outputs if m["msg_type"] == "execute_result"]
        self.assertEqual(result["data"]["text/plain"], "12")
        self.assertEqual(result["execution_count"], reply["content"]["execution_count"])
        reply, outputs = self.execute_helper("one()", store_history=False)
        (result,) = [m["content"] for m in outputs if m["msg_type"] == "execute_result"]
        self.assertEqual(result["execution_count"], reply["content"]["execution_count"])


if __name__ == "__main__":
    unittest.main()
