"""Writes jupyter.ipynb with nbformat, the library that Jupyter saves notebooks with. Run: python make.py > jupyter.ipynb"""
import sys
from nbformat import v4 as nb

odd = 'quote " back \\ tab \t bell \x07 del \x7f <&> é 世界 😀 \u2028 next \u0085 line\r\nlast'
code = nb.new_code_cell("x := 1\n\nx", id="b2", metadata={"tags": ["measured"], "zeta": 1, "alpha": {"b": 2.5, "a": [], "c": {}, "n": None}})
code.execution_count = 3
code.outputs = [
    nb.new_output("stream", name="stdout", text="a\nb\n" + odd),
    nb.new_output("stream", name="stderr", text=""),
    nb.new_output("display_data", {"text/plain": "p", "image/svg+xml": "<svg>\n</svg>", "image/png": "iVBO\n", "application/json": {"a": ["x\ny"]}}, metadata={"image/png": {"width": 3}}),
    nb.new_output("execute_result", {"text/plain": odd}, execution_count=3),
    nb.new_output("error", ename="E", evalue="v", traceback=["\x1b[31ml1\x1b[0m", "l2\nl3"]),
]
book = nb.new_notebook(
    cells=[
        nb.new_markdown_cell("# Title\n\n$x_1$ " + odd, id="a1", attachments={"p.png": {"image/png": "abc", "image/svg+xml": "<svg>\n</svg>"}}),
        code,
        nb.new_raw_cell("", id="c_3"),
        nb.new_code_cell("", id="d-4"),
    ],
    metadata={"kernelspec": {"name": "lectern", "display_name": "Go (Lectern)", "language": "go"}, "title": "é"},
)
# A later version of the format may have more fields; this one would call them invalid, so they come after its checks.
book.cells[1]["future"] = "kept"
book["extra"] = [1, {"k": False}]
sys.stdout.buffer.write((nb.writes(book) + "\n").encode())
