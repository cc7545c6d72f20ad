"""PostgreSQL with pgvector and AGE from Debian packages, unpacked into a folder.

The machine's own apt names the mirror; a private apt state reads another suite's package list
and downloads the packages. None is installed. The suite's own C library is unpacked beside
them and runs the programs, so that an old Debian can run a newer suite's server.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from ragpg.errors import LocalDatabaseError
from ragpg.localdb.account import make_folder
from ragpg.localdb.programs import Programs, alone

log = logging.getLogger("ragpg.localdb")

REQUIRED = ("", "-pgvector", "-age")
OPTIONAL = ("-pg-textsearch", "-plpgsql-check")
# Dependencies that a server in a folder does not use: cluster management, certificates,
# locales (the built-in C.UTF-8 is used), the JIT compiler. apt is told that they are there,
# which more than halves the download.
NOT_NEEDED = re.compile(
    r"postgresql-(client-)?common|ssl-cert|locales|tzdata|debconf|libllvm[\d.]+"
)
# llvmjit.so without its libLLVM would make the first costly query fail.
NOT_UNPACKED = (
    "./usr/share/doc",
    "./usr/share/man",
    "./usr/share/locale",
    "./usr/share/lintian",
    "./usr/lib/postgresql/*/lib/bitcode",
    "./usr/lib/postgresql/*/lib/llvmjit*",
)
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# The host's hooks are cleared: they would refresh and clean the host's own state.
APT_CONF = """#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Install-Pkgs;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
Dir::Etc {{ sourcelist "{work}/sources.list"; sourceparts "/dev/null";
            preferences "/dev/null"; preferencesparts "/dev/null"; }};
Dir::State "{work}";
Dir::State::status "{work}/status";
Dir::Cache "{work}";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::GzipIndexes "false";
Acquire::Retries "3";
"""
STATUS = """Package: {name}
Status: install ok installed
Version: 9999:0
Architecture: all
Multi-Arch: foreign
Maintainer: ragpg
Description: declared installed because it is not needed here

