// A JupyterLab extension, written as the browser loads it: there is nothing to build. It marks the cells of which the kernel says
// that they have used an earlier value of something, and runs cells where they stand when %run-stale asks for that.
(() => {
  const target = "lectern.cells"; // by asking for comms of this name we tell the kernel that we are here
  let shared; // what JupyterLab shares with extensions

  async function load(name) {
    const version = Object.values(shared[name])[0];
    return (await version.get())();
  }

  function plugin({ INotebookTracker, NotebookActions }) {
    const marks = new WeakMap(); // of a notebook: why a cell is stale, by its id

    function show(panel) {
      const cells = marks.get(panel) ?? {};
      for (const cell of panel.content.widgets) {
        const why = cells[cell.model.id];
        const prompt = cell.node.querySelector(".jp-InputArea-prompt");
        cell.node.classList.toggle("lectern-stale", why !== undefined);
        if (!prompt) continue;
        if (why !== undefined) prompt.title = why;
        else if (prompt.dataset.lecternStale) prompt.removeAttribute("title");
        prompt.dataset.lecternStale = why ?? "";
      }
    }

    async function run(panel, ids) {
      for (const id of ids) {
        const cell = panel.content.widgets.find(c => c.model.id === id);
        if (!cell || !(id in (marks.get(panel) ?? {}))) continue; // it is gone, or up to date after all
        if (!(await NotebookActions.runCells(panel.content, [cell], panel.sessionContext))) return;
      }
    }

    function hear(panel, message) {
      const kernel = panel.sessionContext.session?.kernel;
      switch (message.header.msg_type) {
        case "lectern_stale":
          marks.set(panel, message.content.cells);
          show(panel);
          break;
        case "lectern_run":
          if (message.parent_header.session === kernel?.clientId) run(panel, message.content.cells);
          break;
      }
    }

    function greet(panel) {
      marks.delete(panel);
      show(panel);
      panel.sessionContext.session?.kernel?.requestCommInfo({ target_name: target }).catch(() => {});
    }

    function watch(panel) {
      const context = panel.sessionContext;
      context.iopubMessage.connect((_, message) => hear(panel, message));
      context.kernelChanged.connect(() => greet(panel));
      context.statusChanged.connect((_, status) => {
        if (status === "restarting" || status === "autorestarting") greet(panel);
      });
      context.ready.then(() => greet(panel));
      panel.content.modelContentChanged?.connect(() => show(panel));
    }

    return {
      id: "lectern-cells:marks",
      description: "Marks cells that are out of date.",
      autoStart: true,
      requires: [INotebookTracker],
      activate(app, tracker) {
        const style = document.createElement("style");
        style.textContent = `
          .jp-Cell-outputArea:not(:has(> .jp-OutputArea-child)) { display: none; } /* of a note that is over nothing stays */
          .lectern-stale > .jp-Cell-inputWrapper { box-shadow: inset 4px 0 0 0 var(--jp-warn-color1); }
          .lectern-stale .jp-InputArea-prompt::after { content: "stale"; display: block; color: var(--jp-warn-color0); font-size: 10px; line-height: 1; }`;
        document.head.append(style);
        tracker.forEach(watch);
        tracker.widgetAdded.connect((_, panel) => watch(panel));
      },
    };
  }

  globalThis._JUPYTERLAB ??= {};
  globalThis._JUPYTERLAB["lectern-cells"] = {
    init(scope) { shared = scope; },
    async get() {
      const made = plugin(await load("@jupyterlab/notebook"));
      return () => made;
    },
  };
})();
