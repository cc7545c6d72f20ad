#!/bin/sh
# Makes .venv with this checkout installed in it. Needs python3 (3.11 or newer) and nothing else:
# where Debian's python3-venv is missing, pip comes from a Debian package that is unpacked, not
# installed. Usage: tools/bootstrap.sh [EXTRAS], from any folder.
set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
extras=${1:-all,dev}

say() { echo "bootstrap: $*" >&2; }

fetch_pip() {
    # Prints the path of a pip wheel. The host's own package lists may be missing or stale and
    # belong to root, so the lists are fetched into a private state. The host's hooks are cleared.
    work=$PWD/.venv/bootstrap
    mkdir -p "$work/lists/partial" "$work/archives/partial"
    cat > "$work/apt.conf" <<CONF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::State "$work";
Dir::State::status "$work/status";
Dir::Cache "$work";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
    : > "$work/status"
    apt-get -c "$work/apt.conf" -qq update >&2
    (cd "$work" && apt-get -c apt.conf -qq download python3-pip-whl >&2)
    dpkg-deb -x "$work"/python3-pip-whl_*.deb "$work/root"
    ls "$work"/root/usr/share/python-wheels/pip-*.whl
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "$("$python" --version) is too old: set PYTHON to 3.11 or newer"
    exit 1
}

if ! .venv/bin/python -m pip --version > /dev/null 2>&1; then
    rm -rf .venv
    if "$python" -c 'import ensurepip' 2> /dev/null; then
        "$python" -m venv .venv
    elif command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null; then
        say "python3-venv is not installed: taking pip from a Debian package"
        "$python" -m venv --without-pip .venv
        wheel=$(fetch_pip)
        .venv/bin/python "$wheel/pip" install --quiet --no-index "$wheel"
        rm -rf .venv/bootstrap
    else
        say "$python has no ensurepip: install it (often a package named python3-venv)"
        exit 1
    fi
    # An old pip does for what follows, so a failure here is none.
    .venv/bin/python -m pip install --quiet --upgrade pip || say "pip stays as it is"
fi

say "installing ragpg[$extras] into .venv, which takes about a minute"
.venv/bin/python -m pip install --quiet --editable ".[$extras]"
