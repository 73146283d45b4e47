// A JupyterLab extension, written as the browser loads it: there is nothing to build. It marks
// the lines of a cell for the stepper in its output, which a key opens, too. And it asks the questions of lessons; what it asks them
// with, lecternAsk, is put before it.
(() => {
  const say = lecternSay;
  let shared; // what JupyterLab shares with extensions

  async function load(name) {
    const version = Object.values(shared[name])[0];
    return (await version.get())();
  }

  // around finds the notebook and the cell that an element stands in.
  function around(app, tracker, element) {
    for (const panel of app.shell.widgets("main")) {
      const cell = tracker.has(panel) && panel.content.widgets.find(c => c.node.contains(element));
      if (cell) return [panel, cell];
    }
    return [];
  }

  // Each time it moves, a stepper asks with an event whether somebody marks the lines of its cell: see steps.js.
  function steppedCells({ INotebookTracker, NotebookActions }, { StateEffect, StateField }, { Decoration, EditorView }) {
    const set = StateEffect.define();
    const steppers = new WeakMap(); // by editor: the detail of the last event
    const lines = StateField.define({
      create: () => Decoration.none,
      update(old, change) {
        for (const effect of change.effects) if (effect.is(set)) return effect.value;
        return change.docChanged ? Decoration.none : old; // it is another text than the one that ran
      },
      provide: field => EditorView.decorations.from(field),
    });
    const extension = [
      lines,
      EditorView.editorAttributes.compute([lines], state => (state.field(lines).size ? { class: "lectern-stepped" } : null)),
      EditorView.updateListener.of(({ docChanged, view }) => {
        const stepper = docChanged && steppers.get(view);
        if (!stepper) return;
        steppers.delete(view);
        stepper.lost(); // and shows the code itself
      }),
      EditorView.domEventHandlers({
        click(event, view) {
          const stepper = steppers.get(view), at = view.posAtCoords(event, false);
          if (!stepper || !view.state.selection.main.empty) return; // text has been marked
          const line = view.state.doc.lineAt(at).number;
          if (stepper.marks.some(m => m.line === line)) stepper.go(line);
        },
      }),
    ];

    function show(view, { marks }) {
      const doc = view.state.doc, list = [];
      let now = null;
      for (const m of [...marks].sort((a, b) => a.line - b.line)) {
        const line = doc.line(m.line), attributes = { class: "lectern-line" };
        if (m.cost) attributes["data-cost"] = m.cost;
        if (m.now) {
          attributes.class += " lectern-now";
          attributes["aria-current"] = "step";
          now = line;
        }
        list.push(Decoration.line({ attributes }).range(line.from));
      }
      view.dispatch({ effects: set.of(Decoration.set(list)) });
      if (!now) return;
      const box = view.scrollDOM, { top, bottom } = view.lineBlockAt(now.from); // a long cell scrolls, and a part of it may be out of sight
      const frame = box.getBoundingClientRect(), seen = (box.closest(".jp-WindowedPanel-outer") ?? document.body).getBoundingClientRect();
      const above = box.scrollTop + Math.max(0, seen.top - frame.top), below = box.scrollTop + box.clientHeight - Math.max(0, frame.bottom - seen.bottom);
      if (top < above || bottom > below) box.scrollTop = top - (below - above) / 2 - (above - box.scrollTop);
    }

    function watch(cell, view) {
      cell.editor.injectExtension(extension);
      cell.model.outputs.changed.connect(() => {
        const stepper = steppers.get(view);
        if (!stepper || cell.node.contains(stepper.panel)) return;
        steppers.delete(view); // it is gone: the cell runs again, or its output is cleared
        view.dispatch({ effects: set.of(Decoration.none) });
      });
    }

    return {
      id: "lectern-cells:steps",
      description: "Marks the lines of a cell that one steps through.",
      autoStart: true,
      requires: [INotebookTracker],
      activate(app, tracker) {
        const style = document.createElement("style");
        style.textContent = `
          .lectern-stepped { max-height: max(12rem, min(26rem, 50vh)); }
          .lectern-stepped .cm-scroller { overflow: auto; }
          .lectern-line { cursor: pointer; }
          .lectern-line[data-cost]::after { content: attr(data-cost); padding-left: 2.5em; font-size: 0.875em; color: var(--jp-ui-font-color2); white-space: nowrap; }
          .lectern-now { background: color-mix(in srgb, var(--jp-brand-color1) 20%, transparent); box-shadow: inset 3px 0 var(--jp-brand-color1); }`;
        document.head.append(style);
        const command = "lectern:step";
        let opening; // the cell whose stepper should have the keyboard
        app.commands.addCommand(command, {
          label: say("Run the Cell and Step Through It"),
          isEnabled: () => tracker.activeCell?.model.type === "code",
          execute: () => {
            const { content, sessionContext } = tracker.currentWidget, cell = tracker.activeCell;
            if (!/^\s*\/\/step/.test(cell.model.sharedModel.getSource())) cell.model.sharedModel.updateSource(0, 0, "//step\n");
            opening = cell;
            const forget = () => opening === cell && (opening = null); // if there is nothing to step through
            return NotebookActions.runCells(content, [cell], sessionContext).finally(() => setTimeout(forget, 2000));
          },
        });
        app.commands.addKeyBinding({ command, keys: ["Alt Shift Enter"], selector: ".jp-Notebook" });
        document.addEventListener("keydown", event => {
          if (event.key === "Escape") event.target.closest?.(".lectern-steps")?.closest(".jp-Cell")?.focus();
        });
        const watched = new WeakSet();
        document.addEventListener("lectern-lines", event => {
          const [, cell] = around(app, tracker, event.target), view = cell?.editor?.editor;
          if (cell && cell === opening) {
            opening = null;
            requestAnimationFrame(() => {
              const { panel } = event.detail;
              panel.focus({ preventScroll: true });
              if (view && panel.getBoundingClientRect().bottom > innerHeight) view.dom.scrollIntoView();
            });
          }
          if (!view || view.state.doc.toString().trimEnd() !== event.detail.text.trimEnd()) return;
          if (!watched.has(view)) {
            watched.add(view);
            watch(cell, view);
          }
          steppers.set(view, event.detail);
          show(view, event.detail);
          event.preventDefault();
        });
      },
    };
  }

  // A lesson's questions are forms, as they are on pages. A guess goes into the cell, in place of nil, and the cell
  // runs: so the guess is kept with the notebook, and the verdict and the outputs appear below.
  function askedCells({ INotebookTracker, NotebookActions }, { IRenderMimeRegistry }, { Widget }) {
    const mime = "application/vnd.lectern.guess+json";

    // goOf writes a guess as Go.
    function goOf(q, guess) {
      if (q.kind === "shape" || q.kind === "numbers") return `[]${q.kind === "shape" ? "int" : "float64"}{${guess.join(", ")}}`;
      return q.kind === "number" || q.choices?.join() === "true,false" ? String(guess) : JSON.stringify(guess);
    }

    // place finds where a guess goes in a cell's text: the nil of its question.
    function place(source, q) {
      const literal = JSON.stringify(q.key ?? q.question).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const found = new RegExp(`\\bGuess\\(\\s*${literal},\\s*(nil)\\s*,`, "d").exec(source);
      return found?.indices[1];
    }

    return {
      id: "lectern-cells:guesses",
      description: "Asks the questions of lessons.",
      autoStart: true,
      requires: [INotebookTracker, IRenderMimeRegistry],
      activate(app, tracker, registry) {
        const style = document.createElement("style");
        style.textContent = `
          .lectern-guess { padding: 0.6rem 0.9rem; border-left: 3px solid var(--jp-brand-color1); font-family: var(--jp-ui-font-family); font-size: var(--jp-ui-font-size1); color: var(--jp-ui-font-color1); }
          .lectern-guess p { margin: 0 0 0.35rem; } .lectern-guess .verdict { font-weight: 600; margin: 0.35rem 0 0; }
          .lectern-guess .ask { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }
          .lectern-guess input { width: 9rem; margin: 0 0.3rem; padding: 0.2rem 0.4rem; font: inherit; color: inherit; background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); border-radius: 3px; }
          .lectern-guess button { padding: 0.2rem 0.6rem; font: inherit; color: inherit; background: var(--jp-layout-color2); border: 1px solid var(--jp-border-color1); border-radius: 3px; cursor: pointer; }
          .lectern-guess button:hover { background: var(--jp-layout-color3); } .lectern-guess .bad { color: var(--jp-error-color1); }`;
        document.head.append(style);
        function ask(box, q) {
          const { make, verdict, form } = lecternAsk;
          const said = make("p", "", { className: "verdict", hidden: true });
          said.setAttribute("role", "status");
          const tell = text => { said.textContent = text; said.hidden = false; };
          let last; // guess
          // The guess goes into the cell; where it can't, what is hidden is shown as it is.
          const reveal = guess => {
            const [panel, cell] = around(app, tracker, box);
            const at = guess !== undefined && cell && place(cell.model.sharedModel.getSource(), q);
            if (at) {
              cell.model.sharedModel.updateSource(at[0], at[1], goOf(q, guess));
              NotebookActions.runCells(panel.content, [cell], panel.sessionContext);
              return;
            }
            f.remove();
            tell(`${said.hidden ? "" : said.textContent + " "}${say("It is {answer}.", { answer: q.shown })} ${q.why ?? ""}`.trim());
            for (const fold of cell?.node.querySelectorAll(".jp-OutputArea details") ?? []) fold.open = true;
          };
          const f = form(q, "lectern-button", guess => {
            const { again, text } = verdict(q, guess);
            last = guess;
            tell(text);
            if (!again) reveal(guess);
          }, () => reveal(last));
          // Keys are for the form, not for the notebook.
          for (const event of ["keydown", "keypress", "keyup"]) f.addEventListener(event, e => e.key !== "Escape" && e.stopPropagation());
          box.append(make("p", q.question), f, said);
        }

        registry.addFactory({
          safe: true,
          mimeTypes: [mime],
          defaultRank: 10,
          createRenderer: options => {
            const plain = registry.createRenderer("text/plain", options), widget = new Widget();
            widget.renderModel = async model => {
              const text = String(model.data["text/plain"] ?? "");
              widget.node.replaceChildren();
              widget.node.className = "lm-Widget";
              if (!text.startsWith("?") || !model.trusted) { // it is answered, or comes from a stranger: then the form would run what the cell says
                await plain.renderModel({ ...model, data: { "text/plain": text }, metadata: {}, trusted: false, setData() {} });
                widget.node.append(plain.node);
                return;
              }
              widget.addClass("lectern-guess");
              ask(widget.node, model.data[mime]);
            };
            return widget;
          },
        });
      },
    };
  }

  // Explorers appear below the text that names them, as on pages. Their program is built after cells can run: a text
  // that is drawn before that has none.
  const beside = new URL("explore/", document.currentScript.src).href;
  function exploringCells({ IRenderMimeRegistry }) {
    const mark = /^\s*<!--\s*explore:\s*([a-z]*)\s*-->\s*$/m;
    let ready; // the promise of what puts an explorer where an element names it
    const load = () => ready ??= new Promise((done, failed) => {
      document.head.append(Object.assign(document.createElement("script"), { src: beside + "explore.js", onload: done, onerror: failed }));
    }).then(() => {
      const style = document.createElement("style");
      const tint = color => `color-mix(in srgb, ${color} 30%, var(--jp-layout-color1))`;
      style.textContent = lecternExplore.style + `
        .explore { --text: var(--jp-content-font-color1); --muted: var(--jp-content-font-color2); --line: var(--jp-border-color2); --edge: var(--jp-border-color1); --surface: var(--jp-layout-color1); --raised: var(--jp-layout-color1);
          --accent: var(--jp-brand-color1); --mark: ${tint("var(--jp-brand-color1)")}; --bad-bg: ${tint("var(--jp-error-color1)")}; --bad-edge: var(--jp-error-color1); --turn-edge: var(--jp-warn-color1);
          --a1: var(--jp-error-color1); --a2: var(--jp-success-color1); --a3: var(--jp-warn-color1); --a5: var(--jp-accent-color1); --g1: ${tint("#c9453e")}; --g2: ${tint("#2c8a35")}; --g3: ${tint("#d09a35")}; --g4: ${tint("#4a7ae0")}; }
        .explore .tool { padding: 0.15rem 0.6rem; font: inherit; color: inherit; background: var(--jp-layout-color2); border: 1px solid var(--edge); border-radius: 0.4rem; cursor: pointer; } .explore .scroll { overflow-x: auto; }`;
      document.head.append(style);
      return lecternExplorers({ ...lecternExplore, folder: beside, words: lecternExplorerWords });
    }).catch(() => { ready = undefined; }); // it is tried again with the next text

    return {
      id: "lectern-cells:explorers",
      description: "Shows what readers of lessons play with.",
      autoStart: true,
      requires: [IRenderMimeRegistry],
      activate(app, registry) {
        const plain = registry.getFactory("text/markdown");
        registry.addFactory({
          ...plain,
          mimeTypes: ["text/markdown"],
          createRenderer: options => {
            const widget = plain.createRenderer(options), render = widget.renderModel.bind(widget);
            widget.renderModel = async model => {
              await render(model);
              const named = mark.exec(String(model.data["text/markdown"] ?? "")), put = named && await load();
              if (!put) return;
              const place = Object.assign(document.createElement("div"), { className: "explore", hidden: true });
              place.dataset.explore = named[1];
              put(place);
              // Keys and double clicks are for the explorer, not for the notebook.
              for (const event of ["keydown", "keypress", "keyup", "dblclick"]) place.addEventListener(event, e => e.key !== "Escape" && e.stopPropagation());
              widget.node.querySelector(".explore")?.remove();
              widget.node.append(place);
            };
            return widget;
          },
        });
      },
    };
  }

  globalThis._JUPYTERLAB ??= {};
  globalThis._JUPYTERLAB["lectern-cells"] = {
    init(scope) { shared = scope; },
    async get() {
      const [notebook, state, view, rendermime, widgets] = await Promise.all(
        ["@jupyterlab/notebook", "@codemirror/state", "@codemirror/view", "@jupyterlab/rendermime", "@lumino/widgets"].map(load));
      const made = [steppedCells(notebook, state, view), askedCells(notebook, rendermime, widgets), exploringCells(rendermime)];
      return () => made;
    },
  };
})();
