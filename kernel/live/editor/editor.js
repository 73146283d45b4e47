// The editor of a cell: CodeMirror with Go's syntax, in the colors of the page.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { go } from "@codemirror/lang-go";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tagHighlighter, tags as t } from "@lezer/highlight";

// The classes are those of the code that is not edited.
const colors = tagHighlighter([
  { tag: [t.keyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword, t.operatorKeyword], class: "hk" },
  { tag: [t.string, t.character, t.special(t.string)], class: "hs" },
  { tag: [t.number, t.integer, t.float], class: "hn" },
  { tag: [t.comment, t.lineComment, t.blockComment], class: "hc" },
  { tag: [t.typeName, t.standard(t.typeName)], class: "ht" },
  { tag: [t.function(t.variableName), t.function(t.propertyName)], class: "hf" },
  { tag: [t.bool, t.null, t.standard(t.variableName), t.standard(t.name)], class: "hb" },
]);

// lecternEditor puts an editor into a parent. run and leave are what Shift-Enter and Escape do, change hears of every change.
globalThis.lecternEditor = ({ parent, text, label, run, leave, change }) => {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        indentOnInput(),
        indentUnit.of("\t"),
        EditorState.tabSize.of(4),
        highlightActiveLine(),
        go(),
        syntaxHighlighting(colors),
        EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
        EditorView.updateListener.of((u) => { if (u.docChanged) change(u.state.doc.toString()); }),
        keymap.of([
          { key: "Shift-Enter", run: () => { run(); return true; } },
          { key: "Mod-Enter", run: () => { run(); return true; } },
          { key: "Escape", run: () => { leave(); return true; } },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          indentWithTab,
        ]),
      ],
    }),
  });
  const at = (line, column) => {
    const l = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
    return Math.min(l.to, l.from + [...l.text].slice(0, Math.max(0, column - 1)).join("").length);
  };
  return {
    focus: () => view.focus(),
    text: () => view.state.doc.toString(),
    set: (now) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: now } }),
    mistakes: (list) => view.dispatch(setDiagnostics(view.state, list.map((m) => {
      const from = at(m.line, m.col);
      return { from, to: Math.max(at(m.line, m.end), Math.min(from + 1, view.state.doc.length)), severity: "error", message: m.text + (m.hint ? "\n" + m.hint : "") };
    }))),
    remove: () => view.destroy(),
  };
};
