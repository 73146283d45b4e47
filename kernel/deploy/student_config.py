# Each student's Jupyter server, as jupyterhub_config.py starts it.
c = get_config()  # noqa: F821, Jupyter defines it

# A kernel's sockets are files in a folder that start-student closes to others. By ports, every user of the machine could
# read what cells print.
c.KernelManager.transport = "ipc"

# A kernel that has run nothing for an hour ends, also if its page is still open somewhere.
c.MappingKernelManager.cull_idle_timeout = 3600
c.MappingKernelManager.cull_interval = 300
c.MappingKernelManager.cull_connected = True

# Nothing here needs these, and each takes memory for every student.
c.ServerApp.jpserver_extensions = {"jupyter_lsp": False, "notebook_shim": False, "jupyter_server_terminals": False}
c.ServerApp.terminals_enabled = False
c.LabApp.extension_manager = "readonly"
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.news_url = None
