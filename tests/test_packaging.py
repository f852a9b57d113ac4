"""What a stranger gets: the wheel, installed bare, without a network."""

import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.no_cover, pytest.mark.slow]

PROJECT = Path(__file__).parent.parent
NO_NETWORK = """\
import socket

def refuse(*_arguments, **_keywords):
    raise OSError("the network is off in this test")

socket.socket.connect = socket.socket.connect_ex = socket.create_connection = socket.getaddrinfo = refuse
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, PROJECT], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory) -> Path:
    """The folder of executables of an environment that holds the wheel and what it needs, nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)  # whose own pip would have to be unpacked
    command = [*pip(folder / "bin"), "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*command, "-c", PROJECT / "constraints.txt", wheel], check=True)
    return folder / "bin"


def pip(executables):
    return [sys.executable, "-m", "pip", "--python", executables / "python"]


@pytest.fixture
def offline(tmp_path) -> dict[str, str]:
    """An environment in which nothing can reach a network."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(NO_NETWORK)
    return {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "COLUMNS": "100"}


def test_a_bare_install_is_small_shows_its_help_and_has_every_public_name(bare, offline, tmp_path):
    listed = subprocess.run([*pip(bare), "list", "--format=freeze"], capture_output=True, text=True, check=True)
    packages = [line.partition("==")[0] for line in listed.stdout.split()]
    assert len(packages) <= 25, packages
    names = "import rag_evaluation_framework as rag; print(len([getattr(rag, name) for name in rag.__all__]))"
    found = [
        subprocess.run(command, env=offline, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for command in ([bare / "rag-eval", "--help"], [bare / "python", "-c", names])
    ]
    assert int(found[1]) > 50


def test_the_wheel_alone_runs_the_demo_in_an_empty_folder_without_a_network(bare, offline, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    shown = subprocess.run(
        [bare / "rag-eval", "demo"], env=offline, cwd=folder, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "BM25" in shown.stdout
    assert "pip install 'rag-evaluation-framework[local]'" in shown.stdout
    assert len(list((folder / ".rag-eval/runs").iterdir())) == 3


@pytest.mark.parametrize(("embedder", "extra"), [("lsa", "local"), ("openai", "openai"), ("cohere", "cohere")])
def test_a_component_that_lacks_its_package_names_the_extra_in_a_line(bare, offline, tmp_path, embedder, extra):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("Some words.\n")
    (tmp_path / "q.csv").write_text("question,quote\nWhat?,Some words.\n")
    command = [bare / "rag-eval", "run", "--corpus", "docs", "--dataset", "q.csv", "--embedder", embedder]
    shown = subprocess.run(command, env=offline, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (shown.returncode, shown.stdout) == (2, "")
    assert len(shown.stderr.splitlines()) == 1
    assert f"rag-evaluation-framework[{extra}]" in shown.stderr


def test_the_servers_of_tests_are_not_in_the_wheel_and_say_how_they_are_installed(bare, offline, tmp_path):
    code = "from rag_evaluation_framework.testing import LoopbackProviders"
    shown = subprocess.run(
        [bare / "python", "-c", code], env=offline, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 1
    last = shown.stderr.splitlines()[-1]
    assert last.startswith("rag_evaluation_framework.errors.MissingDependency: LoopbackProviders needs the package")
    assert last.endswith("pip install ./loopback")


def test_all_is_the_union_of_the_other_extras():
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (union,) = extras.pop("all")
    assert union == f"rag-evaluation-framework[{','.join(sorted(extras))}]"


def test_no_committed_file_names_a_package_registry():
    tracked = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    hosts = ("pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "files." + "pythonhosted")
    for name in filter(None, tracked):
        file = PROJECT / name
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="ignore")
            assert not any(host in text for host in hosts), name
