# JupyterHub for a class on one machine: docs/teachers.md says how to install it.
#
# Students share one checkout, one kernel, one cache of modules and one of compiled packages, and can write to none of
# them. The environment says where these are and how large a student may get; /etc/lectern-hub.env is a good place:
#
#   LECTERN_ROOT             the checkout (default: the one that this file is in)
#   GOMODCACHE, GOCACHE      the caches that `go run ./kernel setup` has filled (default: mod and build in /srv/lectern-go)
#   LECTERN_HUB_STATE        the hub's own files (default: /var/lib/lectern-hub)
#   LECTERN_STUDENTS         how many students there may be at a time (default: 30)
#   LECTERN_STUDENT_MEMORY   what a student's server, kernels and cells may have together (default: 1G)
#   LECTERN_STUDENT_CPU      how many processors they may have (default: 2)
#   LECTERN_BIND             where the hub listens (default: http://127.0.0.1:8000)
#   LECTERN_SUBDOMAINS       the hub's address, such as https://hub.example.org: then each student's server has an origin of
#                            its own, name.hub.example.org, for which there has to be a name (*.hub.example.org) and a certificate
import os
import re
import shutil
import sys
from pathlib import Path

c = get_config()  # noqa: F821, JupyterHub defines it


def stop(problem, remedy):
    sys.exit(f"jupyterhub_config.py: {problem}. {remedy}")


def warn(problem, remedy):
    print(f"jupyterhub_config.py: {problem}. {remedy}", file=sys.stderr)


here = Path(__file__).resolve().parent
root = Path(os.environ.get("LECTERN_ROOT") or here.parents[1])
modules = os.environ.get("GOMODCACHE") or "/srv/lectern-go/mod"
builds = os.environ.get("GOCACHE") or "/srv/lectern-go/build"
state = Path(os.environ.get("LECTERN_HUB_STATE") or "/var/lib/lectern-hub")
students = int(os.environ.get("LECTERN_STUDENTS") or 30)
memory = os.environ.get("LECTERN_STUDENT_MEMORY") or "1G"
processors = float(os.environ.get("LECTERN_STUDENT_CPU") or 2)
is_root = os.geteuid() == 0

# What must be there. Each would otherwise be found by the first student who logs in.
go = shutil.which("go")
if not go:
    stop("the go command is not in the hub's PATH", "Install Go from go.dev in /usr/local/go, and put PATH=/usr/local/go/bin:/usr/bin:/bin into /etc/lectern-hub.env")
lessons = root / ".lectern/lessons"
for path in (root / ".lectern/share/jupyter/kernels/lectern/kernel.json", root / ".lectern/bin/lectern-kernel", Path(modules), Path(builds), lessons):
    if not path.exists():
        stop(f"{path} is not there", f"Run {here / 'install'}, or set LECTERN_ROOT, GOMODCACHE and GOCACHE to where it is")
proxy = shutil.which("configurable-http-proxy")
if not shutil.which("node"):
    stop("JupyterHub's proxy needs Node.js, and there is no node in PATH", "On Debian and Ubuntu: apt install nodejs npm")
if not proxy:
    stop("JupyterHub's proxy is not in PATH", f"Run {here / 'install'}, which puts it into the hub's node_modules/.bin")

with open("/proc/meminfo") as f:
    machine = int(re.search(r"MemTotal:\s+(\d+) kB", f.read())[1]) / 2**20
wanted = 0.5 + 0.18 * students
if machine < wanted:
    warn(f"{students} students take about {wanted:.1f} GB of memory, and this machine has {machine:.1f} GB",
         "Add memory or swap, or set LECTERN_STUDENTS to the number that you expect; it is also the most that can be logged in")

# Who gets in. The hub is reached from this machine alone: a proxy with TLS that you configure stands before it.
c.JupyterHub.bind_url = os.environ.get("LECTERN_BIND") or "http://127.0.0.1:8000"
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.subdomain_host = os.environ.get("LECTERN_SUBDOMAINS") or ""
c.JupyterHub.authenticator_class = "pam"  # the users of the machine
c.PAMAuthenticator.allowed_groups = {"students"}
c.PAMAuthenticator.admin_groups = {"teachers"}
c.Authenticator.allow_all = False
c.JupyterHub.active_server_limit = students
c.JupyterHub.concurrent_spawn_limit = 4  # each takes a second of a processor

# The hub's own files: its tokens and cookies are in them.
if is_root or not state.exists():
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
state.chmod(0o700)
c.JupyterHub.db_url = f"sqlite:///{state}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{state}/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = f"{state}/proxy.pid"
c.ConfigurableHTTPProxy.command = [proxy]

# What a student gets.
c.Spawner.cmd = [str(here / "start-student")]
c.Spawner.args = [f"--config={here / 'student_config.py'}"]
c.Spawner.default_url = "/lab/tree/lessons"
c.Spawner.environment = {
    "LECTERN_ROOT": str(root),
    "LECTERN_LESSONS": str(lessons),
    "JUPYTER_PATH": str(root / ".lectern/share/jupyter"),
    "GOMODCACHE": modules,
    "GOCACHE": builds,
    "LECTERN_OFFLINE": "1",  # imports fetch nothing
    "GOFLAGS": "-buildvcs=false",  # git trusts no checkout of another user
    "PATH": f"{Path(sys.executable).parent}:{Path(go).parent}:/usr/local/bin:/usr/bin:/bin",
    "MALLOC_ARENA_MAX": "1",  # of Python's servers
}
c.Spawner.mem_limit = memory
c.Spawner.cpu_limit = processors
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300

if is_root and Path("/run/systemd/system").is_dir():
    # A unit for each student, whose limits hold for everything in it, and which runs on while the hub is restarted.
    c.JupyterHub.cleanup_servers = False
    c.JupyterHub.spawner_class = "systemd"
    c.SystemdSpawner.isolate_tmp = True
    c.SystemdSpawner.disable_user_sudo = True
    c.SystemdSpawner.readonly_paths = [str(root), modules, builds]
    # If a student's memory runs out, a cell ends, and never the server: what a dying cell has is not free at once, so
    # the system may end a second process.
    c.SystemdSpawner.unit_extra_properties = {"TasksMax": "512", "OOMPolicy": "continue", "OOMScoreAdjust": "-900"}
else:
    c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
    if not os.environ.get("LECTERN_CONTAINER"):
        warn("systemd does not run here, so nothing holds a student to the limits of memory and processors",
             "Start the hub as a service of systemd (kernel/deploy/lectern-hub.service), or in a container that has limits of its own")

# Servers that nobody has used for two hours end; what is saved stays. Idle kernels end earlier, by student_config.py.
c.JupyterHub.load_roles = [
    {"name": "cull-idle", "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"], "services": ["cull-idle"]},
]
c.JupyterHub.services = [
    {"name": "cull-idle", "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=7200", "--cull-every=300"]},
]
