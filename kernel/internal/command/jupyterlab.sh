#!/bin/sh
# Writes jupyterlab.txt: JupyterLab and its widgets in the versions that python.go names and all that they need on any system and any Python from 3.10 on, each with the
# hashes of its files, so that lab installs what was looked at here and nothing else; and kernel/deploy/requirements.txt of the requirements.in beside it. Versions that the files have already stay; -U takes the newest.
#
#   sh kernel/internal/command/jupyterlab.sh [-U]
set -eu
cd "$(dirname "$0")"
version=$(sed -n 's/^const jupyterlabVersion = "\(.*\)"$/\1/p' python.go)
widgets=$(sed -n 's/^const widgetsVersion = "\(.*\)"$/\1/p' python.go)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet uv==0.13.8
export UV_CUSTOM_COMPILE_COMMAND="sh kernel/internal/command/jupyterlab.sh"
set -- pip compile - --quiet --universal --python-version 3.10 --only-binary :all: --generate-hashes --no-annotate "$@"
printf '%s\n' "jupyterlab==$version" "jupyterlab-widgets==$widgets" | "$scratch/venv/bin/uv" "$@" --output-file jupyterlab.txt
"$scratch/venv/bin/uv" "$@" --output-file ../../deploy/requirements.txt <../../deploy/requirements.in
