// A JupyterLite extension with one kernel: cells run in the browser, as on live pages. It is written as the browser
// loads it, and needs host.js before it. What is called here is in JupyterLite's packages services and application.
"use strict";

const lecternLite = (about) => {
  const here = document.currentScript.src;
  const folder = new URL("../../../../live/", here).href; // of the parts
  const loaded = new Map(); // which all kernels share
  let shared; // what JupyterLite shares with extensions
  const load = async (name) => (await Object.values(shared[name])[0].get())();

  const info = {
    status: "ok", protocol_version: "5.3", implementation: "lectern", implementation_version: about.version, banner: "Lectern: Go in a notebook",
    language_info: { name: "go", version: about.go, mimetype: "text/x-go", file_extension: ".go", pygments_lexer: "go", codemirror_mode: "go", nbconvert_exporter: "" },
    help_links: [{ text: "Go", url: "https://go.dev/doc/" }, { text: "Go packages", url: "https://pkg.go.dev/std" }],
  };

  const widgetTarget = "jupyter.widget";
  const kernelClass = ({ KernelMessage }, { Signal }, { Notification }) => {
    // A cell is what a request to run one is for the host.
    class Cell {
      constructor(kernel, request) {
        Object.assign(this, { kernel, request, fails: request.content.stop_on_error === false, error: null });
      }
      begins() {
        const { kernel, request } = this, id = request.metadata.cellId;
        this.number = ++kernel.count;
        this.last = kernel.ran.get(id) ?? 0;
        if (id) kernel.ran.set(id, this.number);
        kernel.forget(this.last, request);
        kernel.publish(request, "status", { execution_state: "busy" });
        kernel.publish(request, "execute_input", { code: request.content.code, execution_count: this.number });
      }
      posts(engine, id) {
        const { port1, port2 } = new MessageChannel();
        engine.postMessage({ do: "cell", id, number: this.number, code: this.request.content.code, steps: false, last: this.last, port: port2 }, [port2]);
        return port1;
      }
      draw({ messages = [], prompt, ...widgets }) {
        const { kernel, request } = this;
        kernel.know(request, this.number, widgets);
        for (const m of messages) {
          if (m.type === "error") this.error = m.content;
          kernel.publish(request, m.type, m.content);
        }
        if (prompt === undefined) return;
        if (request.content.allow_stdin) kernel.send(request, "stdin", "input_request", { prompt, password: false });
        else kernel.host.type(null);
      }
      trouble(text) {
        this.error = { ename: "page", evalue: text, traceback: ["\x1b[31m" + text + "\x1b[0m"] };
        this.kernel.publish(this.request, "error", this.error);
      }
      ends(verdict) {
        if (verdict.failed && !this.error) this.trouble("the cell was interrupted before it ran");
        this.replies(this.error ? { status: "error", ...this.error } : { status: "ok", user_expressions: {}, payload: [] });
      }
      replies(content) {
        const { kernel, request } = this;
        // The client would drop the cells that wait without a word. The host tells them itself.
        const metadata = content.status === "error" ? { cause: "interrupt" } : {};
        kernel.send(request, "shell", "execute_reply", { execution_count: this.number ?? kernel.count, ...content }, metadata);
        kernel.publish(request, "status", { execution_state: "idle" });
      }
      waits(yes) {
        if (yes) return;
        this.kernel.publish(this.request, "status", { execution_state: "busy" });
        this.replies({ status: "aborted" });
      }
      stopping() {}
    }

    // A question about a place in a cell is for the host as a cell is, since packages may have to be loaded for the
    // answer.
    class Question {
      constructor(kernel, request, what) {
        Object.assign(this, { kernel, request, what, fails: true });
      }
      begins() { this.kernel.publish(this.request, "status", { execution_state: "busy" }); }
      posts(engine, id) {
        const { code, cursor_pos: at } = this.request.content;
        engine.postMessage({ do: "question", id, what: this.what, code, at });
        return null;
      }
      ends(answer) {
        const { kernel, request } = this, { cursor_pos: here } = request.content;
        const { matches = [], start = here, end = here, text } = answer;
        const kinds = matches.map((m) => ({ text: m.text, type: m.kind, signature: m.detail, start, end }));
        kernel.send(request, "shell", request.header.msg_type.replace("request", "reply"), { status: "ok", metadata: { _jupyter_types_experimental: kinds }, ...(this.what === "help"
          ? { found: Boolean(text), data: text ? { "text/markdown": text, "text/plain": text.replaceAll(/^```.*\n?/gm, "") } : {}, metadata: {} }
          : { matches: matches.map((m) => m.text), cursor_start: start, cursor_end: end }) });
        kernel.publish(request, "status", { execution_state: "idle" });
      }
      waits(yes) { if (!yes) this.ends({}); }
      trouble(text) { Notification.error(text); }
      draw() {}
      stopping() {}
    }

    // A reaction is to somebody's change of a widget. Values that are overtaken by later ones are left out, clicks are
    // not.
    class Reaction {
      constructor(kernel, id) {
        Object.assign(this, { kernel, id, fails: true, waiting: [], now: null });
      }
      happens(request, value) {
        if (value !== undefined || this.waiting.length === 100) this.drop();
        this.waiting.push({ request, value });
        this.kernel.host.ask([this]);
      }
      posts(engine, id) {
        const { port1, port2 } = new MessageChannel(), { value } = this.now;
        engine.postMessage({ do: "event", id, widget: this.id, input: value === undefined ? this.id : this.id + "\0" + value, port: port2 }, [port2]);
        return port1;
      }
      begins() { this.now = this.waiting.shift(); }
      draw(widgets) { this.kernel.know(this.now.request, 0, widgets); }
      ends() {
        this.kernel.publish(this.now.request, "status", { execution_state: "idle" });
        if (this.waiting.length) setTimeout(() => this.kernel.host.ask([this]));
      }
      drop() {
        for (const { request } of this.waiting.splice(0)) this.kernel.publish(request, "status", { execution_state: "idle" });
      }
      waits(yes) { if (!yes) this.drop(); }
      stopping() { this.drop(); }
      trouble(text) { Notification.error(text); }
    }

    return class Kernel {
      constructor({ id, name, location, sendMessage }) {
        Object.assign(this, { id, name, location, sendMessage, isDisposed: false, ready: Promise.resolve(), count: 0 });
        this.disposed = new Signal(this);
        this.ran = new Map(); // the last execution of each cell of the notebook
        this.models = new Map(); // of widgets: { cell, state, reaction }
        this.controls = new Set(); // the comms by which notebooks ask for all models
        this.notice = null;
        this.host = lecternHost({ ...about, folder, loaded, jupyter: true }, (text, share) => this.tells(text, share), () => {});
      }
      dispose() {
        if (this.isDisposed) return;
        this.host.restart(); // ends the workers
        this.tells("");
        this.isDisposed = true;
        this.disposed.emit();
        Signal.clearData(this);
      }
      // tells says how loading goes on; to run cells takes less time, and the notebook shows it.
      tells(message, progress) {
        if (progress === undefined && !/^(Load|Start)ing/.test(message)) {
          if (this.notice) Notification.dismiss(this.notice);
          this.notice = null;
        } else if (this.notice) Notification.update({ id: this.notice, message, progress });
        else this.notice = Notification.emit(message, "in-progress", { autoClose: false, progress });
      }
      send(request, channel, msgType, content, metadata = {}) {
        if (this.isDisposed) return;
        this.sendMessage(KernelMessage.createMessage({ channel, msgType, session: request.header.session, parentHeader: request.header, content, metadata }));
      }
      publish(request, msgType, content, metadata) { this.send(request, "iopub", msgType, content, metadata); }

      // handleMessage obeys a front end. Cells wait in the host, so that whoever sends the next message need not.
      async handleMessage(request) {
        const type = request.header.msg_type;
        if (type === "execute_request") return this.host.ask([new Cell(this, request)]);
        if (type === "complete_request" || type === "inspect_request") return this.host.ask([new Question(this, request, type === "complete_request" ? "complete" : "help")]);
        if (type === "input_reply") return this.host.type(request.content.status === "error" ? null : request.content.value + "\n");
        this.publish(request, "status", { execution_state: "busy" });
        if (type.startsWith("comm_") && type !== "comm_info_request" && this.hears(request)) return;
        const content = this.answers(type, request.content);
        if (content) this.send(request, "shell", type.replace("request", "reply"), { status: "ok", ...content });
        this.publish(request, "status", { execution_state: "idle" });
      }
      answers(type, content) {
        switch (type) {
          case "kernel_info_request": return info;
          case "is_complete_request": return { status: "unknown" };
          case "history_request": return { history: [] };
          case "comm_info_request": return { comms: Object.fromEntries(content.target_name === undefined || content.target_name === widgetTarget ? [...this.models.keys()].map((id) => [id, { target_name: widgetTarget }]) : []) };
        }
        return null;
      }

      // Widgets, in the protocol of ipywidgets.
      // know takes what is new of them: models, and what stands below.
      know(request, cell, { models = [], below = [] }) {
        for (const { id, state } of models) {
          const old = this.models.get(id);
          if (!old) {
            this.models.set(id, { cell, state, reaction: new Reaction(this, id) });
            this.publish(request, "comm_open", { comm_id: id, target_name: widgetTarget, data: { state, buffer_paths: [] } }, { version: "2.1.0" });
            continue;
          }
          const changed = Object.entries(state).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(old.told[key]));
          this.update(request, "update", id, Object.fromEntries(changed));
        }
        for (const { id, state } of models) this.models.get(id).told = state;
        for (const { id, outputs } of below) if (outputs && this.models.has(id)) this.update(request, "update", id, { outputs });
      }
      update(request, method, id, state) {
        const model = this.models.get(id);
        model.state = { ...model.state, ...state };
        this.publish(request, "comm_msg", { comm_id: id, data: { method, state, buffer_paths: [] } });
      }
      // forget closes the widgets of a cell's last execution.
      forget(cell, request) {
        for (const [id, model] of this.models) {
          if (model.cell !== cell) continue;
          this.models.delete(id);
          this.publish(request, "comm_close", { comm_id: id, data: {} });
        }
      }
      // hears obeys what a front end says of widgets, and reports whether that goes on.
      hears(request) {
        const { comm_id: id, target_name: target, data = {} } = request.content, model = this.models.get(id);
        switch (request.header.msg_type + (this.controls.has(id) ? " to all" : "")) {
          case "comm_open":
            if (target === widgetTarget + ".control") this.controls.add(id);
            else this.publish(request, "comm_close", { comm_id: id, data: {} }); // nobody is there: so the protocol says it
            return false;
          case "comm_close": case "comm_close to all":
            this.controls.delete(id);
            this.models.delete(id);
            return false;
          case "comm_msg to all": {
            const states = {};
            for (const [key, { state }] of this.models) {
              states[key] = { model_name: state._model_name, model_module: state._model_module, model_module_version: state._model_module_version, state };
            }
            if (data.method === "request_states") this.publish(request, "comm_msg", { comm_id: id, data: { method: "update_states", states, buffer_paths: [] } });
            return false;
          }
          case "comm_msg":
            if (!model) return false;
            if (data.method === "request_state") this.update(request, "update", id, model.state);
            if (data.method === "custom" && data.content?.event === "click") {
              model.reaction.happens(request);
              return true;
            }
            if (data.method !== "update") return false;
            for (const key of ["value", "index"]) {
              const value = data.state?.[key];
              if (value === undefined || typeof value !== typeof model.state[key]) continue;
              this.update(request, "echo_update", id, { [key]: value }); // to all notebooks that show it
              model.reaction.happens(request, String(value));
              return true;
            }
        }
        return false;
      }
    };
  };

  const plugins = async () => {
    const [services, signaling, apputils, { IKernelClient, IKernelSpecs }] = await Promise.all(["@jupyterlab/services", "@lumino/signaling", "@jupyterlab/apputils", "@jupyterlite/services"].map(load));
    const Kernel = kernelClass(services, signaling, apputils);
    const kernels = new Map(); // by id
    return [{
      id: "lectern-live:kernel",
      description: "Runs cells of Go in the browser.",
      autoStart: true,
      requires: [IKernelSpecs, IKernelClient],
      activate(app, specs, client) {
        // The client interrupts what waits. What runs is ours to stop.
        const interrupt = client.interrupt.bind(client);
        client.interrupt = (id) => {
          kernels.get(id)?.host.stop("stopped");
          return interrupt(id);
        };
        const logo = new URL("logo.svg", here).href;
        specs.register({
          spec: { ...about.kernel, argv: [], env: {}, interrupt_mode: "message", metadata: {}, resources: { "logo-svg": logo, "logo-64x64": logo } },
          async create(options) {
            const kernel = new Kernel(options);
            kernels.set(kernel.id, kernel);
            kernel.disposed.connect(() => { if (kernels.get(kernel.id) === kernel) kernels.delete(kernel.id); });
            return kernel;
          },
        });
      },
    }];
  };

  globalThis._JUPYTERLAB ??= {};
  globalThis._JUPYTERLAB["lectern-live"] = {
    init(scope) { shared = scope; },
    async get() {
      const made = await plugins();
      return () => made;
    },
  };
};