"""
# Debian builds PostgreSQL to find its share and lib folders relative to the program, so that
# with its own loader nothing has to be patched and the folder can be moved.
WRAPPER = """#!/bin/sh
# Runs the program of this name under the C library unpacked in this folder.
p=$0; [ -L "$p" ] && p=$(readlink -f "$p")
b=$(cd "${p%/*}" && pwd -P) || exit
for l in "${b%/lib/postgresql/*}"/lib/*-linux-gnu*; do
    exec "$l"/ld-linux*.so.* --library-path "$l" --argv0 "$b/${p##*/}" "$b.real/${p##*/}" "$@"
done
"""


def available() -> bool:
    """Whether this is a Debian machine that can fetch and unpack packages."""
    return _release().get("ID") == "debian" and all(
        map(shutil.which, ["apt-get", "apt-cache", "dpkg-deb", "tar"])
    )


def find(root: Path) -> Programs | None:
    """The programs unpacked in a folder; None if they are not, or not wholly."""
    if not (root / "MANIFEST").exists():
        return None
    for folder in sorted(root.glob("usr/lib/postgresql/*/bin")):
        major = folder.parent.name
        extension = root / "usr/share/postgresql" / major / "extension"
        return Programs(folder, extension, major)
    return None


def install(folder: Path, suite: str) -> Programs:
    """Unpack the suite's newest PostgreSQL that has AGE into folder/suite, if it is not there."""
    if found := find(folder / suite):
        return found
    with alone(folder, f"{suite}.lock"):
        if not find(folder / suite):
            _fetch(folder, suite)
    if found := find(folder / suite):
        return found
    raise LocalDatabaseError(f"there is no PostgreSQL in {folder / suite}", hint="delete it")


def _fetch(folder: Path, suite: str) -> None:
    if not available():
        raise LocalDatabaseError(
            "this is not a Debian machine, so PostgreSQL cannot be unpacked from packages",
            hint="set RAGPG_DB_PROVIDER=embedded",
        )
    started = time.monotonic()
    # Unpacked beside and renamed at the end: a run that was cut short leaves no half of it.
    work = folder / f"{suite}.tmp"
    shutil.rmtree(work, ignore_errors=True)
    for name in ["lists/partial", "archives/partial", "root"]:
        make_folder(work / name)
    source = f"deb [signed-by={KEYRING}] {_mirror()} {suite} main\n"
    (work / "sources.list").write_text(source)
    (work / "status").touch()
    (work / "apt.conf").write_text(APT_CONF.format(work=work))
    log.info("fetching PostgreSQL from Debian %s (about 40 MB, once)", suite)
    _apt(work, "apt-get", "update")
    names = set(_apt(work, "apt-cache", "pkgnames").split())
    not_needed = sorted(filter(NOT_NEEDED.fullmatch, names))
    (work / "status").write_text("".join(STATUS.format(name=name) for name in not_needed))
    majors = [int(m[1]) for m in map(re.compile(r"postgresql-(\d+)-age$").match, names) if m]
    if not majors:
        raise LocalDatabaseError(
            f"Debian {suite} has no package of Apache AGE at present",
            hint="set RAGPG_DB_SUITE to another suite: forky, trixie",
        )
    base = f"postgresql-{max(majors)}"
    wanted = [base + s for s in REQUIRED] + [base + s for s in OPTIONAL if base + s in names]
    _apt(work, "apt-get", "-y", "--no-install-recommends", "--download-only", "install", *wanted)
    packages = sorted((work / "archives").glob("*.deb"))
    for package in packages:
        _unpack(package, work / "root")
    _wrap(work / "root/usr/lib/postgresql" / str(max(majors)) / "bin")
    (work / "root/MANIFEST").write_text("".join(f"{package.name}\n" for package in packages))
    shutil.rmtree(folder / suite, ignore_errors=True)
    (work / "root").rename(folder / suite)
    shutil.rmtree(work)
    log.info(
        "%s and %d other packages unpacked in %.1f s",
        base,
        len(packages) - 1,
        time.monotonic() - started,
    )


def _release() -> dict[str, str]:
    try:
        text = Path("/etc/os-release").read_text()
    except OSError:
        return {}
    return dict(re.findall(r'^(\w+)="?(.*?)"?$', text, re.MULTILINE))


def _mirror() -> str:
    """The Debian archive that this machine's own apt uses, best that of the running release."""
    pattern = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    options = ["--no-release-info", "--format", pattern, "Created-By: Packages"]
    lines = _run(["apt-get", "indextargets", *options]).splitlines()
    rows = [line.split() for line in lines if line.endswith(" main") and "security" not in line]
    rows.sort(key=lambda row: row[1] != _release().get("VERSION_CODENAME"))
    if not rows:
        raise LocalDatabaseError("apt names no Debian archive on this machine")
    return rows[0][0]


def _apt(work: Path, program: str, *words: str) -> str:
    return _run([program, "-c", str(work / "apt.conf"), "-qq", *words])


def _unpack(package: Path, folder: Path) -> None:
    excluded = [f"--exclude={pattern}" for pattern in NOT_UNPACKED]
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE
    ) as archive:
        subprocess.run(
            ["tar", "-x", "-C", str(folder), "--no-same-owner", *excluded],
            stdin=archive.stdout,
            check=True,
            umask=0o022,
        )
    if archive.returncode:
        raise LocalDatabaseError(f"cannot unpack {package}")


def _wrap(programs: Path) -> None:
    real = programs.rename(programs.with_name("bin.real"))
    make_folder(programs)
    for program in real.iterdir():
        wrapper = programs / program.name
        wrapper.write_text(WRAPPER)
        wrapper.chmod(0o755)


def _run(command: list[str]) -> str:
    return subprocess.run(
        command,
        check=True,
        text=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, "LC_ALL": "C"},
        umask=0o022,
    ).stdout
